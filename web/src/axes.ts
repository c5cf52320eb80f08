// SPDX-License-Identifier: Apache-2.0
// Scales and axes of plots: ranges that can be numbered, and their numbers.
import type uPlot from "uplot";
import { style } from "./dom";
import { brief } from "./numbers";

const font = (): string => `11px ${style("--font")}`;

function baseAxis(): uPlot.Axis {
    return {
        font: font(),
        stroke: style("--muted"),
        grid: { stroke: style("--plot-grid"), width: 1 },
        ticks: { show: false },
    };
}

export function timeAxis(): uPlot.Axis {
    return { ...baseAxis(), size: 26, gap: 6, values: seconds };
}

// Axes can be numbered only where doubles can tell the numbers apart, and not beyond all measure.
const FINEST = 1e-10; // of the size of the numbers
const SMALLEST = 1e-30;
const LARGEST = 1e30;

export function evenRange(_: uPlot, least: number | null, most: number | null): [number, number] {
    const low = Math.max(-LARGEST, least ?? 0);
    const high = Math.min(LARGEST, most ?? 0);
    const size = Math.max(Math.abs(low), Math.abs(high));
    if (!(high - low > Math.max(FINEST * size, SMALLEST))) {
        const room = size > SMALLEST ? 0.1 * size : 1;
        return [low - room, high + room];
    }
    const room = 0.08 * (high - low);
    return [low - room, high + room];
}

// Whole powers of ten, sixteen of them at most.
export function logRange(_: uPlot, least: number | null, most: number | null): [number, number] {
    const high = Math.min(LARGEST, Math.max(SMALLEST, most ?? 1));
    const low = Math.max(least ?? 0.1 * high, 1e-16 * high);
    const top = Math.ceil(Math.log10(high) + 1e-9);
    return [10 ** Math.min(Math.floor(Math.log10(low)), top - 1), 10 ** top];
}

// Five intervals at most; not left to the library, which counts on without end below 1e-32.
function logSplits(_: uPlot, __: number, least: number, most: number): number[] {
    const first = Math.round(Math.log10(least));
    const last = Math.round(Math.log10(most));
    const step = Math.max(1, Math.ceil((last - first) / 5));
    const splits: number[] = [];
    for (let exponent = first; exponent <= last; exponent += step)
        splits.push(Number(`1e${exponent}`));
    return splits;
}

// The last number carries the unit.
const seconds = (_: uPlot, splits: number[]): string[] =>
    splits.map((v, i) => (i === splits.length - 1 ? `${brief(v, 7)} s` : brief(v, 7)));

// Numbers, and what is beside them: a unit or none, it takes the same room.
const LABEL = 18; // [px]

// `reserve` hears how wide the longest number is, and says how wide they all may be.
export function valueAxis(
    unit: string,
    log: boolean,
    reserve: (width: number) => number,
): uPlot.Axis {
    return {
        ...baseAxis(),
        ...(log ? { splits: logSplits, filter: (_: uPlot, splits: number[]) => splits } : {}),
        gap: 6,
        label: unit ? `[${unit}]` : " ",
        labelFont: font(),
        labelSize: LABEL,
        labelGap: 0,
        values: (_, splits) => splits.map((v) => (v === null ? "" : brief(v, 6))),
        size: (u, values) => {
            const longest = (values ?? []).reduce((a, b) => (b && b.length > a.length ? b : a), "");
            u.ctx.font = font();
            return reserve(Math.max(38, Math.ceil(u.ctx.measureText(longest).width) + 14));
        },
    };
}
