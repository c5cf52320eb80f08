// SPDX-License-Identifier: Apache-2.0
// Colours that stay the same from run to run, and can be told apart on light and on dark.
import { Color } from "three";

const BODIES = [
    "#4f7cac",
    "#d98a3d",
    "#5b9e6f",
    "#b3586b",
    "#7d6db3",
    "#3f98a3",
    "#bfa13c",
    "#93735c",
];
const CONTACTS = [
    "#e4572e",
    "#2f86eb",
    "#22a565",
    "#a855d6",
    "#d99a00",
    "#0fa3b1",
    "#e0559a",
    "#7c8a00",
];
const LINES_LIGHT = [
    "#1f6fd1",
    "#d1495b",
    "#2a8f57",
    "#b8730a",
    "#7b4fc9",
    "#0b8793",
    "#a63f8f",
    "#5d6b1e",
];
const LINES_DARK = [
    "#6cb0ff",
    "#ff8a8f",
    "#5fd08f",
    "#f2b84b",
    "#b79bff",
    "#4fd0dc",
    "#f29ad8",
    "#bccb62",
];
export const STEEL = new Color("#8b93a0"); // of rods and guides
const GUESSED = new Color("#a4acb6");
const TYRE = "#33373d";
const RUNS = ["#1f6fd1", "#e4572e", "#22a565", "#a855d6", "#d99a00", "#0fa3b1"];
const DARKEST = 0.018; // luminance below which a body would be a hole in the picture

const pick = (from: string[], i: number): string => from[i % from.length];

export const runColour = (i: number): string => pick(RUNS, i);
export const contactColour = (i: number): string => pick(CONTACTS, i);
export const lineColour = (i: number, dark: boolean): string =>
    pick(dark ? LINES_DARK : LINES_LIGHT, i);

function parse(css: string): Color | null {
    if (!CSS.supports("color", css)) return null;
    const probe = document.createElement("canvas").getContext("2d");
    if (!probe) return null;
    probe.fillStyle = css; // reads back as #rrggbb, or as rgba(...) when it is translucent
    const [r, g, b] = (probe.fillStyle.match(/[\d.]+/g) ?? []).map(Number);
    return probe.fillStyle.startsWith("#")
        ? new Color(probe.fillStyle)
        : new Color(`rgb(${r}, ${g}, ${b})`);
}

function luminance(c: Color): number {
    return 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
}

// The colour a shape asks for; without one, the body's own, and wheels are rubber. What is only a
// guess is mostly grey.
export function shapeColour(
    { colour: css, guessed }: { colour: string; guessed: boolean },
    body: number,
    isWheel: boolean,
): Color {
    const own = new Color(isWheel ? TYRE : pick(BODIES, body));
    if (guessed && !isWheel) own.lerp(GUESSED, 0.6);
    const colour = (css && parse(css)) || own;
    return luminance(colour) < DARKEST ? colour.lerp(new Color("#4d535c"), 0.6) : colour;
}
