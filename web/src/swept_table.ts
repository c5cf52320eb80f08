// SPDX-License-Identifier: Apache-2.0
// Runs as a table, by any column; the numbers of those that can be shown are buttons.
import { find, make } from "./dom";
import { brief } from "./numbers";
import type { Sweep, SweptRun } from "./swept";

const MOST = 200; // rows

export class Table {
    private by = -1; // column; -1: the number of the run
    private isDown = false;

    constructor(
        private readonly sweep: Sweep,
        private readonly show: (number: number) => void,
    ) {}

    draw(): void {
        const value = (run: SweptRun): number => (this.by < 0 ? run.number : run.values[this.by]);
        const way = this.isDown ? -1 : 1;
        const runs = [...this.sweep.runs].sort((a, b) => {
            const [p, q] = [value(a), value(b)];
            if (Number.isNaN(p) || Number.isNaN(q)) return Number(Number.isNaN(p)) - Number(Number.isNaN(q));
            return way * (p - q);
        });
        const head = ["run", ...this.sweep.names, "status"].map((name, i) => this.heading(name, i - 1));
        const rows = runs.slice(0, MOST).map((run) => this.row(run));
        find("sweep-table").replaceChildren(
            make("thead", {}, make("tr", {}, ...head)),
            make("tbody", {}, ...rows),
        );
        find("sweep-rest").textContent = runs.length > MOST ? `The first ${MOST} of ${runs.length}.` : "";
    }

    private heading(name: string, column: number): HTMLElement {
        if (column >= this.sweep.names.length) return make("th", { scope: "col", text: name });
        const mark = column === this.by ? (this.isDown ? " ▾" : " ▴") : "";
        const button = make("button", { type: "button", text: name + mark, title: "Sort by this" });
        button.addEventListener("click", () => {
            this.isDown = column === this.by && !this.isDown;
            this.by = column;
            this.draw();
        });
        return make("th", { scope: "col" }, button);
    }

    private row(run: SweptRun): HTMLElement {
        const number = make("td");
        if (run.isShown) {
            const button = make("button", { type: "button", text: String(run.number), title: "Show this run" });
            button.addEventListener("click", () => this.show(run.number));
            number.append(button);
        } else number.textContent = String(run.number);
        const values = run.values.map((value) =>
            make("td", { text: Number.isNaN(value) ? "" : brief(value), title: String(value) }),
        );
        const isCurrent = run.number === this.sweep.current;
        const row = make("tr", { class: isCurrent ? "current" : undefined }, number, ...values);
        row.append(make("td", { text: run.status }));
        return row;
    }
}
