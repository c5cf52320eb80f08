// SPDX-License-Identifier: Apache-2.0
// The keyboard: one table for what keys do and for the help that tells.
import { find, make } from "./dom";

export interface Key {
    keys: string[]; // as the browser calls them
    shown: string; // as the help shows them
    words: string;
    run: (event: KeyboardEvent) => void;
}

const MOVES_SLIDER = /^(Arrow|Home$|End$|Page)/;

// Fields and lists keep the keys they need themselves; buttons do when they were reached by keyboard.
function isTaken(event: KeyboardEvent): boolean {
    const target = event.target as HTMLElement;
    if (document.querySelector("dialog[open]")) return true;
    if (target instanceof HTMLInputElement)
        return (
            target.id !== "timeline" && (target.type !== "range" || MOVES_SLIDER.test(event.key))
        );
    if (target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) return true;
    return (
        target instanceof HTMLButtonElement &&
        (event.key === " " || event.key === "Enter") &&
        target.matches(":focus-visible")
    );
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
