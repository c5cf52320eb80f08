// SPDX-License-Identifier: Apache-2.0
// What the page test stands on: steps with a time limit, one browser, pages that tell on themselves,
// and pictures measured in a page of their own.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// WebGL by the processor; the rest of the page as without a graphics card.
const FLAGS = ["--use-angle=swiftshader-webgl", "--enable-unsafe-swiftshader", "--no-sandbox"];

export function check(truth, words) {
    if (!truth) throw new Error(words);
}

export function same(found, wanted, what) {
    check(
        Object.is(found, wanted),
        `${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`,
    );
}

// Runs one after the other; a failure is told and does not keep the rest from running.
export class Steps {
    failures = 0;

    async run(name, seconds, work) {
        const start = Date.now();
        let timer;
        const limit = new Promise((_, reject) => {
            timer = setTimeout(
                () => reject(new Error(`took more than ${seconds} s`)),
                1000 * seconds,
            );
        });
        try {
            await Promise.race([work(), limit]);
            console.log(`ok    ${name} (${Date.now() - start} ms)`);
        } catch (error) {
            this.failures++;
            console.log(`FAIL  ${name}: ${error.message}`);
        } finally {
            clearTimeout(timer);
        }
    }
}

export async function launch(root) {
    const packages = join(root, "web", "package.json");
    const { chromium } = createRequire(packages)("playwright-core");
    const program = process.env.CHROMIUM || "/usr/bin/chromium";
    check(
        existsSync(program),
        `there is no ${program}: install chromium, or say where it is with CHROMIUM`,
    );
    return chromium.launch({ executablePath: program, args: FLAGS });
}

export class Reports {
    constructor(trundle, root, out) {
        Object.assign(this, { trundle, root, out });
    }

    model(name) {
        return join(this.root, "models", `${name}.yaml`);
    }

    file(name) {
        return join(this.out, name);
    }

    // OUT/name.csv and OUT/name.html from a run.
    make(name, model, ...options) {
        const [csv, html] = [this.file(`${name}.csv`), this.file(`${name}.html`)];
        try {
            execFileSync(
                this.trundle,
                ["simulate", model, "-q", "-o", csv, "--report", html, ...options],
                { stdio: "pipe" },
            );
        } catch (error) {
            throw new Error(
                `trundle simulate ${model} ${options.join(" ")}: exit ${error.status}: ${error.stderr}`,
            );
        }
        return html;
    }

    // A copy of a report with other words in it.
    edit(from, name, change) {
        const [before, after] = ['<script type="application/json" id="report">', "</script>"];
        const page = readFileSync(from, "utf8");
        const start = page.indexOf(before) + before.length;
        const end = page.indexOf(after, start);
        check(start >= before.length && end > start, `${from} has no report in it`);
        const report = JSON.parse(page.slice(start, end));
        change(report);
        const escaped = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026" };
        const text = JSON.stringify(report).replace(/[<>&]/g, (c) => escaped[c]);
        writeFileSync(this.file(name), page.slice(0, start) + text + page.slice(end));
        return this.file(name);
    }
}

// In the page: how long after the start of navigation it says that it is ready [ms].
function noteReady() {
    const observer = new MutationObserver(() => {
        if (!document.documentElement?.dataset.ready) return;
        window.readyAfter = performance.now();
        observer.disconnect();
    });
    observer.observe(document, {
        attributes: true,
        subtree: true,
        attributeFilter: ["data-ready"],
    });
}

// A page that keeps what must not happen: requests, errors, dialogs.
export async function open(
    browser,
    file,
    { width = 1400, height = 900, scheme = "light", before } = {},
) {
    const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: scheme,
        acceptDownloads: true,
    });
    const page = await context.newPage();
    const url = pathToFileURL(file).href;
    const noise = [];
    page.on("request", (request) => {
        if (request.url() !== url && !/^(data|blob):/.test(request.url()))
            noise.push(`request to ${request.url()}`);
    });
    page.on("console", (message) => {
        const isDriver = message.text().includes("GL Driver Message"); // of the browser, about itself
        if (["error", "warning"].includes(message.type()) && !isDriver)
            noise.push(`${message.type()} on the console: ${message.text()}`);
    });
    page.on("pageerror", (error) => noise.push(`error: ${error.message}`));
    page.on("dialog", (dialog) => {
        noise.push(`a dialog opened: ${dialog.message()}`);
        void dialog.dismiss();
    });
    if (before) await page.addInitScript(before);
    await page.addInitScript(noteReady);
    await page.goto(url, { waitUntil: "commit" });
    await page.waitForSelector("html[data-ready]", { state: "attached" });
    const took = Math.round(await page.evaluate(() => window.readyAfter));
    same(await page.getAttribute("html", "data-ready"), "yes", `${file} is ready`);
    const quiet = () => check(noise.length === 0, noise.join("; "));
    return { page, noise, took, quiet, close: () => context.close() };
}

// Waits until a condition in the page holds; says what was hoped for otherwise.
export async function until(page, words, condition, argument) {
    await page.waitForFunction(condition, argument, { timeout: 8000 }).catch(() => {
        throw new Error(`it never came about that ${words}`);
    });
}

export const settle = (page) =>
    page.evaluate(
        () =>
            new Promise((done) =>
                requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60))),
            ),
    );

export const timeOf = async (page) =>
    Number((await page.textContent("#time")).replace("\u2212", "-"));

export async function picture(page) {
    await settle(page);
    return page.locator("#scene").screenshot();
}

// PNGs are decoded by the browser itself.
export class Eyes {
    static async make(browser) {
        const eyes = new Eyes();
        eyes.page = await browser.newPage();
        await eyes.page.evaluate(() => {
            window.pixels = async (base64) => {
                const image = new Image();
                image.src = `data:image/png;base64,${base64}`;
                await image.decode();
                const canvas = new OffscreenCanvas(image.width, image.height);
                const context = canvas.getContext("2d");
                context.drawImage(image, 0, 0);
                return context.getImageData(0, 0, image.width, image.height);
            };
        });
        return eyes;
    }

    // The part of all pixels that differ clearly.
    difference(a, b) {
        return this.page.evaluate(
            async ([first, second]) => {
                const [p, q] = [await window.pixels(first), await window.pixels(second)];
                if (p.width !== q.width || p.height !== q.height) return 1;
                let count = 0;
                for (let i = 0; i < p.data.length; i += 4)
                    if (
                        Math.abs(p.data[i] - q.data[i]) +
                            Math.abs(p.data[i + 1] - q.data[i + 1]) +
                            Math.abs(p.data[i + 2] - q.data[i + 2]) >
                        24
                    )
                        count++;
                return count / (p.width * p.height);
            },
            [a.toString("base64"), b.toString("base64")],
        );
    }

    // Waits until the scene differs from a picture by at least so much, or at most; returns what it
    // looks like then. Drawing goes on beside the page, so a picture may come late.
    async wait(page, before, { least = 0, most = 1 }, words) {
        const PATIENCE = 6000; // [ms]
        const start = Date.now();
        for (;;) {
            const now = await picture(page);
            const changed = await this.difference(before, now);
            if (changed >= least && changed <= most) return now;
            check(
                Date.now() - start < PATIENCE,
                `${words}: ${(100 * changed).toFixed(2)} % of the picture differs`,
            );
        }
    }

    // The part of all pixels that are not background, which is the same along each line. Above and
    // below are labels and buttons: they do not count.
    coverage(png, margin = 60) {
        return this.page.evaluate(
            async ([text, edge]) => {
                const { data, width, height } = await window.pixels(text);
                let count = 0;
                for (let y = edge; y < height - edge; y++)
                    for (let x = 1; x < width; x++) {
                        const [i, k] = [4 * (y * width + x), 4 * y * width];
                        if (
                            Math.abs(data[i] - data[k]) +
                                Math.abs(data[i + 1] - data[k + 1]) +
                                Math.abs(data[i + 2] - data[k + 2]) >
                            24
                        )
                            count++;
                    }
                return count / (width * height);
            },
            [png.toString("base64"), margin],
        );
    }
}
