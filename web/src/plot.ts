// SPDX-License-Identifier: Apache-2.0
// One plot: a card with its curves, their names and values, and two lines of time, where the run
// stands and where the pointer is.
import uPlot from "uplot";
import { evenRange, logRange, timeAxis, valueAxis } from "./axes";
import { titleOf, unitOf, type Choice } from "./columns";
import { lineColour } from "./colours";
import { nearestRow, type Run } from "./data";
import { decimate, windowOf } from "./decimate";
import { bindToggle, make } from "./dom";
import { brief } from "./numbers";

const HEIGHT = 170; // [px]

export interface PlotHost {
    readonly run: Run;
    readonly isDark: boolean;
    readonly range: [number, number]; // of time, on all plots
    readonly t: number;
    seek(t: number): void;
    zoom(from: number, to: number): void;
    resetZoom(): void;
    hover(t: number | null): void;
    choose(plot: Plot): void;
    remove(plot: Plot): void;
}

export class Plot {
    readonly card = make("article", { class: "plot" });
    readonly title = make("h3");
    private readonly chips = make("ul", { class: "chips" });
    private readonly frame = make("div", { class: "plot-frame", role: "img" });
    private readonly now = make("div", { class: "time-line" });
    private readonly pointer = make("div", { class: "hover-line" });
    private readonly logButton = make("button", { class: "small", type: "button", text: "log" });
    private values: HTMLElement[] = [];
    private zeros: number[] = []; // what is only rounding in each column
    private chart: uPlot | null = null;
    private hovered: number | null = null;

    constructor(
        private readonly host: PlotHost,
        public choice: Choice,
    ) {
        const choose = make("button", { class: "small", type: "button", text: "Columns…" });
        const close = make("button", {
            class: "small",
            type: "button",
            "aria-label": "Remove this plot",
            text: "✕",
        });
        choose.classList.add("choose-columns");
        this.logButton.title = "Logarithmic scale, absolute values";
        this.logButton.setAttribute("aria-label", "Logarithmic scale");
        choose.addEventListener("click", () => host.choose(this));
        close.addEventListener("click", () => host.remove(this));
        bindToggle(this.logButton, choice.log, (log) => this.setChoice({ ...this.choice, log }));
        this.card.append(
            make("header", {}, this.title, this.logButton, choose, close),
            this.chips,
            this.frame,
        );
    }

    setChoice(choice: Choice): void {
        this.choice = choice;
        this.logButton.setAttribute("aria-pressed", String(choice.log));
        this.build();
    }

    build(): void {
        const { run } = this.host;
        const { columns } = this.choice;
        this.chart?.destroy();
        this.chart = null;
        this.title.textContent = titleOf(run, columns);
        const names = columns.map((i) => run.report.columns[i].name).join(", ");
        this.frame.setAttribute(
            "aria-label",
            columns.length ? `Plot of ${names} over time` : "Empty plot",
        );
        this.card.setAttribute("aria-label", this.title.textContent);
        this.buildChips();
        this.frame.classList.toggle("empty", !columns.length);
        if (columns.length && this.width > 0) {
            this.chart = new uPlot(this.options(), this.data(), this.frame);
            this.chart.over.append(this.pointer, this.now);
            this.listen(this.chart.over);
        }
        this.showTime();
    }

    // After a change of width or of the range of time.
    refresh(): void {
        if (!this.chart) {
            this.build();
            return;
        }
        if (this.chart.width !== this.width)
            this.chart.setSize({ width: this.width, height: HEIGHT });
        this.chart.setData(this.data(), true);
        this.showTime();
    }

    showTime(): void {
        this.place(this.now, this.host.t);
        if (this.hovered === null) this.showValues(this.host.t);
    }

    showHover(t: number | null): void {
        this.hovered = t;
        this.place(this.pointer, t);
        this.showValues(t ?? this.host.t);
    }

    destroy(): void {
        this.chart?.destroy();
        this.card.remove();
    }

    private get width(): number {
        return this.frame.clientWidth;
    }

    private data(): uPlot.AlignedData {
        const { run, range } = this.host;
        const columns = this.choice.columns.map((i) => run.columns[i]);
        return decimate(
            run.time,
            columns,
            windowOf(run.time, ...range),
            this.width,
            this.choice.log,
        );
    }

    private buildChips(): void {
        const { run, isDark } = this.host;
        this.values = [];
        this.zeros = this.choice.columns.map((index) => 1e-15 * largest(run.columns[index]));
        const chips = this.choice.columns.map((index, k) => {
            const { name, unit } = run.report.columns[index];
            const swatch = make("span", { class: "swatch" });
            swatch.style.background = lineColour(k, isDark);
            const value = make("span", { class: "value" });
            this.values.push(value);
            return make(
                "li",
                { title: unit ? `${name} [${unit}]` : name },
                swatch,
                make("span", { class: "name", text: name }),
                value,
            );
        });
        this.chips.replaceChildren(...chips);
    }

    private showValues(t: number): void {
        const { run } = this.host;
        const row = nearestRow(run.time, t);
        this.choice.columns.forEach((index, k) => {
            const value = run.columns[index][row];
            this.values[k].textContent = brief(Math.abs(value) < this.zeros[k] ? 0 : value);
        });
    }

    private place(line: HTMLElement, t: number | null): void {
        if (!this.chart) return;
        const [from, to] = this.host.range;
        line.hidden = t === null || t < from || t > to;
        if (t !== null)
            line.style.transform = `translateX(${Math.round(this.chart.valToPos(t, "x"))}px)`;
    }

    // A click sets the time, a drag zooms: they differ by how far the pointer went.
    private listen(over: HTMLElement): void {
        const STILL = 4; // [px]
        let downAt = 0;
        const timeAt = (event: MouseEvent): number =>
            (this.chart as uPlot).posToVal(event.clientX - over.getBoundingClientRect().left, "x");
        over.addEventListener("mousedown", (event) => (downAt = event.clientX));
        over.addEventListener("click", (event) => {
            if (Math.abs(event.clientX - downAt) < STILL) this.host.seek(timeAt(event));
        });
        over.addEventListener("mousemove", (event) => this.host.hover(timeAt(event)));
        over.addEventListener("mouseleave", () => this.host.hover(null));
    }

    private options(): uPlot.Options {
        const { host, choice } = this;
        const unit = unitOf(host.run, choice.columns);
        return {
            width: this.width,
            height: HEIGHT,
            padding: [10, 12, 0, 0],
            pxAlign: 0,
            legend: { show: false },
            cursor: {
                x: false,
                y: false,
                points: { show: false },
                drag: { x: true, y: false, setScale: false },
                bind: { dblclick: () => () => (host.resetZoom(), null) },
            },
            // Only then are its scales known
            hooks: { ready: [() => this.showTime()], setSelect: [(u) => this.selected(u)] },
            scales: {
                x: { time: false, range: () => host.range },
                y: choice.log ? { distr: 3, log: 10, range: logRange } : { range: evenRange },
            },
            axes: [timeAxis(), valueAxis(unit, choice.log)],
            series: [{}, ...choice.columns.map((_, k) => this.curve(k))],
        };
    }

    private curve(k: number): uPlot.Series {
        return {
            stroke: lineColour(k, this.host.isDark),
            width: 1.6,
            pxAlign: 0,
            points: { show: false },
        };
    }

    private selected(u: uPlot): void {
        const { left, width } = u.select;
        if (width < 4) return;
        const [from, to] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        this.host.zoom(from, to);
    }
}

function largest(column: Float64Array): number {
    let most = 0;
    for (const x of column) if (Math.abs(x) > most && Number.isFinite(x)) most = Math.abs(x);
    return most;
}
