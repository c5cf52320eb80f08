// SPDX-License-Identifier: Apache-2.0
// Panels of which one is shown, chosen by tabs: arrow keys go from one to the next.
import { find } from "./dom";

// The panels are below the scene, and the tabs at the edge of the screen: as the style sheet has it.
const isStacked = (): boolean => window.matchMedia("(max-width: 900px)").matches;

export class Tabs {
    private readonly tabs: HTMLElement[];

    // `opened` is told the panel that is shown.
    constructor(
        list: HTMLElement,
        private readonly opened: (id: string) => void,
    ) {
        this.tabs = [...list.querySelectorAll<HTMLElement>("[role=tab]:not([hidden])")];
        this.tabs.forEach((tab, i) => {
            tab.addEventListener("click", () => {
                this.show(i);
                if (isStacked()) find("side").scrollIntoView({ block: "start" });
            });
            tab.addEventListener("keydown", (event) => this.walk(event, i));
        });
        find("to-scene").addEventListener("click", () => window.scrollTo({ top: 0 }));
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
            if (panel && i === index) this.opened(panel.id);
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
