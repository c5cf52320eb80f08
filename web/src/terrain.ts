// SPDX-License-Identifier: Apache-2.0
// Ground that is not flat: a surface through the heights of a grid, tinted by how high it is, shaded by
// how it slopes, with lines of equal height as on a map, and faint squares. Where a height is not a
// number there is a hole.
import {
    BufferAttribute,
    BufferGeometry,
    Color,
    DoubleSide,
    Group,
    LinearSRGBColorSpace,
    Matrix4,
    Mesh,
    ShaderMaterial,
    Vector3,
} from "three";
import type { Layer } from "./layer";
import { SUN_FROM } from "./light";
import type { State } from "./motion";
import type { TerrainData } from "./report";

const LINES = 10; // at least, from the lowest place to the highest
const SQUARES = 12; // at least, along its longer side: faint, to see motion by where it is a plain
const MAJOR = 5; // every fifth is stronger
const FADE = 0.07; // of its shorter side, towards its ends
const STEEP = 0.5; // what the steepest slopes are shaded as, where all are gentle

const VERTEX = /* glsl */ `
attribute float level, edge;
varying float height, inside;
varying vec2 place;
varying vec3 upwards;
void main() {
    height = level;
    place = position.xy;
    inside = edge;
    upwards = normal;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

// Colours are as the screen has them, as those of the plane are.
const FRAGMENT = /* glsl */ `
uniform vec3 low, high, line, sun;
uniform float lowest, relief, interval, steeper, reach, square;
varying float height, inside;
varying vec2 place;
varying vec3 upwards;

// How much of a pixel lines cover that are 1 apart in x; those too close to tell apart fade.
float lineAt(float x, float width) {
    float change = max(fwidth(x), 1e-9);
    float d = abs(fract(x - 0.5) - 0.5) / change;
    return clamp(width + 0.5 - d, 0.0, 1.0) * clamp(1.4 - 2.8 * change, 0.0, 1.0);
}

// From 0 to 1, all sixteenths in a square of four by four pixels
float screen() {
    ivec2 p = ivec2(gl_FragCoord.xy) & 3;
    ivec2 coarse = p >> 1, fine = p & 1;
    int x = (2 * fine.x + 3 * fine.y) & 3, y = (2 * coarse.x + 3 * coarse.y) & 3;
    return (float(4 * x + y) + 0.5) / 16.0;
}

void main() {
    if (smoothstep(0.0, 1.0, inside) < screen()) discard; // fades, and hides what is behind it
    vec3 n = normalize(upwards);
    float slope = length(n.xy) / max(n.z, 1e-3);
    vec3 lit = normalize(vec3(steeper * n.xy, n.z));
    float shade = 0.5 + 0.58 * max(dot(lit, sun), 0.0);
    vec3 tint = mix(low, high, clamp((height - lowest) / relief, 0.0, 1.0)) * shade;
    float x = height / interval;
    float lines = max(0.45 * lineAt(x, 0.5), 0.9 * lineAt(x / ${MAJOR}.0, 0.8));
    lines *= smoothstep(0.05, 0.3, slope * reach / interval); // a plain is not one broad line
    lines = max(lines, 0.13 * max(lineAt(place.x / square, 0.5), lineAt(place.y / square, 0.5)));
    gl_FragColor = vec4(mix(tint, line, lines), 1.0);
}`;

// The largest of 1, 2 or 5 times a power of ten that is not larger
export function roundDown(x: number): number {
    const power = 10 ** Math.floor(Math.log10(x));
    const digit = x / power;
    return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

// A difference quotient at a node along one side, with what neighbours there are
function slopeAt(heights: Float32Array, i: number, by: number, before: boolean, after: boolean): number {
    const left = before && Number.isFinite(heights[i - by]) ? i - by : i;
    const right = after && Number.isFinite(heights[i + by]) ? i + by : i;
    return right > left ? ((heights[right] - heights[left]) / (right - left)) * by : 0;
}

interface Shape {
    positions: Float32Array;
    normals: Float32Array;
    edges: Float32Array; // 1 inside, 0 at the ends
    slopes: number[];
}

function shapeOf({ corner, step, count }: TerrainData, heights: Float32Array): Shape {
    const [nx, ny] = count;
    const fade = Math.max(1, FADE * Math.min(nx, ny));
    const [positions, normals] = [new Float32Array(3 * nx * ny), new Float32Array(3 * nx * ny)];
    const edges = new Float32Array(nx * ny);
    const slopes: number[] = [];
    const n = new Vector3();
    for (let i = 0; i < nx * ny; i++) {
        const [x, y] = [i % nx, Math.floor(i / nx)];
        const isThere = Number.isFinite(heights[i]);
        positions.set([corner[0] + x * step, corner[1] + y * step, isThere ? heights[i] : 0], 3 * i);
        const along = isThere ? slopeAt(heights, i, 1, x > 0, x < nx - 1) / step : 0;
        const across = isThere ? slopeAt(heights, i, nx, y > 0, y < ny - 1) / step : 0;
        n.set(-along, -across, 1).normalize().toArray(normals, 3 * i);
        edges[i] = Math.min(1, Math.min(x, y, nx - 1 - x, ny - 1 - y) / fade);
        slopes.push(Math.hypot(along, across));
    }
    return { positions, normals, edges, slopes };
}

// Two triangles a cell; one where a corner is missing, none where more are
function trianglesOf([nx, ny]: [number, number], heights: Float32Array): number[] {
    const index: number[] = [];
    for (let y = 0; y + 1 < ny; y++)
        for (let x = 0; x + 1 < nx; x++) {
            const i = y * nx + x;
            const around = [i, i + 1, i + 1 + nx, i + nx].filter((k) => Number.isFinite(heights[k]));
            if (around.length >= 3) index.push(around[0], around[1], around[2]);
            if (around.length === 4) index.push(around[0], around[2], around[3]);
        }
    return index;
}

export function placeOf({ at, rotation: R }: TerrainData): Matrix4 {
    return new Matrix4().set(
        ...([R[0], R[1], R[2], at[0], R[3], R[4], R[5], at[1]] as const),
        ...([R[6], R[7], R[8], at[2], 0, 0, 0, 1] as const),
    );
}

class Terrain {
    readonly root = new Group();
    readonly interval: number; // between lines [m]
    private readonly material: ShaderMaterial;
    private readonly body: number;

    constructor(data: TerrainData, heights: Float32Array) {
        const shape = shapeOf(data, heights);
        const place = placeOf(data);
        const isGround = data.on < 0;
        const levels = heights.map((h, i) => this.levelOf(shape, i, isGround ? place : null, h));
        const known = levels.filter(Number.isFinite);
        const lowest = known.reduce((a, h) => Math.min(a, h), Infinity);
        const relief = known.reduce((a, h) => Math.max(a, h), -Infinity) - lowest;
        const steepest = shape.slopes.sort((a, b) => a - b)[Math.floor(0.97 * shape.slopes.length)];
        this.body = data.on;
        this.interval = relief > 0 && Number.isFinite(relief) ? roundDown(relief / LINES) : 1;
        const geometry = new BufferGeometry();
        geometry.setAttribute("position", new BufferAttribute(shape.positions, 3));
        geometry.setAttribute("normal", new BufferAttribute(shape.normals, 3));
        geometry.setAttribute("edge", new BufferAttribute(shape.edges, 1));
        const finite = levels.map((h) => (Number.isFinite(h) ? h : 0));
        geometry.setAttribute("level", new BufferAttribute(finite, 1));
        geometry.setIndex(trianglesOf(data.count, heights));
        const sun = SUN_FROM.clone().transformDirection(placeOf(data).invert());
        const reach = data.step * (Math.max(...data.count) - 1);
        this.material = new ShaderMaterial({
            vertexShader: VERTEX,
            fragmentShader: FRAGMENT,
            side: DoubleSide,
            polygonOffset: true, // tracks and shadows lie on it
            polygonOffsetFactor: 2,
            polygonOffsetUnits: 4,
            uniforms: {
                low: { value: new Color() },
                high: { value: new Color() },
                line: { value: new Color() },
                sun: { value: sun },
                lowest: { value: Number.isFinite(lowest) ? lowest : 0 },
                relief: { value: relief > 0 ? relief : 1 },
                interval: { value: this.interval },
                steeper: { value: Math.min(5, Math.max(1, STEEP / Math.max(steepest, 1e-6))) },
                reach: { value: reach },
                square: { value: roundDown(reach / SQUARES) },
            },
        });
        const mesh = new Mesh(geometry, this.material);
        mesh.matrixAutoUpdate = false;
        mesh.matrix.copy(place);
        mesh.frustumCulled = false;
        this.root.add(mesh);
    }

    // How high a node counts: in the world on the ground, by itself on a body
    private levelOf({ positions }: Shape, i: number, place: Matrix4 | null, height: number): number {
        if (!place || !Number.isFinite(height)) return height;
        return new Vector3().fromArray(positions, 3 * i).applyMatrix4(place).z;
    }

    colour(low: string, high: string, line: string): void {
        const u = this.material.uniforms;
        (u.low.value as Color).setStyle(low, LinearSRGBColorSpace);
        (u.high.value as Color).setStyle(high, LinearSRGBColorSpace);
        (u.line.value as Color).setStyle(line, LinearSRGBColorSpace);
    }

    update(state: State): void {
        if (this.body < 0) return;
        this.root.position.copy(state.bodies[this.body].position);
        this.root.quaternion.copy(state.bodies[this.body].rotation);
    }
}

export class Terrains implements Layer {
    readonly root = new Group();
    private readonly terrains: Terrain[];

    // Those of the ground, or those on bodies
    constructor(data: TerrainData[], heights: Float32Array[], areGround: boolean) {
        this.terrains = data.flatMap((terrain, i) =>
            terrain.on < 0 === areGround ? [new Terrain(terrain, heights[i])] : [],
        );
        for (const { root } of this.terrains) this.root.add(root);
    }

    // Between lines of the first; 0 where there is none [m]
    get interval(): number {
        return this.terrains[0]?.interval ?? 0;
    }

    colour(low: string, high: string, line: string): void {
        for (const terrain of this.terrains) terrain.colour(low, high, line);
    }

    update(state: State): void {
        for (const terrain of this.terrains) terrain.update(state);
    }
}
