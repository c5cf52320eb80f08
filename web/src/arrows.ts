// SPDX-License-Identifier: Apache-2.0
// Contact points, and the forces there as arrows; moments as arrows that go round.
import {
    Color,
    ConeGeometry,
    CylinderGeometry,
    Group,
    Mesh,
    MeshBasicMaterial,
    SphereGeometry,
    TorusGeometry,
    Vector3,
} from "three";
import { contactColour } from "./colours";
import { BEHIND, OVERLAY_ORDER, seenThrough, type Layer } from "./layer";
import type { Motion, State } from "./motion";
import type { SceneData } from "./report";
import { merge, paint } from "./shapes";

const Y = new Vector3(0, 1, 0);

export class ContactPoints implements Layer {
    readonly root = new Group();
    private readonly dots: { contact: number; mesh: Mesh }[] = [];

    constructor(scene: SceneData) {
        const ball = new SphereGeometry(0.011 * scene.length, 16, 12);
        scene.contacts.forEach((contact, i) => {
            if (contact.loop) return; // has a mark of its own
            const mesh = new Mesh(
                ball,
                new MeshBasicMaterial({ color: contactColour(i), ...BEHIND, opacity: 0.95 }),
            );
            mesh.renderOrder = OVERLAY_ORDER;
            this.dots.push({ contact: i, mesh });
            this.root.add(mesh);
        });
    }

    get exist(): boolean {
        return this.dots.length > 0;
    }

    update(state: State): void {
        for (const { contact, mesh } of this.dots) {
            mesh.position.copy(state.contacts[contact].point);
            mesh.visible = Number.isFinite(mesh.position.x);
        }
    }
}

// A shaft and a head.
class Arrow {
    readonly root = new Group();
    private readonly shafts: Mesh[];
    private readonly heads: Mesh[];

    constructor(
        colour: string,
        private readonly width: number,
    ) {
        const shaft = new CylinderGeometry(width, width, 1, 16).translate(0, 0.5, 0);
        const head = new ConeGeometry(2.6 * width, 1, 24).translate(0, 0.5, 0);
        this.shafts = seenThrough(paint(shaft, new Color(colour)), colour);
        this.heads = seenThrough(paint(head, new Color(colour)), colour);
        this.root.add(...this.shafts, ...this.heads);
    }

    point(from: Vector3, along: Vector3): void {
        const length = along.length();
        this.root.visible = length > 1e-3 * this.width && Number.isFinite(length + from.lengthSq());
        if (!this.root.visible) return;
        this.root.position.copy(from);
        this.root.quaternion.setFromUnitVectors(Y, along.clone().divideScalar(length));
        const head = Math.min(7 * this.width, 0.6 * length);
        const thin = Math.min(1, length / (6 * this.width)); // small forces are small arrows
        for (const mesh of this.shafts) mesh.scale.set(thin, length - head, thin);
        for (const mesh of this.heads) {
            mesh.scale.set(thin, head, thin);
            mesh.position.y = length - head;
        }
    }
}

// Most of a turn about y, to the right as the moment's direction says; larger where that is.
class Turn {
    readonly root = new Group();

    constructor(colour: string) {
        const ARC = 1.5 * Math.PI;
        const WIDTH = 0.07;
        const round = new TorusGeometry(1, WIDTH, 8, 40, ARC); // from x to y, about z
        const head = new ConeGeometry(2.6 * WIDTH, 7 * WIDTH, 16).translate(1, 2 * WIDTH, 0);
        const parts = [round, head.rotateZ(ARC)].map((part) => part.rotateX(-Math.PI / 2));
        const whole = merge(parts.map((part) => paint(part, new Color(colour))));
        this.root.add(...seenThrough(whole, colour));
    }

    about(middle: Vector3, along: Vector3): void {
        const radius = along.length();
        this.root.visible = radius > 0 && Number.isFinite(radius + middle.lengthSq());
        if (!this.root.visible) return;
        this.root.position.copy(middle);
        this.root.quaternion.setFromUnitVectors(Y, along.clone().divideScalar(radius));
        this.root.scale.setScalar(radius);
    }
}

export class Forces implements Layer {
    readonly root = new Group();
    readonly exist: boolean; // a run may have no reactions
    factor = 1; // of the user
    private readonly arrows: Arrow[];
    private readonly turns: { contact: number; turn: Turn }[];
    private readonly metresPerNewton: number;
    private readonly metresPerNewtonMetre: number;

    constructor(scene: SceneData, motion: Motion) {
        const size = scene.length;
        const all = scene.contacts.map((_, i) => i);
        const turning = all.filter((i) => scene.contacts[i].has_moment);
        const force = typical(motion, all, (row, i, v) => motion.force(row, i, v));
        const moment = typical(motion, turning, (row, i, v) => motion.moment(row, i, v));
        const turns = moment > 1e-6 * force * size; // rounding is not a moment
        this.exist = force > 0 || turns;
        this.metresPerNewton = force > 0 ? (0.55 * size) / force : 0;
        this.metresPerNewtonMetre = turns ? (0.17 * size) / moment : 0;
        this.arrows = scene.contacts.map((_, i) => new Arrow(contactColour(i), 0.011 * size));
        for (const arrow of this.arrows) this.root.add(arrow.root);
        this.turns = (turns ? turning : []).map((contact) => {
            return { contact, turn: new Turn(contactColour(contact)) };
        });
        for (const { turn } of this.turns) this.root.add(turn.root);
    }

    update(state: State): void {
        const along = new Vector3();
        this.arrows.forEach((arrow, i) => {
            const { point, force } = state.contacts[i];
            arrow.point(
                point,
                along.copy(force).multiplyScalar(this.factor * this.metresPerNewton),
            );
        });
        for (const { contact, turn } of this.turns) {
            const { point, moment } = state.contacts[contact];
            turn.about(
                point,
                along.copy(moment).multiplyScalar(this.factor * this.metresPerNewtonMetre),
            );
        }
    }
}

// Nearly the largest of the run: a short blow must not make all the rest invisible.
function typical(
    motion: Motion,
    contacts: number[],
    get: (row: number, contact: number, into: Vector3) => Vector3,
): number {
    const sizes: number[] = [];
    const vector = new Vector3();
    for (const row of motion.sampledRows(500))
        for (const i of contacts) {
            const size = get(row, i, vector).length();
            if (Number.isFinite(size)) sizes.push(size);
        }
    sizes.sort((a, b) => a - b);
    return sizes.length
        ? sizes[Math.floor(0.95 * (sizes.length - 1))] || sizes[sizes.length - 1]
        : 0;
}
