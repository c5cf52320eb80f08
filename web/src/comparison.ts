// SPDX-License-Identifier: Apache-2.0
// Several runs on one page: which are seen, over each other or side by side, and whose numbers are
// shown and downloaded.
import { runColour } from "./colours";
import type { Run } from "./data";
import { bindToggle, find, make } from "./dom";
import type { Stage } from "./stage";

export class Comparison {
    chosen: Run;

    constructor(
        private readonly runs: Run[],
        private readonly stage: Stage | null,
        choose: (run: Run) => void,
    ) {
        this.chosen = runs[0];
        const several = runs.length > 1;
        for (const id of ["runs", "which", "show-beside"]) find(id).hidden = !several;
        if (!several) return;
        document.body.classList.add("several");
        this.fillList();
        this.bindChoice(choose);
        const { length } = runs[0].report.scene;
        bindToggle(find("show-beside"), false, (beside) => this.stage?.setBeside(beside, length));
    }

    private fillList(): void {
        const items = this.runs.map(({ report }, i) => {
            const swatch = make("span", { class: i ? "swatch dashed" : "swatch" });
            swatch.style.setProperty("--colour", i ? runColour(i) : "currentColor");
            const name = make("span", { class: "name", text: report.label });
            const button = make("button", { type: "button", title: "Shown or not" }, swatch, name);
            bindToggle(button, true, (visible) => this.stage?.setRunVisible(i, visible));
            return make("li", {}, button);
        });
        find("runs").replaceChildren(...items);
    }

    private bindChoice(choose: (run: Run) => void): void {
        const select = find<HTMLSelectElement>("which-run");
        select.replaceChildren(
            ...this.runs.map(({ report }, i) =>
                make("option", { value: String(i), text: report.label }),
            ),
        );
        select.addEventListener("change", () => {
            this.chosen = this.runs[Number(select.value)];
            choose(this.chosen);
        });
    }
}
