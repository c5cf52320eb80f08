// SPDX-License-Identifier: Apache-2.0
// The keyboard: one table for what keys do and for the help that tells.
import { find, make } from "./dom";

export interface Key {
    keys: string[]; // as the browser calls them
    shown: string; // as the help shows them
    words: string;
    run: (event: KeyboardEvent) => void;
}

// Fields, lists and buttons keep the keys they need themselves.
function isTaken(event: KeyboardEvent): boolean {
    const target = event.target as HTMLElement;
    if (document.querySelector("dialog[open]")) return true;
    if (target instanceof HTMLInputElement) return target.type !== "range" || (target.id !== "timeline" && event.key.startsWith("Arrow"));
    if (target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) return true;
    return target instanceof HTMLButtonElement && (event.key === " " || event.key === "Enter");
}

export function listenToKeys(table: Key[]): void {
    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return;
        const key = table.find(({ keys }) => keys.includes(event.key));
        if (!key) return;
        event.preventDefault();
        key.run(event);
    });
}

export function fillHelp(table: Key[]): void {
    const rows = table.map(({ shown, words }) => {
        const keys = shown.split(" ").map((key) => make("kbd", { text: key }));
        return [make("dt", {}, ...keys), make("dd", { text: words })];
    });
    find("help-keys").replaceChildren(...rows.flat());
}
