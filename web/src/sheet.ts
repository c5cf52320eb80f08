// SPDX-License-Identifier: Apache-2.0
// A canvas to draw numbers on: as sharp as the screen, in the page's colours.
import { find, style } from "./dom";

export interface Scale {
    low: number;
    high: number;
    at(value: number): number; // [px]
}

// Over all that is finite, with a little room at both ends
export function scaleOf(values: number[], from: number, to: number): Scale {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (const value of values) {
        if (!Number.isFinite(value)) continue;
        low = Math.min(low, value);
        high = Math.max(high, value);
    }
    if (!(low <= high)) [low, high] = [0, 1];
    if (low === high) [low, high] = [low - Math.max(1, Math.abs(low)) / 2, high + Math.max(1, Math.abs(high)) / 2];
    const room = 0.03 * (high - low);
    low -= room;
    high += room;
    return { low, high, at: (value) => from + ((to - from) * (value - low)) / (high - low) };
}

// Round numbers between the ends, five or so
export function ticksOf({ low, high }: Scale): number[] {
    const rough = (high - low) / 5;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((size) => size >= rough) ?? power;
    const ticks: number[] = [];
    for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(i * step);
    return ticks;
}

export class Sheet {
    readonly canvas: HTMLCanvasElement;
    width = 0; // [px]
    height = 0;

    constructor(
        id: string,
        private readonly wanted: number, // height [px]
    ) {
        this.canvas = find<HTMLCanvasElement>(id);
    }

    // Empty, and as wide as there is room for; null while it is not seen
    begin(): CanvasRenderingContext2D | null {
        const context = this.canvas.getContext("2d");
        this.width = this.canvas.parentElement?.clientWidth ?? 0;
        this.height = this.wanted;
        if (!context || !this.width) return null;
        const dots = devicePixelRatio || 1;
        this.canvas.width = this.width * dots;
        this.canvas.height = this.height * dots;
        this.canvas.style.width = `${this.width}px`;
        this.canvas.style.height = `${this.height}px`;
        context.scale(dots, dots);
        context.font = "11px system-ui, sans-serif";
        context.fillStyle = context.strokeStyle = style("--text");
        return context;
    }

    pointer(event: MouseEvent): [number, number] {
        const box = this.canvas.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
    }
}
