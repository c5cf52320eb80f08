// SPDX-License-Identifier: Apache-2.0
// Runs as points: a column against another, in the colours of a third. Rings are runs that can be
// shown, the full one is.
import { find, style } from "./dom";
import { brief } from "./numbers";
import { scaleOf, Sheet, ticksOf, type Scale } from "./sheet";
import { describeRun, type Sweep, type SweptRun } from "./swept";

const NEAR = 14; // [px] to the pointer
const LEFT = 58; // of the picture, for numbers [px]
const BELOW = 26;

export class Points {
    private readonly sheet = new Sheet("sweep-points", 300);
    private places: { run: SweptRun; x: number; y: number }[] = [];

    constructor(
        private readonly sweep: Sweep,
        private readonly x: HTMLSelectElement,
        private readonly y: HTMLSelectElement,
        private readonly colour: HTMLSelectElement,
        show: (number: number) => void,
    ) {
        const { canvas } = this.sheet;
        canvas.addEventListener("mousemove", (event) => {
            const run = this.nearest(event, false);
            find("sweep-pointed").textContent = run ? describeRun(sweep, run) : "";
            canvas.style.cursor = run?.isShown ? "pointer" : "";
        });
        canvas.addEventListener("click", (event) => {
            const run = this.nearest(event, true);
            if (run) show(run.number);
        });
        addEventListener("resize", () => this.draw());
    }

    draw(): void {
        const context = this.sheet.begin();
        if (!context) return;
        const { width, height } = this.sheet;
        const across = this.column(this.x);
        const up = this.column(this.y);
        const x = scaleOf(across, LEFT, width - 8);
        const y = scaleOf(up, height - BELOW, 8);
        this.drawAxes(context, x, y);
        const shade = this.shades();
        this.places = this.sweep.runs.map((run, i) => ({ run, x: x.at(across[i]), y: y.at(up[i]) }));
        this.places.forEach(({ run, x: px, y: py }, i) => {
            context.fillStyle = run.status === "failed" ? style("--bad") || "#d1495b" : shade(i);
            context.beginPath();
            context.arc(px, py, run.isShown ? 4 : 2, 0, 2 * Math.PI);
            if (!run.isShown || run.number === this.sweep.current) context.fill();
            context.strokeStyle = context.fillStyle;
            if (run.isShown) context.stroke();
        });
    }

    private column(select: HTMLSelectElement): number[] {
        const i = Number(select.value);
        return this.sweep.runs.map(({ values }) => values[i]);
    }

    private shades(): (i: number) => string {
        if (Number(this.colour.value) < 0) {
            const accent = style("--accent");
            return () => accent;
        }
        const values = this.column(this.colour);
        const part = scaleOf(values, 0, 1);
        return (i) => `hsl(${Math.round(230 - 200 * (part.at(values[i]) || 0))} 75% 50%)`;
    }

    private drawAxes(context: CanvasRenderingContext2D, x: Scale, y: Scale): void {
        const { width, height } = this.sheet;
        context.globalAlpha = 0.75;
        context.textAlign = "center";
        for (const tick of ticksOf(x)) context.fillText(brief(tick), x.at(tick), height - 10);
        context.textAlign = "right";
        for (const tick of ticksOf(y)) context.fillText(brief(tick), LEFT - 6, y.at(tick) + 4);
        context.globalAlpha = 0.15;
        for (const tick of ticksOf(x)) context.fillRect(x.at(tick), 8, 1, height - BELOW - 8);
        for (const tick of ticksOf(y)) context.fillRect(LEFT, y.at(tick), width - LEFT - 8, 1);
        context.globalAlpha = 1;
    }

    private nearest(event: MouseEvent, shownAlone: boolean): SweptRun | null {
        const [x, y] = this.sheet.pointer(event);
        let best: SweptRun | null = null;
        let least = NEAR;
        for (const place of this.places) {
            const away = Math.hypot(place.x - x, place.y - y) + (place.run.isShown ? 0 : 4);
            if (!(away < least) || (shownAlone && !place.run.isShown)) continue;
            least = away;
            best = place.run;
        }
        return best;
    }
}
