// SPDX-License-Identifier: Apache-2.0
// Which columns go together in a plot, to begin with.
import type { Run } from "./data";
import type { Column } from "./report";

export interface Choice {
    columns: number[]; // indices
    log: boolean;
}

export const GROUPS: Record<string, string> = {
    outputs: "Outputs",
    coordinates: "Coordinates",
    velocities: "Rates",
    forces: "Forces",
    torques: "Torques",
    contacts: "Contact points",
    energy: "Energy",
    residuals: "Residuals",
    time: "Time",
};

export const groupTitle = (group: string): string => GROUPS[group] ?? group;

const MOST = 5; // curves in a plot
const THIN = 0.1; // a curve lower than this part of the plot cannot be read
const CROWDED = 2.5; // a plot may be this much taller than its largest curve

interface Extent {
    index: number;
    column: Column;
    size: number; // largest absolute value
    least: number;
    most: number;
}

function extent(run: Run, index: number): Extent {
    let least = Infinity;
    let most = -Infinity;
    for (const x of run.columns[index]) {
        if (!Number.isFinite(x)) continue;
        if (x < least) least = x;
        if (x > most) most = x;
    }
    const size = Math.max(Math.abs(least), Math.abs(most));
    return { index, column: run.report.columns[index], size, least, most };
}

// Columns that move, judged against the largest of their group: rounding is not motion.
function moving(run: Run, group: string): Extent[] {
    const all = run.report.columns
        .map((column, i) => ({ column, i }))
        .filter(({ column }) => column.group === group)
        .map(({ i }) => extent(run, i))
        .filter((e) => Number.isFinite(e.size));
    const largest = Math.max(0, ...all.map((e) => e.size));
    return all.filter((e) => range(e) > 1e-9 * largest);
}

// The first column, and those of its unit that can be read on one scale with it; then the same
// with the rest.
function families(extents: Extent[]): number[][] {
    const result: number[][] = [];
    let rest = extents;
    while (rest.length) {
        const family = [rest[0]];
        for (const e of rest.slice(1)) if (family.length < MOST && fits(family, e)) family.push(e);
        result.push(family.map((e) => e.index));
        rest = rest.filter((e) => !family.includes(e));
    }
    return result;
}

const range = (e: Extent): number => e.most - e.least;

function fits(family: Extent[], e: Extent): boolean {
    const all = [...family, e];
    const height =
        Math.max(...all.map(({ most }) => most)) - Math.min(...all.map(({ least }) => least));
    const ranges = all.map(range);
    const least = Math.min(...ranges.filter((r) => r > 0)); // what stands still is read as a line
    return (
        e.column.unit === family[0].column.unit &&
        least > THIN * height &&
        height < CROWDED * Math.max(...ranges)
    );
}

const OUTPUT_PLOTS = 12; // at most, to begin with

const isQuaternion = (e: Extent): boolean => /\.q[wxyz]$/.test(e.column.name);

// What the model declares, in the order in which it does; what stands still, too.
function declared(run: Run): number[][] {
    const all = run.report.columns
        .map((_, i) => i)
        .filter((i) => run.report.columns[i].group === "outputs")
        .map((i) => extent(run, i))
        .filter((e) => Number.isFinite(e.size));
    return families(all).slice(0, OUTPUT_PLOTS);
}

// What moves most of a group, and what can be read beside it.
function most(run: Run, group: string): number[] {
    const all = moving(run, group).filter((e) => !isQuaternion(e));
    all.sort((a, b) => range(b) - range(a));
    return families(all)[0] ?? [];
}

// Forces of contacts upright to the ground come first, whatever their scale, then what else there is.
function forces(run: Run): number[] {
    const upright = moving(run, "forces").filter((e) => /\.Fz$/.test(e.column.name));
    if (upright.length) return upright.slice(0, MOST).map((e) => e.index);
    const some = most(run, "forces");
    return some.length ? some : most(run, "torques");
}

const first = (run: Run, group: string): number[] =>
    moving(run, group)
        .map((e) => e.index)
        .slice(0, MOST);

// The outputs that the model declares, then what moves most.
export function initialChoices(run: Run): Choice[] {
    const choices: Choice[] = [
        ...declared(run).map((columns) => ({ columns, log: false })),
        { columns: most(run, "coordinates"), log: false },
        { columns: most(run, "velocities"), log: false },
        { columns: forces(run), log: false },
        { columns: first(run, "energy"), log: false },
        { columns: first(run, "residuals"), log: true },
    ].filter((choice) => choice.columns.length > 0);
    if (choices.length) return choices;
    return run.columns.length > 1 ? [{ columns: [1], log: false }] : [];
}

// Residuals go over several orders of magnitude: better seen on a logarithmic scale.
export function suitsLog(run: Run, columns: number[]): boolean {
    return columns.length > 0 && columns.every((i) => run.report.columns[i].group === "residuals");
}

export function titleOf(run: Run, columns: number[]): string {
    const groups = [...new Set(columns.map((i) => groupTitle(run.report.columns[i].group)))];
    return groups.join(", ") || "Empty plot";
}

export function unitOf(run: Run, columns: number[]): string {
    return [...new Set(columns.map((i) => run.report.columns[i].unit).filter(Boolean))].join(", ");
}
