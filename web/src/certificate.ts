// SPDX-License-Identifier: Apache-2.0
// How the run went: what was measured on the way, in words and tables.
import { find, make } from "./dom";
import { brief, exact } from "./numbers";
import type { Certificate, Report } from "./report";

type Jump = (t: number) => void;

interface Measure {
    key: string;
    title: string;
    words: string;
    good: number; // not above: fine
    fair: number; // not above: worth a look
}

const MEASURES: Measure[] = [
    {
        key: "energy_error",
        title: "Energy balance",
        words: "worst |E − E₀ − work|, relative to the largest kinetic energy or work",
        good: 1e-6,
        fair: 1e-3,
    },
    {
        key: "position_error",
        title: "Positions",
        words: "worst residual of the constraints on positions",
        good: 1e-9,
        fair: 1e-6,
    },
    {
        key: "velocity_error",
        title: "Velocities",
        words: "worst residual of the constraints on velocities",
        good: 1e-9,
        fair: 1e-6,
    },
    {
        key: "kkt_error",
        title: "Accelerations",
        words: "reduced equations against the full ones (KKT), worst relative difference",
        good: 1e-9,
        fair: 1e-6,
    },
];

// Rows of the table: what they are called, in this order.
const ROWS: Record<string, string> = {
    method: "Method",
    rtol: "Relative tolerance",
    atol: "Absolute tolerance",
    step: "Step [s]",
    every: "Output every [s]",
    end: "End asked for [s]",
    reached: "Reached [s]",
    rows: "Rows",
    steps: "Steps",
    failed_steps: "Steps repeated",
    evaluations: "Evaluations",
    jacobians: "Evaluations of the slopes, too",
    operations: "Operations an evaluation",
    seconds: "Time taken [s]",
    drift: "Drift of positions in a step, before it is mended",
    chart_changes: "Changes of independent velocities",
    interrupted: "Interrupted",
};

const METHODS: Record<string, string> = {
    erk: "adaptive explicit Runge–Kutta",
    bdf: "backward differences, for stiff systems",
    rk4: "classical Runge–Kutta, fixed step",
    pece: "predictor–corrector, fixed step",
    lie: "Lie group method, fixed step",
    rosenbrock: "linearly implicit, fixed step, for stiff systems",
    euler: "Euler, fixed step",
};

function grade(value: number | null | undefined, { good, fair }: Measure): string {
    if (value === null || value === undefined) return "bad";
    return value <= good ? "good" : value <= fair ? "fair" : "bad";
}

function measures(certificate: Certificate): HTMLElement {
    const cards = MEASURES.filter(({ key }) => key in certificate).map((measure) => {
        const value = certificate[measure.key] as number | null;
        return make(
            "div",
            { class: `measure ${grade(value, measure)}` },
            make("dt", { text: measure.title }),
            make("dd", {
                class: "number",
                text: brief(value, 3),
                title: value === null ? "not a number" : exact(value),
            }),
            make("dd", { class: "words", text: measure.words }),
        );
    });
    return make("dl", { class: "measures" }, ...cards);
}

function words(key: string, value: unknown): string {
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (key === "method" && typeof value === "string" && METHODS[value])
        return `${value}: ${METHODS[value]}`;
    if (typeof value === "number")
        return Number.isInteger(value) ? value.toLocaleString("en") : brief(value, 6);
    return value === null ? "–" : String(value);
}

export function table(head: string[], rows: (Node | string)[][]): HTMLTableElement {
    const cells = (row: (Node | string)[]): HTMLElement =>
        make(
            "tr",
            {},
            ...row.map((cell, i) =>
                i ? make("td", {}, cell) : make("th", { scope: "row" }, cell),
            ),
        );
    const top = make("tr", {}, ...head.map((text) => make("th", { scope: "col", text })));
    const result = make("table", {}, make("tbody", {}, ...rows.map(cells)));
    if (head.length) result.prepend(make("thead", {}, top));
    return result;
}

function runTable(report: Report, certificate: Certificate): HTMLElement {
    const rows: string[][] = [["Case", report.case || "none"]];
    for (const { name, formula } of report.settings) rows.push([`Set ${name}`, formula]);
    const isPlain = (value: unknown): boolean => value === null || typeof value !== "object";
    const shown = ["model", "failure", ...MEASURES.map(({ key }) => key)];
    const known = Object.keys(ROWS).filter((key) => key in certificate);
    const others = Object.keys(certificate).filter(
        (key) => !(key in ROWS) && !shown.includes(key) && isPlain(certificate[key]),
    );
    for (const key of [...known, ...others])
        rows.push([ROWS[key] ?? key.replace(/_/g, " "), words(key, certificate[key])]);
    rows.push(
        ["Model", report.model.file],
        ["SHA-256 of the model", report.model.sha256],
        ["Written by", report.program],
    );
    return table([], rows);
}

function jumpButton(t: number, jump: Jump): HTMLElement {
    const button = make("button", {
        class: "small",
        type: "button",
        text: `t = ${brief(t)} s`,
        title: "Go there",
    });
    button.addEventListener("click", () => jump(t));
    return button;
}

function warnings(certificate: Certificate, jump: Jump): HTMLElement[] {
    const list = certificate.warnings ?? [];
    if (!list.length) return [make("p", { class: "quiet", text: "No warnings." })];
    const items = list.map((text) => {
        const item = make("li", { text });
        const t = Number(/\bt = (\S+?)[,;.]?(?:\s|$)/.exec(text)?.[1] ?? NaN);
        if (Number.isFinite(t)) item.append(" ", jumpButton(t, jump));
        return item;
    });
    return [make("ul", { class: "warnings" }, ...items)];
}

function events(certificate: Certificate, jump: Jump): HTMLElement[] {
    const list = certificate.events ?? [];
    if (!list.length) return [make("p", { class: "quiet", text: "No events." })];
    const rows = list.map((event) => [
        typeof event.t === "number" ? jumpButton(event.t, jump) : "–",
        typeof event.kind === "string" ? event.kind : JSON.stringify(event),
    ]);
    return [table(["When", "What"], rows)];
}

// Above everything else, when the run broke off.
function failure(certificate: Certificate): void {
    const banner = find("failure");
    const text = certificate.failure || (certificate.interrupted ? "The run was interrupted." : "");
    banner.hidden = !text;
    if (!text) return;
    const reached = certificate.reached;
    const where =
        typeof reached === "number"
            ? ` It reached t = ${brief(reached)} s of ${brief(certificate.end)} s.`
            : "";
    banner.replaceChildren(
        make("strong", { text: "This run did not finish. " }),
        text + (/[.!]$/.test(text) ? "" : ".") + where,
    );
}

// The run in three words, beside its title.
function summary(report: Report): HTMLElement[] {
    const { certificate } = report;
    if (!certificate) return [make("span", { class: "badge", text: "no certificate" })];
    const energy = certificate.energy_error;
    const count = certificate.warnings?.length ?? 0;
    const badges =
        certificate.failure || certificate.interrupted
            ? [make("span", { class: "badge bad", text: "not finished" })]
            : [];
    if (energy !== undefined)
        badges.push(
            make("span", {
                class: `badge ${grade(energy, MEASURES[0])}`,
                text: `energy to ${brief(energy, 2)}`,
            }),
        );
    badges.push(
        make("span", {
            class: count ? "badge fair" : "badge good",
            text: count === 1 ? "1 warning" : `${count || "no"} warnings`,
        }),
    );
    return badges;
}

export function fillCertificate(report: Report, jump: Jump): void {
    const panel = find("certificate");
    const { certificate } = report;
    find("summary").replaceChildren(...summary(report));
    if (!certificate) {
        failure({});
        panel.replaceChildren(
            make("p", {
                class: "quiet",
                text: "These numbers came without a certificate: nothing is known of how they were made.",
            }),
        );
        return;
    }
    failure(certificate);
    panel.replaceChildren(
        measures(certificate),
        make("h3", { text: "Warnings" }),
        ...warnings(certificate, jump),
        make("h3", { text: "Events" }),
        ...events(certificate, jump),
        make("h3", { text: "Run" }),
        runTable(report, certificate),
    );
}

export function fillParameters(report: Report): void {
    const panel = find("parameters");
    if (!report.parameters.length)
        panel.replaceChildren(make("p", { class: "quiet", text: "The model has no parameters." }));
    else {
        const told = report.parameters.some(({ doc }) => doc);
        panel.replaceChildren(
            table(
                told ? ["Name", "Value", "What it is"] : ["Name", "Value"],
                report.parameters.map(({ name, value, unit, doc }) => [
                    name,
                    (value === null ? "–" : exact(value)) + (unit && unit !== "1" ? ` ${unit}` : ""),
                    ...(told ? [doc ?? ""] : []),
                ]),
            ),
        );
    }
}

export function fillModel(report: Report): void {
    find("model-file").textContent = report.model.file;
    find("model-hash").textContent = report.model.sha256;
    find("model-text").textContent = report.model.text;
}
