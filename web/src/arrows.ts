// SPDX-License-Identifier: Apache-2.0
// Contact points, and the forces there as arrows.
import {
    BufferGeometry,
    Color,
    ConeGeometry,
    CylinderGeometry,
    Group,
    Material,
    Mesh,
    MeshBasicMaterial,
    SphereGeometry,
    Vector3,
} from "three";
import { bodyMaterial } from "./bodies";
import { contactColour } from "./colours";
import { BEHIND, OVERLAY_ORDER, type Layer } from "./layer";
import type { Motion, State } from "./motion";
import type { SceneData } from "./report";
import { paint } from "./shapes";

const Y = new Vector3(0, 1, 0);

export class ContactPoints implements Layer {
    readonly root = new Group();
    private readonly dots: Mesh[];

    constructor(scene: SceneData) {
        const ball = new SphereGeometry(0.011 * scene.length, 16, 12);
        this.dots = scene.contacts.map((_, i) => {
            const dot = new Mesh(
                ball,
                new MeshBasicMaterial({ color: contactColour(i), ...BEHIND, opacity: 0.95 }),
            );
            dot.renderOrder = OVERLAY_ORDER;
            return dot;
        });
        if (this.dots.length) this.root.add(...this.dots);
    }

    update(state: State): void {
        this.dots.forEach((dot, i) => {
            dot.position.copy(state.contacts[i].point);
            dot.visible = Number.isFinite(dot.position.x);
        });
    }
}

// A shaft and a head, twice: solid, and faint for what stands behind a body.
class Arrow {
    readonly root = new Group();
    private readonly shafts: Mesh[] = [];
    private readonly heads: Mesh[] = [];

    constructor(
        colour: string,
        private readonly width: number,
    ) {
        const shaft = paint(
            new CylinderGeometry(width, width, 1, 16).translate(0, 0.5, 0),
            new Color(colour),
        );
        const head = paint(
            new ConeGeometry(2.6 * width, 1, 24).translate(0, 0.5, 0),
            new Color(colour),
        );
        this.addCopy(shaft, head, bodyMaterial(), 0);
        this.addCopy(
            shaft,
            head,
            new MeshBasicMaterial({ color: colour, ...BEHIND }),
            OVERLAY_ORDER,
        );
    }

    private addCopy(
        shaft: BufferGeometry,
        head: BufferGeometry,
        material: Material,
        order: number,
    ): void {
        for (const [geometry, list] of [
            [shaft, this.shafts],
            [head, this.heads],
        ] as const) {
            const mesh = new Mesh(geometry, material);
            mesh.renderOrder = order;
            list.push(mesh);
            this.root.add(mesh);
        }
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

export class Forces implements Layer {
    readonly root = new Group();
    readonly exist: boolean; // a run may have no reactions
    factor = 1; // of the user
    private readonly arrows: Arrow[];
    private readonly metresPerNewton: number;

    constructor(scene: SceneData, motion: Motion) {
        const typical = typicalForce(scene.contacts.length, motion);
        this.exist = typical > 0;
        this.metresPerNewton = this.exist ? (0.55 * scene.length) / typical : 0;
        this.arrows = scene.contacts.map(
            (_, i) => new Arrow(contactColour(i), 0.011 * scene.length),
        );
        for (const arrow of this.arrows) this.root.add(arrow.root);
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
    }
}

// Nearly the largest force of the run: a short blow must not make all the rest invisible.
function typicalForce(contacts: number, motion: Motion): number {
    const MOST = 500;
    const every = Math.max(1, Math.floor(motion.rows / MOST));
    const sizes: number[] = [];
    const force = new Vector3();
    for (let row = 0; row < motion.rows; row += every)
        for (let i = 0; i < contacts; i++) {
            const size = motion.force(row, i, force).length();
            if (Number.isFinite(size)) sizes.push(size);
        }
    sizes.sort((a, b) => a - b);
    return sizes.length
        ? sizes[Math.floor(0.95 * (sizes.length - 1))] || sizes[sizes.length - 1]
        : 0;
}
