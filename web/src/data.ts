// SPDX-License-Identifier: Apache-2.0
// The numbers of a run: base64 in the page, arrays here. Tables of times are searched by halving.
import type { Report, SceneData } from "./report";

// Triangles about the middle of their box.
export interface MeshData {
    points: Float32Array;
    corners: Uint32Array;
}

export interface Run {
    report: Report;
    columns: Float64Array[]; // in the order of report.columns
    time: Float64Array; // the first of them [s]
    frames: Float32Array; // report.scene.stride numbers each
    frameTime: Float64Array; // when they are [s]
    heights: Float32Array[]; // of report.scene.terrains
    meshes: MeshData[]; // of report.scene.meshes
    equations: string | null; // as base64, for those who ask
}

// Newer browsers decode by themselves.
type Base64Bytes = Uint8ArrayConstructor & { fromBase64?: (text: string) => Uint8Array };

function sixBits(): Uint8Array {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const value = new Uint8Array(128);
    for (let i = 0; i < alphabet.length; i++) value[alphabet.charCodeAt(i)] = i;
    return value;
}

// Four letters hold three bytes; decoded straight into the array, for texts of many megabytes.
function decodeBySteps(text: string): Uint8Array {
    const value = sixBits();
    const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
    const bytes = new Uint8Array((text.length / 4) * 3);
    for (let i = 0, k = 0; i < text.length; i += 4) {
        const word =
            (value[text.charCodeAt(i)] << 18) |
            (value[text.charCodeAt(i + 1)] << 12) |
            (value[text.charCodeAt(i + 2)] << 6) |
            value[text.charCodeAt(i + 3)];
        bytes[k++] = word >> 16;
        bytes[k++] = word >> 8;
        bytes[k++] = word;
    }
    return bytes.subarray(0, bytes.length - padding);
}

function decode(text: string): ArrayBuffer {
    const native = (Uint8Array as Base64Bytes).fromBase64;
    const bytes = native ? native.call(Uint8Array, text) : decodeBySteps(text);
    const whole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
    return (whole ? bytes : bytes.slice()).buffer as ArrayBuffer;
}

export const decodeText = (text: string): string => new TextDecoder().decode(decode(text));

// Takes an element's text and lets go of the element: the text may be as large as all the rest.
function take(id: string): string {
    const element = document.getElementById(id);
    if (!element) throw new Error(`this page has no “${id}”: no run has been written into it`);
    const text = element.textContent ?? "";
    element.remove();
    return text.trim();
}

// One array for each terrain. Pages without terrains have no such element.
function readHeights({ terrains }: SceneData, suffix: string): Float32Array[] {
    if (!terrains.length) return [];
    const all = new Float32Array(decode(take(`heights${suffix}`)));
    let start = 0;
    const heights = terrains.map(({ count: [nx, ny] }) => {
        start += nx * ny;
        return all.subarray(start - nx * ny, start);
    });
    if (start !== all.length)
        throw new Error(`the terrains should have ${start} heights and have ${all.length}`);
    return heights;
}

function readMeshes({ meshes }: SceneData, suffix: string): MeshData[] {
    if (!meshes.length) return [];
    const all = decode(take(`meshes${suffix}`));
    const count = meshes.reduce((sum, { points, triangles }) => sum + 3 * (points + triangles), 0);
    if (4 * count !== all.byteLength)
        throw new Error(`the meshes should have ${4 * count} bytes and have ${all.byteLength}`);
    let start = 0; // [bytes]
    return meshes.map(({ points, triangles }) => {
        const mesh = {
            points: new Float32Array(all, start, 3 * points),
            corners: new Uint32Array(all, start + 12 * points, 3 * triangles),
        };
        start += 12 * (points + triangles);
        return mesh;
    });
}

// Where not all rows have frames there is a list of those that have.
function readFrameTime({ rows, frames }: Report, time: Float64Array, suffix: string): Float64Array {
    if (frames === rows) return time;
    const sampled = new Uint32Array(decode(take(`rows${suffix}`)));
    if (sampled.length !== frames)
        throw new Error(`there should be ${frames} rows with frames and there are ${sampled.length}`);
    return Float64Array.from(sampled, (row) => time[row]);
}

function readRun(suffix: string): Run {
    const report = JSON.parse(take(`report${suffix}`)) as Report;
    const { rows, scene } = report;
    const numbers = new Float64Array(decode(take(`columns${suffix}`)));
    const frames = new Float32Array(decode(take(`frames${suffix}`)));
    if (numbers.length !== rows * report.columns.length)
        throw new Error(
            `the table should have ${rows * report.columns.length} numbers and has ${numbers.length}`,
        );
    if (frames.length !== report.frames * scene.stride)
        throw new Error(
            `the frames should have ${report.frames * scene.stride} numbers and have ${frames.length}`,
        );
    if (rows < 1 || report.columns.length < 1)
        throw new Error("the run has no rows: there is nothing to show");
    const columns = report.columns.map((_, i) => numbers.subarray(i * rows, (i + 1) * rows));
    return {
        report,
        columns,
        time: columns[0],
        frames,
        frameTime: readFrameTime(report, columns[0], suffix),
        heights: readHeights(scene, suffix),
        meshes: readMeshes(scene, suffix),
        equations: document.getElementById(`equations${suffix}`) && take(`equations${suffix}`),
    };
}

// What the page knows of a model where there is no run.
export function readModel(): Pick<Run, "report" | "equations"> {
    return {
        report: JSON.parse(take("report")) as Report,
        equations: document.getElementById("equations") && take("equations"),
    };
}

// The first one leads: its scene, its columns, its certificate. Of a sweep there is one alone, by its
// place in the page, and the equations are those of the first.
export function readRuns(only: number | null): Run[] {
    if (only !== null) {
        const run = readRun(only ? `-${only}` : "");
        if (only) run.equations = document.getElementById("equations") && take("equations");
        return [run];
    }
    const runs = [readRun("")];
    for (let k = 1; document.getElementById(`report-${k}`); k++) runs.push(readRun(`-${k}`));
    return runs;
}

// The column that has a name; null where a run has none.
export function columnCalled(run: Run, name: string): Float64Array | null {
    return run.columns[run.report.columns.findIndex((column) => column.name === name)] ?? null;
}

export interface Between {
    row: number; // the last one not after t
    part: number; // of the way to the next
}

export function between(time: Float64Array, t: number): Between {
    const row = rowAt(time, t);
    const span = row + 1 < time.length ? time[row + 1] - time[row] : 0;
    return { row, part: span > 0 ? Math.min(1, Math.max(0, (t - time[row]) / span)) : 0 };
}

// The last row whose time is not after t; the first when all are.
export function rowAt(time: Float64Array, t: number): number {
    let low = 0;
    let high = time.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (time[middle] <= t) low = middle;
        else high = middle - 1;
    }
    return low;
}

export function nearestRow(time: Float64Array, t: number): number {
    const row = rowAt(time, t);
    return row + 1 < time.length && time[row + 1] - t < t - time[row] ? row + 1 : row;
}
