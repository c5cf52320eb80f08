// SPDX-License-Identifier: Apache-2.0
// The bodies themselves, and the rods between them.
import {
    BufferGeometry,
    CylinderGeometry,
    DoubleSide,
    Group,
    Mesh,
    MeshStandardMaterial,
    Quaternion,
    Vector3,
} from "three";
import { STEEL } from "./colours";
import type { Run } from "./data";
import type { Layer } from "./layer";
import type { State } from "./motion";
import type { Rod, Shape } from "./report";
import { paint, wholeGeometry } from "./shapes";

// One for all that is lit: a browser takes its time to compile each kind.
export const bodyMaterial = (): MeshStandardMaterial =>
    new MeshStandardMaterial({ vertexColors: true, roughness: 0.48, metalness: 0.08 });

// What is inside a shell is seen through it.
const shellMaterial = (): MeshStandardMaterial => {
    const material = bodyMaterial();
    material.transparent = true;
    material.opacity = 0.26;
    material.depthWrite = false;
    material.side = DoubleSide;
    return material;
};

// As heavy as the body, and hardly what it looks like: what is in front or behind shows through.
const bulkMaterial = (): MeshStandardMaterial => {
    const material = bodyMaterial();
    material.transparent = true;
    material.opacity = 0.6;
    return material;
};

const isBulk = ({ guessed, type }: Shape): boolean =>
    guessed && (type === "box" || type === "cylinder");

export class Bodies implements Layer {
    readonly root = new Group();
    readonly geometries: (BufferGeometry | null)[]; // without shells
    readonly outlines: (BufferGeometry | null)[]; // with them
    private readonly meshes: (Mesh | null)[][];

    constructor({ report: { scene }, meshes }: Run) {
        const [solid, clear, bulk] = [bodyMaterial(), shellMaterial(), bulkMaterial()];
        if (meshes.length) solid.side = DoubleSide; // files have holes, and faces either way
        // A beam's pieces look alike.
        const owners = scene.bodies.map(({ part, parent }, i) => (part ? parent : i));
        const some = (is: (shape: Shape) => boolean): (BufferGeometry | null)[] =>
            scene.bodies.map(({ shapes }, i) =>
                wholeGeometry(shapes.filter(is), owners[i], meshes),
            );
        this.geometries = some(({ shell }) => !shell);
        const shells = some(({ shell }) => shell);
        this.outlines = shells.map((shell, i) => shell ?? this.geometries[i]);
        const place = (
            geometries: (BufferGeometry | null)[],
            material: MeshStandardMaterial,
        ): (Mesh | null)[] => geometries.map((geometry) => this.add(geometry, material));
        this.meshes = [
            place(some((shape) => !shape.shell && !isBulk(shape)), solid),
            place(some((shape) => !shape.shell && isBulk(shape)), bulk),
            place(shells, clear),
        ];
        for (const shell of [false, true]) {
            const still = scene.shapes.filter((shape) => shape.shell === shell);
            this.add(wholeGeometry(still, scene.bodies.length, meshes), shell ? clear : solid);
        }
    }

    update(state: State): void {
        for (const meshes of this.meshes) placeMeshes(meshes, state);
    }

    private add(geometry: BufferGeometry | null, material: MeshStandardMaterial): Mesh | null {
        if (!geometry) return null;
        const mesh = new Mesh(geometry, material);
        this.root.add(mesh);
        return mesh;
    }
}

// One for each body, where it is.
export function placeMeshes(meshes: (Mesh | null)[], state: State): void {
    meshes.forEach((mesh, i) => {
        mesh?.position.copy(state.bodies[i].position);
        mesh?.quaternion.copy(state.bodies[i].rotation);
    });
}

const Y = new Vector3(0, 1, 0);

export class Rods implements Layer {
    readonly root = new Group();
    private readonly meshes: Mesh[];

    constructor(
        private readonly rods: Rod[],
        length: number,
    ) {
        const geometry = paint(
            new CylinderGeometry(0.008 * length, 0.008 * length, 1, 12),
            STEEL,
        );
        const material = bodyMaterial();
        this.meshes = rods.map(() => new Mesh(geometry, material));
        if (rods.length) this.root.add(...this.meshes);
    }

    update(state: State): void {
        this.rods.forEach((rod, i) => {
            const from = pointOf(state, rod.body, rod.at);
            const along = pointOf(state, rod.on, rod.to).sub(from);
            const length = along.length();
            const mesh = this.meshes[i];
            mesh.visible = length > 0;
            if (!mesh.visible) return;
            mesh.position.copy(from).addScaledVector(along, 0.5);
            mesh.scale.set(1, length, 1);
            mesh.quaternion.copy(
                new Quaternion().setFromUnitVectors(Y, along.divideScalar(length)),
            );
        });
    }
}

// A point of a body in the world; body -1 is the world itself.
export function pointOf(
    state: State,
    body: number,
    at: readonly [number, number, number],
): Vector3 {
    const point = new Vector3(...at);
    if (body < 0) return point;
    const { position, rotation } = state.bodies[body];
    return point.applyQuaternion(rotation).add(position);
}
