// SPDX-License-Identifier: Apache-2.0
// Time on the page: where it stands, whether it runs, and who wants to know.
import { nearestRow, rowAt } from "./data";

type Listener = () => void;

export class Player {
    readonly start: number;
    readonly end: number;
    t: number;
    speed = 1;
    loop = false;
    private running = false;
    private readonly moved: Listener[] = [];
    private readonly switched: Listener[] = [];

    readonly time: Float64Array; // of the first run

    constructor(times: Float64Array[]) {
        this.time = times[0];
        this.start = Math.min(...times.map((time) => time[0]));
        this.end = Math.max(...times.map((time) => time[time.length - 1]));
        this.t = this.start;
    }

    get isPlaying(): boolean {
        return this.running;
    }

    onMove(listener: Listener): void {
        this.moved.push(listener);
    }

    onSwitch(listener: Listener): void {
        this.switched.push(listener);
    }

    seek(t: number): void {
        const within = Math.min(this.end, Math.max(this.start, t));
        if (within === this.t || Number.isNaN(within)) return;
        this.t = within;
        for (const listener of this.moved) listener();
    }

    // By rows; from between two rows the first step ends on one of them.
    step(rows: number): void {
        this.pause();
        const at = rowAt(this.time, this.t);
        const between = this.time[at] < this.t;
        const to = rows < 0 && between ? at + rows + 1 : at + rows;
        this.seek(to < this.time.length ? this.time[Math.max(0, to)] : this.end);
    }

    get bigStep(): number {
        return Math.max(10, Math.round(this.time.length / 100));
    }

    get row(): number {
        return nearestRow(this.time, this.t);
    }

    play(): void {
        if (this.running || !(this.end > this.start)) return;
        if (this.t >= this.end) this.seek(this.start);
        this.setRunning(true);
    }

    pause(): void {
        this.setRunning(false);
    }

    toggle(): void {
        if (this.running) this.pause();
        else this.play();
    }

    // `seconds` have passed on the wall.
    advance(seconds: number): void {
        if (!this.running) return;
        const t = this.t + seconds * this.speed;
        if (t < this.end) this.seek(t);
        else if (this.loop) this.seek(this.start + ((t - this.start) % (this.end - this.start)));
        else {
            this.seek(this.end);
            this.pause();
        }
    }

    private setRunning(running: boolean): void {
        if (this.running === running) return;
        this.running = running;
        for (const listener of this.switched) listener();
    }
}
