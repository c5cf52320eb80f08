// SPDX-License-Identifier: Apache-2.0
// Further runs in the same picture, each in one colour that shines through: over the first one, or
// beside it.
import { BufferGeometry, DoubleSide, Group, Mesh, MeshStandardMaterial, Vector3 } from "three";
import { Beams } from "./beams";
import { Bodies, placeMeshes, Rods } from "./bodies";
import { runColour } from "./colours";
import type { Run } from "./data";
import type { Layer } from "./layer";
import { Motion, type State } from "./motion";
import { Tracks } from "./tracks";

const OVER = 0.5; // opacity
const BESIDE = 1;

export class Companion {
    readonly root = new Group();
    readonly motion: Motion;
    readonly outlines: (BufferGeometry | null)[];
    readonly tracks: Tracks;
    private readonly state: State;
    private readonly meshes: (Mesh | null)[];
    private readonly layers: Layer[];
    private readonly material: MeshStandardMaterial;

    constructor(run: Run, index: number) {
        const { scene } = run.report;
        const colour = runColour(index);
        this.motion = new Motion(run);
        this.state = this.motion.newState();
        this.outlines = new Bodies(run).outlines;
        this.material = new MeshStandardMaterial({ color: colour, roughness: 0.6, side: DoubleSide });
        this.meshes = this.outlines.map((geometry) => this.add(geometry));
        this.tracks = new Tracks(scene, this.motion, () => colour);
        const beams = new Beams(scene);
        for (const child of beams.root.children) (child as Mesh).material = this.material;
        this.layers = [beams, new Rods(scene.rods, scene.length), this.tracks];
        for (const layer of this.layers) this.root.add(layer.root);
        this.stand(null);
    }

    // So far away from where it was, or over the others
    stand(away: Vector3 | null): void {
        this.root.position.copy(away ?? new Vector3());
        this.material.opacity = away ? BESIDE : OVER;
        this.material.transparent = !away;
        this.material.depthWrite = Boolean(away);
        this.material.needsUpdate = true;
    }

    show(t: number): void {
        this.motion.at(t, this.state);
        placeMeshes(this.meshes, this.state);
        for (const layer of this.layers) layer.update(this.state);
    }

    private add(geometry: BufferGeometry | null): Mesh | null {
        if (!geometry) return null;
        const mesh = new Mesh(geometry, this.material);
        mesh.renderOrder = 1;
        this.root.add(mesh);
        return mesh;
    }
}
