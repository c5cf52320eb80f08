// SPDX-License-Identifier: Apache-2.0
// What is not there to be touched: axes of joints, centres of mass.
import {
    CylinderGeometry,
    Group,
    Mesh,
    MeshBasicMaterial,
    Quaternion,
    SphereGeometry,
    Vector3,
} from "three";
import { pointOf } from "./bodies";
import { BEHIND, OVERLAY_ORDER, type Layer } from "./layer";
import type { State } from "./motion";
import type { Body, SceneData } from "./report";
import { massMark } from "./shapes";

const Y = new Vector3(0, 1, 0);
const AXIS_COLOUR = "#c026d3";

// An axis stands at a point of the body, in the body's axes: the joint leaves both alone.
export class JointAxes implements Layer {
    readonly root = new Group();
    private readonly bodies: Body[];
    private readonly marks: (Group | null)[];

    constructor(scene: SceneData) {
        this.bodies = scene.bodies;
        this.marks = scene.bodies.map((body) => jointMark(body, scene.length));
        for (const mark of this.marks) if (mark) this.root.add(mark);
    }

    get exist(): boolean {
        return this.root.children.length > 0;
    }

    update(state: State): void {
        this.marks.forEach((mark, i) => {
            mark?.position.copy(pointOf(state, i, this.bodies[i].joint.at));
            mark?.quaternion.copy(state.bodies[i].rotation);
        });
    }
}

const AXES = ["revolute", "prismatic", "screw", "universal", "cylindrical"];

function jointMark(body: Body, length: number): Group | null {
    const { type, axis } = body.joint;
    if (body.part && type !== "universal") return null; // whose other axis is that of what is between
    const mark = new Group();
    const material = new MeshBasicMaterial({ color: AXIS_COLOUR, ...BEHIND, opacity: 0.9 });
    const ball = new Mesh(new SphereGeometry(0.014 * length, 16, 12), material);
    if (AXES.includes(type)) {
        const line = new Mesh(
            new CylinderGeometry(0.005 * length, 0.005 * length, 0.42 * length, 8),
            material,
        );
        line.quaternion.copy(
            new Quaternion().setFromUnitVectors(Y, new Vector3(...axis).normalize()),
        );
        mark.add(line, ball);
    } else if (type === "ball") mark.add(ball);
    else return null;
    for (const mesh of mark.children) mesh.renderOrder = OVERLAY_ORDER;
    return mark;
}

// Small ones for bodies, a larger one for them all.
export class MassCentres implements Layer {
    readonly root = new Group();
    private readonly marks: Mesh[];
    private readonly whole: Mesh;

    constructor(private readonly scene: SceneData) {
        const material = new MeshBasicMaterial({ vertexColors: true, ...BEHIND, opacity: 0.95 });
        const small = massMark(0.017 * scene.length, "#ffffff");
        this.marks = scene.bodies.map(() => new Mesh(small, material));
        this.whole = new Mesh(massMark(0.03 * scene.length, "#ffd23f"), material);
        this.root.add(...this.marks, this.whole);
        for (const mesh of this.root.children) mesh.renderOrder = OVERLAY_ORDER;
    }

    update(state: State): void {
        this.scene.bodies.forEach((body, i) => {
            const mark = this.marks[i];
            mark.visible = !body.part && massCentre(state, this.scene, i, mark.position);
        });
        this.whole.visible = wholeCentre(state, this.scene, this.whole.position);
    }
}

// Of some bodies; false when they have no mass, then `into` is left alone.
function centre(state: State, scene: SceneData, of: number[], into: Vector3): boolean {
    const sum = new Vector3();
    let mass = 0;
    for (const i of of) {
        const body = scene.bodies[i];
        if (!(body.mass > 0)) continue;
        sum.addScaledVector(pointOf(state, i, body.com), body.mass);
        mass += body.mass;
    }
    if (mass > 0) into.copy(sum.divideScalar(mass));
    return mass > 0;
}

// Of a body, with its parts where it bends
export function massCentre(state: State, scene: SceneData, i: number, into: Vector3): boolean {
    const own = [...scene.bodies.keys()].filter((k) => {
        const { part, parent } = scene.bodies[k];
        return k === i || (part && parent === i);
    });
    return centre(state, scene, own, into);
}

export function wholeCentre(state: State, scene: SceneData, into: Vector3): boolean {
    return centre(state, scene, [...scene.bodies.keys()], into);
}
