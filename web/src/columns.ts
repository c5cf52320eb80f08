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
    const isReadable = Math.min(...ranges) > THIN * height;
    return (
        e.column.unit === family[0].column.unit &&
        isReadable &&
        height < CROWDED * Math.max(...ranges)
    );
}

// The plot that says most about a group: of its first families the one with most curves.
function best(extents: Extent[]): number[] {
    const candidates = families(extents).slice(0, 4);
    return candidates.reduce((a, b) => (b.length > a.length ? b : a), candidates[0] ?? []);
}

const isQuaternion = (e: Extent): boolean => /\.q[wxyz]$/.test(e.column.name);

function angles(run: Run): number[] {
    const outputs = best(moving(run, "outputs"));
    if (outputs.length > 1) return outputs;
    const coordinates = best(moving(run, "coordinates").filter((e) => !isQuaternion(e)));
    return coordinates.length > outputs.length ? coordinates : outputs;
}

// Forces of contacts upright to the ground come first, whatever their scale, then what else there is.
function forces(run: Run): number[] {
    const all = moving(run, "forces");
    const upright = all.filter((e) => /\.Fz$/.test(e.column.name));
    if (upright.length) return upright.slice(0, MOST).map((e) => e.index);
    return best(all.length ? all : moving(run, "torques"));
}

function energies(run: Run): number[] {
    return moving(run, "energy")
        .map((e) => e.index)
        .slice(0, MOST);
}

function residuals(run: Run): number[] {
    return moving(run, "residuals")
        .map((e) => e.index)
        .slice(0, MOST);
}

export function initialChoices(run: Run): Choice[] {
    const choices: Choice[] = [
        { columns: angles(run), log: false },
        { columns: best(moving(run, "velocities")), log: false },
        { columns: forces(run), log: false },
        { columns: energies(run), log: false },
        { columns: residuals(run), log: true },
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
