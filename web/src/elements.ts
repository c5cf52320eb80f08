// SPDX-License-Identifier: Apache-2.0
// Contacts and loops by name. The one that is chosen, here or in the picture, tells its forces: as
// numbers now, and over time in plots.
import { contactColour } from "./colours";
import { between, type Run } from "./data";
import { find, make } from "./dom";
import { brief } from "./numbers";
import type { Contact, SceneData } from "./report";
import type { Stage } from "./stage";

const NEAR = 16; // [px]
const STILL = 4; // further than this a click is a drag

interface Row {
    column: number; // -1: the run has no such column
    name: string; // of the row, without the element's
    value: HTMLElement;
}

export class Elements {
    private readonly card = find("element");
    private readonly buttons: HTMLButtonElement[];
    private readonly scene: SceneData;
    private readonly force = make("dd");
    private readonly moment = make("dd");
    private chosen: number | null = null;
    private rows: Row[] = [];

    constructor(
        private readonly run: Run,
        private readonly stage: Stage,
        private readonly plot: (columns: number[]) => void,
    ) {
        this.scene = run.report.scene;
        this.buttons = this.scene.contacts.map((contact, i) => this.button(contact, i));
        find("legend").replaceChildren(...this.buttons.map((button) => make("li", {}, button)));
        this.listenToPicture();
    }

    // After the time has changed
    update(): void {
        if (this.chosen === null) return;
        const { t, contacts } = this.stage.state;
        const { row, part } = between(this.run.time, t);
        const next = Math.min(row + 1, this.run.time.length - 1);
        for (const { column, value } of this.rows) {
            const numbers = this.run.columns[column];
            const now = numbers ? numbers[row] + part * (numbers[next] - numbers[row]) : NaN;
            value.textContent = `${brief(now)} ${this.run.report.columns[column]?.unit ?? ""}`;
        }
        const { force, moment } = contacts[this.chosen];
        this.force.textContent = `${brief(force.length())} N`;
        this.moment.textContent = `${brief(moment.length())} N m`;
    }

    private button(contact: Contact, i: number): HTMLButtonElement {
        const kind = make("span", { class: "quiet", text: contact.loop ? contact.kind : "" });
        const button = make(
            "button",
            { type: "button", title: this.words(contact), "aria-pressed": "false" },
            this.swatch(i),
            make("span", { class: "name", text: contact.name }),
            kind,
        );
        button.addEventListener("click", () => this.choose(this.chosen === i ? null : i));
        return button;
    }

    private swatch(i: number): HTMLElement {
        const swatch = make("span", { class: "swatch" });
        swatch.style.background = contactColour(i);
        return swatch;
    }

    private words({ kind, loop, body, on }: Contact): string {
        const name = (i: number): string =>
            i < 0 ? (loop ? "the world" : "the ground") : this.scene.bodies[i].name;
        return `${kind}: force on ${name(body)} from ${name(on)}`;
    }

    private choose(i: number | null): void {
        this.chosen = i;
        this.buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(k === i)));
        this.card.hidden = i === null;
        if (i === null) return;
        const contact = this.scene.contacts[i];
        this.rows = contact.rows.map((row) => ({
            column: this.run.report.columns.findIndex(({ name }) => name === `lambda.${row}`),
            name: row.slice(row.lastIndexOf(".") + 1),
            value: make("dd"),
        }));
        this.fill(contact, i);
        this.update();
    }

    private fill(contact: Contact, i: number): void {
        const list = make("dl", {}, make("dt", { text: "force" }), this.force);
        if (contact.has_moment) list.append(make("dt", { text: "moment" }), this.moment);
        for (const { name, value } of this.rows) list.append(make("dt", { text: name }), value);
        const close = make("button", { type: "button", class: "small", "aria-label": "Close" }, "✕");
        const plot = make("button", { type: "button", class: "small", text: "Plot over time" });
        close.addEventListener("click", () => this.choose(null));
        plot.addEventListener("click", () => this.plotRows());
        plot.disabled = !this.rows.some(({ column }) => column >= 0);
        const header = make("header", {}, this.swatch(i), make("h3", { text: contact.name }), close);
        const words = make("p", { class: "quiet", text: this.words(contact) });
        this.card.replaceChildren(header, words, list, plot);
    }

    // One plot for each unit
    private plotRows(): void {
        const { columns } = this.run.report;
        const known = this.rows.map(({ column }) => column).filter((column) => column >= 0);
        for (const unit of new Set(known.map((column) => columns[column].unit)))
            this.plot(known.filter((column) => columns[column].unit === unit));
    }

    private listenToPicture(): void {
        const canvas = this.stage.renderer.domElement;
        let down: PointerEvent | null = null;
        canvas.addEventListener("pointerdown", (event) => (down = event));
        canvas.addEventListener("pointerup", (event) => {
            const { clientX: x, clientY: y } = event;
            if (!down || Math.hypot(x - down.clientX, y - down.clientY) > STILL) return;
            const found = this.stage.elementAt(x, y, NEAR);
            if (found !== null) this.choose(found);
        });
    }
}
