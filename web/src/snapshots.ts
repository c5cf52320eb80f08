// SPDX-License-Identifier: Apache-2.0
// The bodies as they were at equal distances of time, translucent.
import { BufferGeometry, Group, InstancedMesh, Matrix4, Mesh, Vector3 } from "three";
import { TubeGeometry } from "./beams";
import { bodyMaterial } from "./bodies";
import type { Layer } from "./layer";
import type { Motion, State } from "./motion";

const MOST = 400;
const ONE = new Vector3(1, 1, 1);

export class Snapshots implements Layer {
    readonly root = new Group();
    private times: number[] = [];
    private meshes: InstancedMesh[] = [];
    private tubes: TubeGeometry[] = [];
    private spacing = 0.5; // [s]

    constructor(
        private readonly motion: Motion,
        private readonly geometries: (BufferGeometry | null)[],
        private readonly beams: TubeGeometry[],
    ) {}

    get every(): number {
        return this.spacing;
    }

    // A spacing too fine for the run is made coarser.
    set every(seconds: number) {
        const { time, rows } = this.motion;
        const least = (time[rows - 1] - time[0]) / MOST;
        this.spacing = Math.max(seconds, least);
        this.clear();
    }

    update(state: State): void {
        if (!this.root.visible) return;
        if (!this.times.length) this.build();
        let count = 0;
        while (count < this.times.length && this.times[count] <= state.t) count++;
        for (const mesh of this.meshes) mesh.count = count;
        for (const tube of this.tubes) tube.shownCopies = count;
    }

    private clear(): void {
        for (const mesh of this.meshes) mesh.dispose();
        for (const tube of this.tubes) tube.dispose();
        this.root.clear();
        this.meshes = [];
        this.tubes = [];
        this.times = [];
    }

    private build(): void {
        const { time, rows } = this.motion;
        const slack = 1e-9 * this.spacing;
        for (let k = 0, t = time[0]; t <= time[rows - 1] + slack; t = time[0] + ++k * this.spacing)
            this.times.push(t);
        const material = bodyMaterial();
        material.transparent = true;
        material.opacity = 0.4;
        const owners: number[] = [];
        this.geometries.forEach((geometry, body) => {
            if (!geometry) return;
            const mesh = new InstancedMesh(geometry, material, this.times.length);
            mesh.frustumCulled = false;
            mesh.renderOrder = 1;
            this.meshes.push(mesh);
            owners.push(body);
            this.root.add(mesh);
        });
        for (const { tube } of this.beams) {
            const geometry = new TubeGeometry(tube, this.times.length);
            const mesh = new Mesh(geometry, material);
            mesh.frustumCulled = false;
            mesh.renderOrder = 1;
            this.tubes.push(geometry);
            this.root.add(mesh);
        }
        this.place(owners);
    }

    private place(owners: number[]): void {
        const state = this.motion.newState();
        const matrix = new Matrix4();
        this.times.forEach((t, k) => {
            this.motion.at(t, state);
            owners.forEach((body, m) => {
                const { position, rotation } = state.bodies[body];
                this.meshes[m].setMatrixAt(k, matrix.compose(position, rotation, ONE));
            });
            for (const tube of this.tubes) tube.bend(state.bodies, k);
        });
    }
}
