// SPDX-License-Identifier: Apache-2.0
// Beams: round tubes along the cubic through their parts, bent anew for each picture.
import {
    BufferAttribute,
    BufferGeometry,
    Color,
    DynamicDrawUsage,
    Group,
    Mesh,
    Quaternion,
    Vector3,
} from "three";
import { bodyMaterial } from "./bodies";
import { shapeColour } from "./colours";
import type { Layer } from "./layer";
import type { Pose, State } from "./motion";
import type { Beam, SceneData } from "./report";

const AROUND = 12; // corners of a ring
const RINGS = 24; // at least, along the whole
const END = [0, 0.71, 1]; // the round end: so far out ...
const ROUND = [1, 0.71, 0]; // ... a ring is as wide as this, in radii

const X = new Vector3(1, 0, 0);

// A place on a beam: where a ring is, across which it stands.
interface Station {
    from: number; // of its nodes
    part: number; // of the way to the next
    out: number; // beyond the end, in radii
    width: number; // in radii
}

function stations(segments: number): Station[] {
    const each = Math.ceil(RINGS / segments);
    const list: Station[] = [];
    for (let k = END.length - 1; k > 0; k--)
        list.push({ from: 0, part: 0, out: -END[k], width: ROUND[k] });
    for (let i = 0; i <= segments * each; i++) {
        const from = Math.min(Math.floor(i / each), segments - 1);
        list.push({ from, part: i / each - from, out: 0, width: 1 });
    }
    for (let k = 1; k < END.length; k++)
        list.push({ from: segments - 1, part: 1, out: END[k], width: ROUND[k] });
    return list;
}

// The corners of a tube: how many there are and which belong together does not depend on how it is bent.
export class Tube {
    readonly corners: number;
    readonly triangles: number[] = [];
    readonly colour: Color;
    private readonly nodes: number[];
    private readonly stations: Station[];

    constructor(private readonly beam: Beam) {
        const { body, first, count } = beam;
        this.nodes = [body, ...Array.from({ length: count }, (_, i) => first + i)];
        this.stations = stations(count);
        this.corners = AROUND * this.stations.length;
        this.colour = shapeColour({ colour: "", guessed: false }, body, false);
        for (let ring = 0; ring + 1 < this.stations.length; ring++)
            for (let k = 0; k < AROUND; k++) {
                const [a, b] = [ring * AROUND + k, ring * AROUND + ((k + 1) % AROUND)];
                this.triangles.push(a, b, a + AROUND, b, b + AROUND, a + AROUND);
            }
    }

    // Two stripes along it show how it twists.
    colours(copies: number): BufferAttribute {
        const light = this.colour.clone().lerp(new Color("#ffffff"), 0.3);
        const values = new Float32Array(3 * copies * this.corners);
        for (let i = 0; i < copies * this.corners; i++)
            ((i % AROUND) % (AROUND / 2) === 0 ? light : this.colour).toArray(values, 3 * i);
        return new BufferAttribute(values, 3);
    }

    // p = h00 a + h10 c a' + h01 b + h11 c b', with a', b' along x of the parts and c the chord
    bend(bodies: Pose[], positions: Float32Array, normals: Float32Array, copy: number): void {
        const middle = new Vector3();
        const out = new Vector3();
        const turn = new Quaternion();
        let k = 3 * copy * this.corners;
        for (const { from, part: s, out: beyond, width } of this.stations) {
            const a = bodies[this.nodes[from]];
            const b = bodies[this.nodes[from + 1]];
            const chord = a.position.distanceTo(b.position);
            turn.slerpQuaternions(a.rotation, b.rotation, s);
            middle
                .copy(a.position)
                .multiplyScalar(1 - s * s * (3 - 2 * s))
                .addScaledVector(b.position, s * s * (3 - 2 * s))
                .addScaledVector(out.copy(X).applyQuaternion(a.rotation), chord * s * (1 - s) ** 2)
                .addScaledVector(
                    out.copy(X).applyQuaternion(b.rotation),
                    chord * s * s * (s - 1),
                )
                .addScaledVector(out.copy(X).applyQuaternion(turn), beyond * this.beam.radius);
            for (let i = 0; i < AROUND; i++, k += 3) {
                const angle = (2 * Math.PI * i) / AROUND;
                out.set(0, width * Math.cos(angle), width * Math.sin(angle)).applyQuaternion(turn);
                positions[k] = middle.x + this.beam.radius * out.x;
                positions[k + 1] = middle.y + this.beam.radius * out.y;
                positions[k + 2] = middle.z + this.beam.radius * out.z;
                out.set(beyond, width * Math.cos(angle), width * Math.sin(angle));
                out.applyQuaternion(turn).normalize().toArray(normals, k);
            }
        }
    }
}

// A tube, or copies of it one after the other.
export class TubeGeometry extends BufferGeometry {
    constructor(
        readonly tube: Tube,
        copies = 1,
    ) {
        super();
        const { corners, triangles } = tube;
        const index = new Uint32Array(copies * triangles.length);
        for (let i = 0; i < index.length; i++)
            index[i] =
                Math.floor(i / triangles.length) * corners + triangles[i % triangles.length];
        this.setIndex(new BufferAttribute(index, 1));
        for (const name of ["position", "normal"]) {
            const attribute = new BufferAttribute(new Float32Array(3 * copies * corners), 3);
            this.setAttribute(name, attribute.setUsage(DynamicDrawUsage));
        }
        this.setAttribute("color", tube.colours(copies));
    }

    bend(bodies: Pose[], copy = 0): void {
        const [position, normal] = [this.getAttribute("position"), this.getAttribute("normal")];
        this.tube.bend(bodies, position.array as Float32Array, normal.array as Float32Array, copy);
        position.needsUpdate = normal.needsUpdate = true;
    }

    set shownCopies(count: number) {
        this.setDrawRange(0, count * this.tube.triangles.length);
    }
}

export class Beams implements Layer {
    readonly root = new Group();
    readonly geometries: TubeGeometry[];

    constructor(scene: SceneData) {
        const material = bodyMaterial();
        this.geometries = scene.beams.map((beam) => new TubeGeometry(new Tube(beam)));
        for (const geometry of this.geometries) {
            const mesh = new Mesh(geometry, material);
            mesh.frustumCulled = false;
            this.root.add(mesh);
        }
    }

    update(state: State): void {
        for (const geometry of this.geometries) geometry.bend(state.bodies);
    }
}
