// SPDX-License-Identifier: Apache-2.0
// Elements made and found. Text from a run only ever becomes textContent.

type Child = Node | string;

interface Properties {
    class?: string;
    text?: string;
    title?: string;
    [attribute: string]: string | undefined;
}

export function make<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    properties: Properties = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (value === undefined) continue;
        if (name === "text") element.textContent = value;
        else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
}

export function find<T extends HTMLElement = HTMLElement>(id: string): T {
    const element = document.getElementById(id);
    if (!element) throw new Error(`the page has no element “${id}”`);
    return element as T;
}

export function style(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A button that stays pressed.
export function bindToggle(
    button: HTMLElement,
    pressed: boolean,
    changed: (pressed: boolean) => void,
): void {
    button.setAttribute("aria-pressed", String(pressed));
    button.addEventListener("click", () => {
        const now = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(now));
        changed(now);
    });
}
