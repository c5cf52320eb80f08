// SPDX-License-Identifier: Apache-2.0
// All plots: they share the range of time, the time cursor and the pointer.
import { Chooser } from "./chooser";
import { initialChoices, suitsLog } from "./columns";
import type { Run } from "./data";
import { find, make } from "./dom";
import { Plot, type PlotHost } from "./plot";
import type { Player } from "./player";
import { isDark } from "./theme";

const AT_ONCE = 3; // plots

export class Plots implements PlotHost {
    range: [number, number];
    private readonly plots: Plot[] = [];
    private readonly list = find("plots");
    private readonly unzoom = find("reset-zoom");
    private readonly chooser: Chooser;
    private width = 0;
    axisWidth = 0; // of the numbers beside all plots [px]

    constructor(
        readonly runs: Run[],
        private readonly player: Player,
    ) {
        this.range = this.wholeTime();
        this.chooser = new Chooser(this.run);
        for (const choice of initialChoices(this.run)) this.append(new Plot(this, choice));
        find("add-plot").addEventListener("click", () => this.add());
        this.unzoom.addEventListener("click", () => this.resetZoom());
        new ResizeObserver(() => this.resized()).observe(this.list);
        player.onMove(() => this.showTime());
    }

    get run(): Run {
        return this.runs[0];
    }

    get isDark(): boolean {
        return isDark();
    }

    get t(): number {
        return this.player.t;
    }

    rebuild(): void {
        for (const plot of this.plots) plot.build();
    }

    seek(t: number): void {
        this.player.seek(t);
    }

    zoom(from: number, to: number): void {
        const first = Math.max(this.player.start, from);
        const last = Math.min(this.player.end, to);
        if (last - first > 1e-9 * Math.max(Math.abs(first), Math.abs(last)))
            this.setRange(first, last);
    }

    resetZoom(): void {
        this.setRange(...this.wholeTime());
    }

    hover(t: number | null): void {
        for (const plot of this.plots) plot.showHover(t);
    }

    choose(plot: Plot): void {
        const { choice } = plot;
        this.chooser.open(choice.columns, (columns) => {
            const log = choice.columns.length ? plot.choice.log : suitsLog(this.run, columns);
            plot.setChoice({ columns, log });
        });
    }

    remove(plot: Plot): void {
        this.plots.splice(this.plots.indexOf(plot), 1);
        plot.destroy();
        this.align();
        find("add-plot").focus();
    }

    // A plot of these columns, unless there is one.
    show(columns: number[]): void {
        const isSame = ({ choice }: Plot): boolean => choice.columns.join() === columns.join();
        let plot = this.plots.find(isSame);
        if (!plot) {
            plot = new Plot(this, { columns, log: false });
            this.append(plot);
            plot.build();
        }
        plot.card.scrollIntoView({ block: "nearest" });
    }

    // After a plot has been drawn: the widest numbers decide where all begin, so that a time is at one
    // place on the screen.
    align(): void {
        const widest = this.plots.reduce((most, plot) => Math.max(most, plot.numbersWidth), 0);
        if (widest === this.axisWidth) return;
        this.axisWidth = widest;
        // Not while one is drawn: that one would not hear of it.
        queueMicrotask(() => this.plots.forEach((plot) => plot.redraw()));
    }

    // A run of one row still has an axis.
    private wholeTime(): [number, number] {
        const { start, end } = this.player;
        return [start, end > start ? end : start + Math.max(1, Math.abs(start))];
    }

    private add(): void {
        const plot = new Plot(this, { columns: [], log: false });
        this.append(plot);
        plot.build();
        plot.card.scrollIntoView({ block: "nearest" });
        this.choose(plot);
    }

    private append(plot: Plot): void {
        this.plots.push(plot);
        this.list.append(make("li", {}, plot.card));
    }

    private setRange(from: number, to: number): void {
        this.range = [from, to];
        this.unzoom.hidden = from <= this.player.start && to >= this.player.end;
        for (const plot of this.plots) plot.refresh();
    }

    private showTime(): void {
        if (this.width) for (const plot of this.plots) plot.showTime();
    }

    private resized(): void {
        if (this.list.clientWidth === this.width) return;
        this.width = this.list.clientWidth;
        if (this.width) this.refreshFrom(0);
    }

    // Those that are seen first are drawn at once, the rest when the page has been shown.
    private refreshFrom(first: number): void {
        for (const plot of this.plots.slice(first, first + AT_ONCE)) plot.refresh();
        if (first + AT_ONCE < this.plots.length)
            setTimeout(() => this.refreshFrom(first + AT_ONCE), 0);
    }
}
