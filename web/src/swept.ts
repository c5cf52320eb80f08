// SPDX-License-Identifier: Apache-2.0
// The runs of a sweep: what each has and what came of it. The page shows one of those that were
// recorded; its address says which, so that another one is shown by loading the page anew.
import { find, make } from "./dom";
import { Lines } from "./swept_lines";
import { Points } from "./swept_points";
import { Table } from "./swept_table";

// As the program writes it: runs are lists of their number, the columns, and how they ended
interface Written {
    file: string;
    all: number;
    varied: number; // of the columns: the first so many
    kept: number; // and those behind them; then how the run went
    shown: number[]; // the numbers of those that the page has
    names: string[];
    runs: (number | string | null)[][];
}

export interface SweptRun {
    number: number;
    values: number[]; // NaN where there is none
    status: string; // ok, stopped, failed
    isShown: boolean; // the page has its rows
}

export interface Sweep {
    file: string;
    all: number;
    varied: number;
    kept: number;
    shown: number[];
    names: string[];
    runs: SweptRun[];
    current: number; // the run that is shown; -1: none can be
}

const address = (): URLSearchParams => new URLSearchParams(location.hash.slice(1));

export function readSweep(): Sweep | null {
    const element = document.getElementById("sweep");
    if (!element) return null;
    const { file, all, varied, kept, shown, names, runs } = JSON.parse(element.textContent ?? "") as Written;
    element.remove();
    const wanted = Number(address().get("run") ?? Number.NaN);
    const isThere = new Set(shown);
    return {
        file,
        all,
        varied,
        kept,
        shown,
        names,
        current: isThere.has(wanted) ? wanted : (shown[0] ?? -1),
        runs: runs.map((run) => ({
            number: run[0] as number,
            values: run.slice(1, -1).map((value) => (value === null ? Number.NaN : (value as number))),
            status: run[run.length - 1] as string,
            isShown: isThere.has(run[0] as number),
        })),
    };
}

// Which of the page's reports that is
export const shownIndex = (sweep: Sweep | null): number =>
    sweep ? sweep.shown.indexOf(sweep.current) : 0;

function show(number: number): void {
    const words = address();
    words.set("run", String(number));
    location.hash = words.toString();
    location.reload();
}

export function describeRun(sweep: Sweep, run: SweptRun): string {
    const words = sweep.names
        .map((name, i) => `${name} = ${run.values[i]}`)
        .filter((_, i) => !Number.isNaN(run.values[i]))
        .slice(0, 6);
    const end = run.status === "ok" ? "" : `, ${run.status}`;
    return `run ${run.number}${end}: ${words.join(", ")}`;
}

export class Swept {
    private readonly parts: { draw(): void }[] = [];

    constructor(private readonly sweep: Sweep | null) {
        find("tab-sweep").hidden = !sweep;
        if (!sweep) return;
        const axis = (id: string, column: number): HTMLSelectElement => this.fillAxis(id, column);
        const first = Math.min(sweep.varied, sweep.names.length - 1);
        this.parts.push(
            new Points(sweep, axis("sweep-x", 0), axis("sweep-y", first), axis("sweep-colour", -1), show),
            new Lines(sweep, show),
            new Table(sweep, show),
        );
        const shown = sweep.shown.length
            ? `${sweep.shown.length} of them can be shown: click a ring, a thick line or a number.`
            : "None of them was recorded, so none can be seen to move.";
        find("sweep-words").textContent =
            sweep.runs.length < sweep.all
                ? `${sweep.runs.length} of ${sweep.all} runs of ${sweep.file}. ${shown}`
                : `${sweep.all} runs of ${sweep.file}. ${shown}`;
    }

    // When it is looked at, or the colours change
    draw(): void {
        for (const part of this.parts) part.draw();
    }

    // What an axis may be; it is remembered in the page's address.
    private fillAxis(id: string, column: number): HTMLSelectElement {
        const select = find<HTMLSelectElement>(id);
        const names = this.sweep?.names ?? [];
        const items = names.map((name, i) => make("option", { value: String(i), text: name }));
        if (column < 0) items.unshift(make("option", { value: "-1", text: "nothing" }));
        select.replaceChildren(...items);
        const wanted = names.indexOf(address().get(id) ?? "");
        select.value = String(wanted < 0 ? column : wanted);
        select.addEventListener("change", () => {
            const words = address();
            words.set(id, names[Number(select.value)] ?? "");
            history.replaceState(null, "", `#${words}`);
            this.draw();
        });
        return select;
    }
}
