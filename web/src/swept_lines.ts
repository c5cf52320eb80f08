// SPDX-License-Identifier: Apache-2.0
// Runs as lines across parallel axes, one for each column: what is varied on the left, what came of it
// on the right. Thick lines are runs that can be shown.
import { style } from "./dom";
import { brief } from "./numbers";
import { scaleOf, Sheet, type Scale } from "./sheet";
import type { Sweep, SweptRun } from "./swept";

const APART = 75; // axes, at least [px]
const NEAR = 6; // [px]

export class Lines {
    private readonly sheet = new Sheet("sweep-lines", 240);
    private scales: Scale[] = [];

    constructor(
        private readonly sweep: Sweep,
        show: (number: number) => void,
    ) {
        this.sheet.canvas.addEventListener("click", (event) => {
            const run = this.nearest(event);
            if (run) show(run.number);
        });
        addEventListener("resize", () => this.draw());
    }

    draw(): void {
        const context = this.sheet.begin();
        if (!context) return;
        const { names, runs, current, varied, kept } = this.sweep;
        const count = Math.min(varied + kept, Math.max(2, Math.floor(this.sheet.width / APART)));
        this.scales = names
            .slice(0, count)
            .map((_, i) => scaleOf(runs.map(({ values }) => values[i]), this.sheet.height - 22, 34));
        this.drawAxes(context);
        context.strokeStyle = style("--accent");
        const thin = Math.max(0.04, Math.min(0.5, 60 / runs.length));
        for (const run of runs) this.drawRun(context, run, run.isShown ? 0.7 : thin, run.isShown ? 1.4 : 0.7);
        const shown = runs.find(({ number }) => number === current);
        context.strokeStyle = style("--text");
        if (shown) this.drawRun(context, shown, 1, 2.5);
    }

    private across(i: number): number {
        const room = this.sheet.width - 80;
        return 40 + (this.scales.length > 1 ? (room * i) / (this.scales.length - 1) : 0);
    }

    private drawAxes(context: CanvasRenderingContext2D): void {
        context.textAlign = "center";
        this.scales.forEach((scale, i) => {
            const x = this.across(i);
            const name = this.sweep.names[i];
            context.globalAlpha = 0.25;
            context.fillRect(x, 34, 1, this.sheet.height - 56);
            context.globalAlpha = 0.85;
            context.fillText(name.length > 12 ? `${name.slice(0, 11)}…` : name, x, 12);
            context.fillText(brief(scale.high), x, 28);
            context.fillText(brief(scale.low), x, this.sheet.height - 8);
        });
        context.globalAlpha = 1;
    }

    private drawRun(context: CanvasRenderingContext2D, run: SweptRun, alpha: number, width: number): void {
        context.globalAlpha = alpha;
        context.lineWidth = width;
        context.beginPath();
        let isDrawing = false; // a number that there is none of leaves a gap
        this.scales.forEach((scale, i) => {
            const y = scale.at(run.values[i]);
            if (isDrawing && Number.isFinite(y)) context.lineTo(this.across(i), y);
            else if (Number.isFinite(y)) context.moveTo(this.across(i), y);
            isDrawing = Number.isFinite(y);
        });
        context.stroke();
        context.globalAlpha = 1;
    }

    // Of those that can be shown, by the distance where the pointer is
    private nearest(event: MouseEvent): SweptRun | null {
        const [x, y] = this.sheet.pointer(event);
        let best: SweptRun | null = null;
        let least = NEAR;
        for (const run of this.sweep.runs) {
            if (!run.isShown) continue;
            for (let i = 0; i + 1 < this.scales.length; i++) {
                const part = (x - this.across(i)) / (this.across(i + 1) - this.across(i));
                if (part < 0 || part > 1) continue;
                const from = this.scales[i].at(run.values[i]);
                const to = this.scales[i + 1].at(run.values[i + 1]);
                const away = Math.abs(from + part * (to - from) - y);
                if (!(away < least)) continue;
                least = away;
                best = run;
            }
        }
        return best;
    }
}
