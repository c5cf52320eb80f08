// SPDX-License-Identifier: Apache-2.0
// Files out of the page: the table, the model, the picture, the film.
import type { Run } from "./data";
import { exact } from "./numbers";

function save(name: string, content: Blob): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const quoted = (name: string): string =>
    /[",\r\n]/.test(name) ? `"${name.replace(/"/g, '""')}"` : name;

// Only what every file system takes.
const safe = (name: string): string =>
    name.replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[._]+/, "") || "run";

function stem(run: Pick<Run, "report">): string {
    const { model, title } = run.report;
    const name = (model.file || title).replace(/^.*[\\/]/, "").replace(/\.[^.]*$/, "");
    return safe([name, run.report.case].filter(Boolean).join("-"));
}

export function saveVideo(run: Run, content: Blob): void {
    save(`${stem(run)}.${content.type.includes("mp4") ? "mp4" : "webm"}`, content);
}

// In pieces: one string of a long run would be larger than a browser allows.
export function csvParts(run: Run): string[] {
    const ROWS = 2000;
    const { columns, time, report } = run;
    const parts = [`${report.columns.map((c) => quoted(c.name)).join(",")}\n`];
    for (let from = 0; from < time.length; from += ROWS) {
        const lines: string[] = [];
        for (let row = from; row < Math.min(time.length, from + ROWS); row++)
            lines.push(columns.map((column) => exact(column[row])).join(","));
        parts.push(`${lines.join("\n")}\n`);
    }
    return parts;
}

export function saveTable(run: Run): void {
    save(`${stem(run)}.csv`, new Blob(csvParts(run), { type: "text/csv" }));
}

export function saveModel(run: Pick<Run, "report">): void {
    const { model } = run.report;
    const name = safe(model.file.replace(/^.*[\\/]/, "") || "model.yaml");
    save(name, new Blob([model.text], { type: "application/yaml" }));
}

// The canvas is transparent: the colour behind it comes with the picture.
export function savePicture(run: Run, canvas: HTMLCanvasElement, background: string): void {
    const copy = document.createElement("canvas");
    copy.width = canvas.width;
    copy.height = canvas.height;
    const to = copy.getContext("2d");
    if (!to) return;
    to.fillStyle = background;
    to.fillRect(0, 0, copy.width, copy.height);
    to.drawImage(canvas, 0, 0);
    copy.toBlob((blob) => blob && save(`${stem(run)}.png`, blob));
}
