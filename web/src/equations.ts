// SPDX-License-Identifier: Apache-2.0
// The equations of the model, as the program writes them in HTML with MathML. They are read apart
// from the page, and of what is in them only formulas, headings and words are taken over, without
// attributes: nothing that a name holds can become anything else.
import { decodeText, type Run } from "./data";
import { find, make } from "./dom";

const MATHML = "http://www.w3.org/1998/Math/MathML";
const FORMULAS = "math mrow mi mn mo mtext msub msup msubsup mover mfrac msqrt mtable mtr mtd".split(" ");
const WORDS: Record<string, string> = { h2: "h3", h3: "h4", p: "p", div: "div", ul: "ul", li: "li" };

// The same in this page, or nothing
function taken(from: Node): Node | null {
    if (from.nodeType === Node.TEXT_NODE) return document.createTextNode(from.textContent ?? "");
    if (!(from instanceof Element)) return null;
    const isFormula = from.namespaceURI === MATHML;
    const name = isFormula ? from.localName : WORDS[from.localName];
    if (!name || (isFormula && !FORMULAS.includes(name))) return null;
    const to = isFormula ? document.createElementNS(MATHML, name) : document.createElement(name);
    if (name === "math") to.setAttribute("display", "block");
    if (name === "mover") to.setAttribute("accent", "true");
    fill(to, from);
    return to;
}

function fill(to: Element, from: Element): void {
    for (const child of from.childNodes) {
        const node = taken(child);
        if (node) to.append(node);
    }
}

const quoted = (word: string): string =>
    /^[\w./=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

// What prints all of them
function command({ report }: Pick<Run, "report">): string {
    const words = ["trundle", "equations", report.model.file || "MODEL.yaml"];
    if (report.case) words.push("--case", report.case);
    for (const { name, formula } of report.settings) words.push("--set", `${name}=${formula}`);
    return [...words, "-o", "equations.html"].map(quoted).join(" ");
}

export class Equations {
    private isFilled = false;

    constructor(private readonly run: Pick<Run, "report" | "equations">) {
        find("tab-equations").hidden = run.equations === null;
    }

    // When they are first looked at: a page opens without them.
    fill(): void {
        if (this.isFilled || this.run.equations === null) return;
        this.isFilled = true;
        const shown = find("equations-shown");
        const text = decodeText(this.run.equations);
        if (!text.startsWith("<!DOCTYPE html>")) {
            shown.append(make("p", { text }));
            return;
        }
        const { label } = this.run.report;
        if (label) shown.append(make("p", { class: "quiet", text: `Of the model of ${label}.` }));
        fill(shown, new DOMParser().parseFromString(text, "text/html").body);
        shown.append(
            make("p", { class: "quiet", text: "What is long is left out here. All of it: " }),
            make("pre", { text: command(this.run) }),
        );
    }
}
