// SPDX-License-Identifier: Apache-2.0
// The numbers of a run: base64 in the page, arrays here. Tables of times are searched by halving.
import type { Report, SceneData } from "./report";

export interface Run {
    report: Report;
    columns: Float64Array[]; // in the order of report.columns
    time: Float64Array; // the first of them [s]
    frames: Float32Array; // report.scene.stride numbers a row
    heights: Float32Array[]; // of report.scene.terrains
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

// Takes an element's text and lets go of the element: the text may be as large as all the rest.
function take(id: string): string {
    const element = document.getElementById(id);
    if (!element) throw new Error(`this page has no “${id}”: no run has been written into it`);
    const text = element.textContent ?? "";
    element.remove();
    return text.trim();
}

// One array for each terrain. Pages without terrains have no such element.
function readHeights({ terrains }: SceneData): Float32Array[] {
    if (!terrains.length) return [];
    const all = new Float32Array(decode(take("heights")));
    let start = 0;
    const heights = terrains.map(({ count: [nx, ny] }) => {
        start += nx * ny;
        return all.subarray(start - nx * ny, start);
    });
    if (start !== all.length)
        throw new Error(`the terrains should have ${start} heights and have ${all.length}`);
    return heights;
}

export function readRun(): Run {
    const report = JSON.parse(take("report")) as Report;
    const { rows, scene } = report;
    const numbers = new Float64Array(decode(take("columns")));
    const frames = new Float32Array(decode(take("frames")));
    if (numbers.length !== rows * report.columns.length)
        throw new Error(
            `the table should have ${rows * report.columns.length} numbers and has ${numbers.length}`,
        );
    if (frames.length !== rows * scene.stride)
        throw new Error(
            `the frames should have ${rows * scene.stride} numbers and have ${frames.length}`,
        );
    if (rows < 1 || report.columns.length < 1)
        throw new Error("the run has no rows: there is nothing to show");
    const columns = report.columns.map((_, i) => numbers.subarray(i * rows, (i + 1) * rows));
    return { report, columns, time: columns[0], frames, heights: readHeights(scene) };
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
