// SPDX-License-Identifier: Apache-2.0
// Where loops close, by what they leave free: a ball for a point, a pin along an axis, a sleeve on its
// guide, a plate, a weld. Everything is made along y and turned to the loop's axis.
import {
    BoxGeometry,
    BufferGeometry,
    Color,
    CylinderGeometry,
    Group,
    Mesh,
    OctahedronGeometry,
    Quaternion,
    SphereGeometry,
    TorusGeometry,
    Vector3,
} from "three";
import { bodyMaterial, pointOf } from "./bodies";
import { contactColour, STEEL } from "./colours";
import { seenThrough, type Layer } from "./layer";
import type { Motion, State } from "./motion";
import type { Contact, Loop, SceneData } from "./report";
import { merge, paint } from "./shapes";

const Y = new Vector3(0, 1, 0);
const SLEEVE = 0.075; // its length; all sizes are parts of the model's

type Maker = (colour: Color, size: number) => BufferGeometry;

const ball =
    (radius: number): Maker =>
    (colour, size) =>
        paint(new SphereGeometry(radius * size, 20, 14), colour);

const pin: Maker = (colour, size) => {
    const HALF = 0.06;
    const head = (end: number): BufferGeometry =>
        new CylinderGeometry(0.021 * size, 0.021 * size, 0.01 * size, 20).translate(0, end, 0);
    const shaft = new CylinderGeometry(0.012 * size, 0.012 * size, 2 * HALF * size, 16);
    const parts = [shaft, head(-HALF * size), head(HALF * size)];
    return merge(parts.map((part) => paint(part, colour)));
};

const sleeve: Maker = (colour, size) =>
    paint(new BoxGeometry(0.045 * size, SLEEVE * size, 0.045 * size), colour);

const bush: Maker = (colour, size) =>
    paint(new CylinderGeometry(0.026 * size, 0.026 * size, SLEEVE * size, 20), colour);

const plate: Maker = (colour, size) =>
    paint(new CylinderGeometry(0.05 * size, 0.05 * size, 0.006 * size, 28), colour);

// A bead round a joint that cannot move
const weld: Maker = (colour, size) =>
    merge([
        paint(new OctahedronGeometry(0.024 * size), colour),
        paint(new TorusGeometry(0.028 * size, 0.007 * size, 8, 24).rotateX(Math.PI / 2), colour),
    ]);

const MAKERS: Record<string, Maker> = {
    point: ball(0.02),
    distance: ball(0.015),
    axis: pin,
    universal: pin,
    slider: sleeve,
    cylinder: bush,
    plane: plate,
    pose: weld,
};

const hasGuide = (kind: string): boolean => kind === "slider" || kind === "cylinder";

function turnTo(axis: Vector3): Quaternion {
    return axis.lengthSq() > 0
        ? new Quaternion().setFromUnitVectors(Y, axis.clone().normalize())
        : new Quaternion();
}

// Attached to a body, -1 for the world
class Mark {
    readonly root = new Group();
    private readonly turn: Quaternion;

    constructor(
        meshes: Mesh[],
        private readonly body: number,
        private readonly at: [number, number, number],
        axis: Vector3,
    ) {
        this.turn = turnTo(axis);
        this.root.add(...meshes);
    }

    update(state: State): void {
        this.root.position.copy(pointOf(state, this.body, this.at));
        this.root.visible = Number.isFinite(this.root.position.lengthSq());
        this.root.quaternion.copy(this.turn);
        if (this.body >= 0) this.root.quaternion.premultiply(state.bodies[this.body].rotation);
    }
}

// As long as the way that a loop goes along it in the run
function guide({ on }: Contact, loop: Loop, index: number, motion: Motion, size: number): Mark {
    const axis = new Vector3(...loop.guide).normalize();
    const { bodies } = motion.newState();
    const point = new Vector3();
    let [least, most] = [0, 0];
    for (const row of motion.sampledRows(300)) {
        motion.point(row, index, point);
        if (on >= 0) {
            const { position, rotation } = motion.body(row, on, bodies[on]);
            point.sub(position).applyQuaternion(rotation.invert());
        }
        const along = point.sub(new Vector3(...loop.to)).dot(axis);
        if (!Number.isFinite(along)) continue;
        least = Math.min(least, along);
        most = Math.max(most, along);
    }
    const length = most - least + 1.6 * SLEEVE * size;
    const rail = new CylinderGeometry(0.008 * size, 0.008 * size, length, 10);
    const middle = new Vector3(...loop.to).addScaledVector(axis, (least + most) / 2);
    return new Mark([new Mesh(paint(rail, STEEL), bodyMaterial())], on, middle.toArray(), axis);
}

export class Loops implements Layer {
    readonly root = new Group();
    private readonly marks: Mark[] = [];

    constructor(scene: SceneData, motion: Motion) {
        const { length, contacts } = scene;
        contacts.forEach((contact, i) => {
            const { kind, body, on, loop } = contact;
            if (!loop || !MAKERS[kind]) return;
            const colour = contactColour(i);
            const make = (): Mesh[] =>
                seenThrough(MAKERS[kind](new Color(colour), length), colour, 0.5);
            this.marks.push(new Mark(make(), body, loop.at, new Vector3(...loop.axis)));
            if (kind === "distance") this.marks.push(new Mark(make(), on, loop.to, Y));
            if (hasGuide(kind)) this.marks.push(guide(contact, loop, i, motion, length));
        });
        for (const mark of this.marks) this.root.add(mark.root);
    }

    get exist(): boolean {
        return this.marks.length > 0;
    }

    update(state: State): void {
        for (const mark of this.marks) mark.update(state);
    }
}
