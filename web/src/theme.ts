// SPDX-License-Identifier: Apache-2.0
// Dark or light: as the system says until somebody chooses.
import { find } from "./dom";

const system = matchMedia("(prefers-color-scheme: dark)");
let chosen: boolean | null = null;

export const isDark = (): boolean => chosen ?? system.matches;

export function startTheme(changed: () => void): void {
    const button = find("theme");
    const apply = (): void => {
        document.documentElement.dataset.theme = isDark() ? "dark" : "light";
        button.setAttribute("aria-pressed", String(isDark()));
    };
    button.addEventListener("click", () => {
        chosen = !isDark();
        apply();
        changed();
    });
    system.addEventListener("change", () => {
        apply();
        changed();
    });
    apply();
}
