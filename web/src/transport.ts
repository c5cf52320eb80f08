// SPDX-License-Identifier: Apache-2.0
// The buttons of time: play, step, the line to drag along, speed.
import { bindToggle, find, make } from "./dom";
import { clock, decimalsFor } from "./numbers";
import type { Player } from "./player";
import type { Certificate } from "./report";

export class Transport {
    private readonly play = find<HTMLButtonElement>("play");
    private readonly line = find<HTMLInputElement>("timeline");
    private readonly readout = find("time");
    private readonly decimals: number;

    constructor(
        private readonly player: Player,
        certificate: Certificate | null,
    ) {
        const { start, end, time } = player;
        this.decimals = Math.max(2, decimalsFor((end - start) / Math.max(1, time.length - 1)));
        this.line.min = String(start);
        this.line.max = String(end);
        this.line.addEventListener("input", () => {
            player.pause();
            player.seek(Number(this.line.value));
        });
        this.play.addEventListener("click", () => player.toggle());
        find("to-start").addEventListener("click", () => player.seek(start));
        find("to-end").addEventListener("click", () => player.seek(end));
        find("back").addEventListener("click", () => player.step(-1));
        find("forward").addEventListener("click", () => player.step(1));
        this.bindSpeed();
        bindToggle(find("loop"), player.loop, (loop) => (player.loop = loop));
        this.markEvents(certificate);
        find("end-time").textContent = `/ ${clock(end, this.decimals)} s`;
        player.onMove(() => this.show());
        player.onSwitch(() => this.showPlaying());
        this.show();
    }

    faster(by: number): void {
        const speed = find<HTMLSelectElement>("speed");
        speed.selectedIndex = Math.min(
            speed.options.length - 1,
            Math.max(0, speed.selectedIndex + by),
        );
        this.player.speed = Number(speed.value);
    }

    private bindSpeed(): void {
        const speed = find<HTMLSelectElement>("speed");
        speed.addEventListener("change", () => (this.player.speed = Number(speed.value)));
    }

    // Small marks where events are.
    private markEvents(certificate: Certificate | null): void {
        const { start, end } = this.player;
        const marks = find("marks");
        for (const event of certificate?.events ?? []) {
            if (typeof event.t !== "number" || !(end > start)) continue;
            const mark = make("i", { title: event.kind ?? "" });
            mark.style.left = `${(100 * (event.t - start)) / (end - start)}%`;
            marks.append(mark);
        }
    }

    private show(): void {
        const { t, start, end } = this.player;
        const text = clock(t, this.decimals);
        this.readout.textContent = text;
        this.line.value = String(t);
        this.line.style.setProperty(
            "--done",
            `${end > start ? (100 * (t - start)) / (end - start) : 0}%`,
        );
        this.line.setAttribute("aria-valuetext", `${text} seconds`);
    }

    private showPlaying(): void {
        const { isPlaying } = this.player;
        this.play.classList.toggle("playing", isPlaying);
        this.play.setAttribute("aria-label", isPlaying ? "Pause" : "Play");
        this.play.title = isPlaying ? "Pause (space)" : "Play (space)";
    }
}
