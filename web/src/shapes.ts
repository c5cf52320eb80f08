// SPDX-License-Identifier: Apache-2.0
// Drawing shapes as triangles with colours at their corners, one mesh a body. What is round gets a
// mark or spokes, so that its spin can be seen. Everything is made along y and turned to its axis.
import {
    BoxGeometry,
    BufferAttribute,
    BufferGeometry,
    CapsuleGeometry,
    Color,
    CylinderGeometry,
    LatheGeometry,
    Quaternion,
    SphereGeometry,
    TorusGeometry,
    Vector2,
    Vector3,
} from "three";
import { RoundedBoxGeometry } from "three/addons/geometries/RoundedBoxGeometry.js";
import { mergeGeometries, mergeVertices, toCreasedNormals } from "three/addons/utils/BufferGeometryUtils.js";
import { shapeColour } from "./colours";
import type { MeshData } from "./data";
import type { Shape } from "./report";

const AROUND = 40; // segments of a circle
const METAL = new Color("#b4bac2");
const MARK = new Color("#f08a24");
const Y = new Vector3(0, 1, 0);

type Paint = (x: number, y: number, z: number) => Color;

// Corners of one colour are shared by triangles: where pictures are drawn without a graphics card,
// corners are what they cost.
function paintPlain(g: BufferGeometry, colour: Color): BufferGeometry {
    const count = g.getAttribute("position").count;
    const colours = new Float32Array(3 * count);
    for (let i = 0; i < count; i++) colour.toArray(colours, 3 * i);
    if (!g.index) g.setIndex([...Array(count).keys()]);
    return g.setAttribute("color", new BufferAttribute(colours, 3));
}

// Colours each triangle by its middle: sharp borders without finer meshes.
function paintFaces(geometry: BufferGeometry, paint: Paint): BufferGeometry {
    const g = geometry.toNonIndexed();
    const p = g.getAttribute("position");
    const colours = new Float32Array(3 * p.count);
    for (let i = 0; i < p.count; i += 3) {
        const middle = (c: "getX" | "getY" | "getZ"): number =>
            (p[c](i) + p[c](i + 1) + p[c](i + 2)) / 3;
        const colour = paint(middle("getX"), middle("getY"), middle("getZ"));
        for (let k = 0; k < 3; k++) colour.toArray(colours, 3 * (i + k));
    }
    g.setAttribute("color", new BufferAttribute(colours, 3));
    return mergeVertices(g);
}

export function paint(geometry: BufferGeometry, colour: Color | Paint): BufferGeometry {
    geometry.deleteAttribute("uv");
    return colour instanceof Color ? paintPlain(geometry, colour) : paintFaces(geometry, colour);
}

const lighter = (c: Color, by: number): Color => c.clone().lerp(new Color("#ffffff"), by);

export function merge(parts: BufferGeometry[]): BufferGeometry {
    const whole = mergeGeometries(parts);
    for (const part of parts) part.dispose();
    return whole;
}

function box(shape: Shape, colour: Color): BufferGeometry {
    const [x, y, z] = shape.size;
    const edge = 0.12 * Math.min(x, y, z);
    return paint(
        edge > 0 ? new RoundedBoxGeometry(x, y, z, 2, edge) : new BoxGeometry(x, y, z),
        colour,
    );
}

function capsule(shape: Shape, colour: Color): BufferGeometry {
    return paint(new CapsuleGeometry(shape.radius, shape.length, 6, 24), colour);
}

// Opposite quarters of the faces and two stripes along the side are lighter.
function cylinder(shape: Shape, colour: Color): BufferGeometry {
    const light = lighter(colour, 0.25);
    const face = 0.499 * shape.length;
    return paint(
        new CylinderGeometry(shape.radius, shape.radius, shape.length, AROUND),
        (x, y, z) => {
            if (Math.abs(y) > face) return x * z > 0 ? light : colour;
            return Math.abs(Math.atan2(z, Math.abs(x))) < 0.13 ? light : colour;
        },
    );
}

function sphere(shape: Shape, colour: Color): BufferGeometry {
    const light = lighter(colour, 0.28);
    return paint(new SphereGeometry(shape.radius, AROUND, AROUND / 2), (x, y, z) =>
        x * y * z > 0 ? light : colour,
    );
}

function ring(radius: number, tube: number, colour: Color | Paint, round = 8): BufferGeometry {
    return paint(new TorusGeometry(radius, tube, round, 72).rotateX(Math.PI / 2), colour);
}

// A straight bar from one point to another.
function bar(from: Vector3, to: Vector3, radius: number, colour: Color): BufferGeometry {
    const along = to.clone().sub(from);
    const g = new CylinderGeometry(radius, radius, along.length(), 4, 1, true);
    g.applyQuaternion(new Quaternion().setFromUnitVectors(Y, along.clone().normalize()));
    const middle = from.clone().add(to).multiplyScalar(0.5);
    return paint(g.translate(middle.x, middle.y, middle.z), colour);
}

// Wire spokes from both flanges of a hub to a rim, and a reflector between two of them.
function wires(rim: number, thickness: number): BufferGeometry[] {
    const COUNT = 16;
    const hub = 0.09 * rim;
    const half = Math.max(0.06 * rim, 0.7 * thickness);
    const parts = [paint(new CylinderGeometry(hub, hub, 2 * half, 20), METAL)];
    for (let i = 0; i < COUNT; i++) {
        const angle = (2 * Math.PI * i) / COUNT;
        const out = new Vector3(Math.cos(angle), 0, Math.sin(angle));
        const flange = out
            .clone()
            .multiplyScalar(0.8 * hub)
            .setY((i % 2 ? 1 : -1) * 0.8 * half);
        parts.push(bar(flange, out.multiplyScalar(rim), 0.007 * rim, METAL));
    }
    const reflector = new RoundedBoxGeometry(0.07 * rim, 0.05 * rim, 0.22 * rim, 2, 0.015 * rim);
    parts.push(paint(reflector.translate(0.7 * rim, 0, 0), MARK));
    return parts;
}

// Narrow wheels are tyre, rim and wire spokes.
function wireWheel(shape: Shape, colour: Color): BufferGeometry {
    const tyre = Math.min(0.12 * shape.radius, Math.max(0.5 * shape.length, 0.02 * shape.radius));
    const rim = shape.radius - 2.3 * tyre;
    return merge([
        ring(shape.radius - tyre, tyre, colour),
        ring(rim, 0.8 * tyre, METAL, 6),
        ...wires(rim, shape.length),
    ]);
}

// Wide wheels are a tyre with rounded shoulders on a hub with thick spokes, one of them marked.
function castWheel(shape: Shape, colour: Color): BufferGeometry {
    const COUNT = 5;
    const { radius: R, length: w } = shape;
    const inner = 0.7 * R;
    const bevel = Math.min(0.25 * w, 0.12 * R);
    const half = w / 2;
    const profile = [
        [inner, -half],
        [R - bevel, -half],
        [R - 0.3 * bevel, -half + 0.3 * bevel],
        [R, -half + bevel],
        [R, half - bevel],
        [R - 0.3 * bevel, half - 0.3 * bevel],
        [R - bevel, half],
        [inner, half],
        [inner, -half],
    ].map(([r, y]) => new Vector2(r, y));
    const parts = [
        paint(new LatheGeometry(profile, AROUND), colour),
        paint(new CylinderGeometry(0.2 * R, 0.2 * R, 0.9 * w, 24), METAL),
    ];
    for (let i = 0; i < COUNT; i++) {
        const spoke = new BoxGeometry(inner, 0.6 * w, 0.14 * R).translate(inner / 2, 0, 0);
        parts.push(paint(spoke.rotateY((2 * Math.PI * i) / COUNT), i ? METAL : MARK));
    }
    return merge(parts);
}

const disc = (shape: Shape, colour: Color): BufferGeometry =>
    shape.length < 0.35 * shape.radius ? wireWheel(shape, colour) : castWheel(shape, colour);

function torus(shape: Shape, colour: Color): BufferGeometry {
    const middle = shape.radius - shape.tube;
    const marked: Paint = (x, _, z) => (Math.abs(Math.atan2(z, x)) < 0.1 ? MARK : colour);
    const parts = [ring(middle, shape.tube, marked, 16)];
    const hole = middle - 0.9 * shape.tube;
    if (hole > 0.2 * shape.radius) parts.push(...wires(hole, shape.tube));
    return merge(parts);
}

const MAKERS: Record<string, (shape: Shape, colour: Color) => BufferGeometry> = {
    box,
    cylinder,
    sphere,
    capsule,
    disc,
    torus,
};

const CREASE = 0.6; // [rad]: edges sharper than this are seen

function meshGeometry(data: MeshData, scale: number, colour: Color): BufferGeometry {
    const g = new BufferGeometry();
    g.setAttribute("position", new BufferAttribute(data.points.slice(), 3));
    g.setIndex(new BufferAttribute(data.corners, 1));
    g.scale(scale, scale, scale);
    return paint(mergeVertices(toCreasedNormals(g, CREASE)), colour);
}

function shapeGeometry(shape: Shape, body: number, meshes: MeshData[]): BufferGeometry | null {
    const maker = MAKERS[shape.type];
    const isWheel = shape.type === "disc" || shape.type === "torus";
    const colour = shapeColour(shape, body, isWheel);
    const data = meshes[shape.mesh ?? -1];
    if (shape.type === "mesh" && data)
        return meshGeometry(data, shape.scale ?? 1, colour).translate(...shape.at);
    if (!maker) return null;
    const geometry = maker(shape, colour);
    const axis = new Vector3(...shape.axis).normalize();
    if (shape.type !== "box" && axis.lengthSq() > 0)
        geometry.applyQuaternion(new Quaternion().setFromUnitVectors(Y, axis));
    return geometry.translate(...shape.at);
}

// Shapes as one; null when there are none that can be drawn. `owner` has their colour.
export function wholeGeometry(
    shapes: Shape[],
    owner: number,
    meshes: MeshData[],
): BufferGeometry | null {
    const parts = shapes
        .map((shape) => shapeGeometry(shape, owner, meshes))
        .filter((g): g is BufferGeometry => g !== null);
    if (!parts.length) return null;
    const whole = merge(parts);
    whole.computeBoundingBox();
    whole.computeBoundingSphere();
    return whole;
}

// The sign for a centre of mass: a ball in black and a light colour.
export function massMark(radius: number, light: string): BufferGeometry {
    const bright = new Color(light);
    const black = new Color("#16181c");
    return paint(new SphereGeometry(radius, 24, 16), (x, y, z) => (x * y * z > 0 ? bright : black));
}
