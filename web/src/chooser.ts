// SPDX-License-Identifier: Apache-2.0
// The dialog that chooses a plot's columns: searched by typing, walked by arrow keys.
import { GROUPS, groupTitle } from "./columns";
import type { Run } from "./data";
import { find, make } from "./dom";

interface Row {
    index: number;
    element: HTMLElement;
    box: HTMLInputElement;
    words: string;
}

export class Chooser {
    private readonly dialog = find<HTMLDialogElement>("chooser");
    private readonly search = find<HTMLInputElement>("chooser-search");
    private readonly groups = find("chooser-groups");
    private readonly count = find("chooser-count");
    private readonly rows: Row[] = [];
    private changed: (columns: number[]) => void = () => undefined;

    constructor(private readonly run: Run) {
        this.build();
        this.search.addEventListener("input", () => this.filter());
        this.dialog.addEventListener("keydown", (event) => this.walk(event));
        this.dialog.addEventListener("click", (event) => {
            if (event.target === this.dialog) this.dialog.close(); // beside it
        });
        find("chooser-clear").addEventListener("click", () => {
            for (const row of this.rows) row.box.checked = false;
            this.report();
        });
    }

    open(chosen: number[], changed: (columns: number[]) => void): void {
        this.changed = changed;
        for (const row of this.rows) row.box.checked = chosen.includes(row.index);
        this.search.value = "";
        this.filter();
        this.tally();
        this.dialog.showModal();
        this.search.focus();
    }

    private build(): void {
        const order = Object.keys(GROUPS);
        const place = (group: string): number =>
            (order.indexOf(group) + order.length + 1) % (order.length + 1);
        const names = [...new Set(this.run.report.columns.map((c) => c.group))].filter(
            (group) => group !== "time",
        );
        names.sort((a, b) => place(a) - place(b));
        for (const name of names) this.groups.append(this.group(name));
    }

    private group(name: string): HTMLElement {
        const set = make("fieldset", {}, make("legend", { text: groupTitle(name) }));
        this.run.report.columns.forEach((column, index) => {
            if (column.group !== name) return;
            const box = make("input", { type: "checkbox" });
            const unit = make("span", { class: "unit", text: column.unit });
            const element = make(
                "label",
                {},
                box,
                make("span", { class: "name", text: column.name }),
                unit,
            );
            box.addEventListener("change", () => this.report());
            this.rows.push({ index, element, box, words: `${column.name} ${name}`.toLowerCase() });
            set.append(element);
        });
        return set;
    }

    // Every word typed has to occur.
    private filter(): void {
        const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
        for (const row of this.rows)
            row.element.hidden = !words.every((word) => row.words.includes(word));
        for (const set of this.groups.children)
            (set as HTMLElement).hidden = !set.querySelector("label:not([hidden])");
        find("chooser-none").hidden = this.rows.some((row) => !row.element.hidden);
    }

    private walk(event: KeyboardEvent): void {
        const boxes = this.rows.filter((row) => !row.element.hidden).map((row) => row.box);
        const at = boxes.indexOf(document.activeElement as HTMLInputElement);
        if (event.key === "ArrowDown") boxes[Math.min(at + 1, boxes.length - 1)]?.focus();
        else if (event.key === "ArrowUp") (at > 0 ? boxes[at - 1] : this.search).focus();
        else if (event.key === "Enter" && at < 0 && document.activeElement === this.search)
            boxes[0]?.click();
        else return;
        event.preventDefault();
    }

    private report(): void {
        this.tally();
        this.changed(
            this.rows
                .filter((row) => row.box.checked)
                .map((row) => row.index)
                .sort((a, b) => a - b),
        );
    }

    private tally(): void {
        const chosen = this.rows.filter((row) => row.box.checked).length;
        this.count.textContent = `${chosen} chosen`;
    }
}
