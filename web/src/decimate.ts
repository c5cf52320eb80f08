// SPDX-License-Identifier: Apache-2.0
// Long tables as few points: in each stretch of rows the least and the largest value, in the order
// in which they come. On the screen the curve is the same.
import { rowAt } from "./data";

export type Values = (number | null)[];

export interface Window {
    first: number; // rows
    last: number;
}

// The rows between two times and one on each side, so that curves run out of the picture.
export function windowOf(time: Float64Array, from: number, to: number): Window {
    return {
        first: Math.max(0, rowAt(time, from) - 1),
        last: Math.min(time.length - 1, rowAt(time, to) + 1),
    };
}

const asIs = (x: number): number | null => (Number.isFinite(x) ? x : null);
const positive = (x: number): number | null => (Number.isFinite(x) && x !== 0 ? Math.abs(x) : null);

function extremes(
    column: Float64Array,
    from: number,
    to: number,
    read: typeof asIs,
): [number | null, number | null] {
    let least = -1;
    let most = -1;
    for (let i = from; i <= to; i++) {
        const x = read(column[i]);
        if (x === null) continue;
        if (least < 0 || x < (read(column[least]) as number)) least = i;
        if (most < 0 || x > (read(column[most]) as number)) most = i;
    }
    if (least < 0) return [null, null];
    return least < most
        ? [read(column[least]), read(column[most])]
        : [read(column[most]), read(column[least])];
}

// Time and columns for a picture `width` pixels wide; for a logarithmic scale, absolute values.
export function decimate(
    time: Float64Array,
    columns: Float64Array[],
    { first, last }: Window,
    width: number,
    log: boolean,
): [number[], ...Values[]] {
    const read = log ? positive : asIs;
    const rows = last - first + 1;
    const bins = Math.max(1, Math.floor(width));
    if (rows <= 3 * bins) {
        const some = (c: Float64Array): Values => Array.from(c.subarray(first, last + 1), read);
        return [Array.from(time.subarray(first, last + 1)), ...columns.map(some)];
    }
    const t: number[] = [];
    const values: Values[] = columns.map(() => []);
    for (let k = 0; k < bins; k++) {
        const from = first + Math.floor((k * rows) / bins);
        const to = first + Math.floor(((k + 1) * rows) / bins) - 1;
        t.push(time[from], time[to]);
        columns.forEach((column, i) => values[i].push(...extremes(column, from, to, read)));
    }
    return [t, ...values];
}
