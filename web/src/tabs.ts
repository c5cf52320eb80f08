// SPDX-License-Identifier: Apache-2.0
// Panels of which one is shown, chosen by tabs: arrow keys go from one to the next.

export class Tabs {
    private readonly tabs: HTMLElement[];

    constructor(list: HTMLElement) {
        this.tabs = [...list.querySelectorAll<HTMLElement>("[role=tab]")];
        this.tabs.forEach((tab, i) => {
            tab.addEventListener("click", () => this.show(i));
            tab.addEventListener("keydown", (event) => this.walk(event, i));
        });
        this.show(0);
    }

    open(id: string): void {
        this.show(this.tabs.findIndex((tab) => tab.id === id));
    }

    private show(index: number): void {
        this.tabs.forEach((tab, i) => {
            tab.setAttribute("aria-selected", String(i === index));
            tab.tabIndex = i === index ? 0 : -1;
            const panel = document.getElementById(tab.getAttribute("aria-controls") ?? "");
            if (panel) panel.hidden = i !== index;
        });
    }

    private walk(event: KeyboardEvent, from: number): void {
        const count = this.tabs.length;
        const to = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: count - 1 }[
            event.key
        ];
        if (to === undefined) return;
        event.preventDefault();
        event.stopPropagation(); // these keys move time elsewhere
        const next = (to + count) % count;
        this.show(next);
        this.tabs[next].focus();
    }
}
