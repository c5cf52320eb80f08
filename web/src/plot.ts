// SPDX-License-Identifier: Apache-2.0
// One plot: a card with its curves, their names and values, and two lines of time, where the run
// stands and where the pointer is.
import uPlot from "uplot";
import { evenRange, logRange, timeAxis, valueAxis } from "./axes";
import { titleOf, unitOf, type Choice } from "./columns";
import { lineColour, runColour } from "./colours";
import { columnCalled, nearestRow, type Run } from "./data";
import { decimate, windowOf } from "./decimate";
import { bindToggle, make } from "./dom";
import { brief } from "./numbers";

const HEIGHT = 170; // [px]

export interface PlotHost {
    readonly run: Run; // the first: columns are its
    readonly runs: Run[];
    readonly axisWidth: number; // of the numbers beside all plots [px]
    align(): void;
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

// A column of a run
interface Curve {
    run: Run;
    name: string;
    unit: string;
    values: Float64Array;
    colour: string;
    dash: number[]; // of the line; empty: it has none
    zero: number; // what is only rounding
    shown: HTMLElement; // its value at a time
}

const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]]; // of runs

export class Plot {
    readonly card = make("article", { class: "plot" });
    readonly title = make("h3");
    private readonly chips = make("ul", { class: "chips" });
    private readonly frame = make("div", { class: "plot-frame", role: "img" });
    private readonly now = make("div", { class: "time-line" });
    private readonly pointer = make("div", { class: "hover-line" });
    private readonly logButton = make("button", { class: "small", type: "button", text: "log" });
    private curves: Curve[] = [];
    numbersWidth = 0; // what its own numbers need [px]
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
        this.buildCurves();
        this.numbersWidth = 0;
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

    // After the others have asked for another width beside them
    redraw(): void {
        this.chart?.redraw(false, true);
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

    // Each run has times of its own: what another has between them is left out of its curve.
    private data(): uPlot.AlignedData {
        const { runs, range } = this.host;
        const tables = runs.map((run) => {
            const columns = this.curves.filter((curve) => curve.run === run).map((c) => c.values);
            return columns.length
                ? decimate(run.time, columns, windowOf(run.time, ...range), this.width, this.choice.log)
                : null;
        });
        const some = tables.filter((table) => table !== null);
        return some.length > 1 ? uPlot.join(some as uPlot.AlignedData[]) : some[0];
    }

    // One column has a colour for each run, several have one each, and lines by run.
    private buildCurves(): void {
        const { runs, run: first, isDark } = this.host;
        const { columns } = this.choice;
        this.curves = runs.flatMap((run, r) =>
            columns.flatMap((index, k) => {
                const { name, unit } = first.report.columns[index];
                const values = r ? columnCalled(run, name) : run.columns[index];
                if (!values) return [];
                const colour =
                    columns.length === 1 && runs.length > 1 ? runColour(r) : lineColour(k, isDark);
                const title = runs.length > 1 ? run.report.label : undefined;
                const shown = make("span", { class: "value", title });
                const dash = DASHES[r % DASHES.length];
                const zero = 1e-15 * largest(values);
                return [{ run, name, unit, values, colour, dash, zero, shown }];
            }),
        );
        this.buildChips();
    }

    // One column has a chip for each run, with its name; several have one each, with the values of all
    // runs in their order.
    private buildChips(): void {
        const alone = this.choice.columns.length === 1 && this.host.runs.length > 1;
        const groups = new Map<string, Curve[]>();
        for (const curve of this.curves) {
            const key = alone ? curve.run.report.label : curve.name;
            groups.set(key, [...(groups.get(key) ?? []), curve]);
        }
        const chips = [...groups.values()].map((curves) => this.chip(curves, alone));
        this.chips.replaceChildren(...chips);
    }

    private chip(curves: Curve[], alone: boolean): HTMLElement {
        const [{ run, name, unit, colour, dash }] = curves;
        const swatch = make("span", { class: alone && dash.length ? "swatch dashed" : "swatch" });
        swatch.style.setProperty("--colour", colour);
        return make(
            "li",
            { title: unit ? `${name} [${unit}]` : name },
            swatch,
            make("span", { class: "name", text: name }),
            ...(alone ? [make("span", { class: "run", text: run.report.label })] : []),
            ...curves.map(({ shown }) => shown),
        );
    }

    private showValues(t: number): void {
        for (const { run, values, zero, shown } of this.curves) {
            const value = values[nearestRow(run.time, t)];
            shown.textContent = brief(Math.abs(value) < zero ? 0 : value);
        }
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
            hooks: { draw: [() => this.drawn()], setSelect: [(u) => this.selected(u)] },
            scales: {
                x: { time: false, range: () => host.range },
                y: choice.log ? { distr: 3, log: 10, range: logRange } : { range: evenRange },
            },
            axes: [timeAxis(), valueAxis(unit, choice.log, (width) => this.reserve(width))],
            series: [{}, ...this.curves.map((curve) => this.series(curve))],
        };
    }

    private drawn(): void {
        this.place(this.now, this.host.t);
        this.place(this.pointer, this.hovered);
        this.host.align();
    }

    // Notes what the numbers need, and gives what all plots have.
    private reserve(width: number): number {
        this.numbersWidth = width;
        return Math.max(width, this.host.axisWidth);
    }

    private series({ colour, dash }: Curve): uPlot.Series {
        return { stroke: colour, width: 1.6, dash, pxAlign: 0, points: { show: false } };
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
