// SPDX-License-Identifier: Apache-2.0
// What the page test stands on: steps with a time limit, one browser, pages that tell on themselves,
// and pictures measured in a page of their own.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

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

    async call(...words) {
        await promisify(execFile)(this.trundle, words).catch((error) => {
            throw new Error(`trundle ${words.join(" ")}: exit ${error.code}: ${error.stderr}`);
        });
    }

    // OUT/name.csv and OUT/name.html from a run.
    async make(name, model, ...options) {
        const [csv, html] = [this.file(`${name}.csv`), this.file(`${name}.html`)];
        await this.call("simulate", model, "-q", "-o", csv, "--report", html, ...options);
        return html;
    }

    // OUT/name.html from runs that are there.
    async view(name, model, ...runs) {
        const html = this.file(`${name}.html`);
        const files = runs.map((run) => this.file(`${run}.csv`));
        await this.call("view", ...files, "--model", model, "-q", "-o", html);
        return html;
    }

    // A few rows from the start of a model's first case
    makeShort(name) {
        const ends = readFileSync(this.model(name), "utf8").match(/\bend: *([\d.]+)/);
        const end = Math.min(1, ends ? Number(ends[1]) : 1);
        const length = ["--end", String(end), "--every", String(end / 20)];
        return this.make(`model_${name}`, this.model(name), ...length);
    }

    // The rows of a run as objects of numbers
    table(name) {
        const lines = readFileSync(this.file(`${name}.csv`), "utf8").trimEnd().split("\n");
        const [header, ...rows] = lines.map((line) => line.split(","));
        return rows.map((row) => Object.fromEntries(row.map((x, k) => [header[k], Number(x)])));
    }

    // What a page holds, as the page reads it
    contents(html) {
        const page = readFileSync(html, "utf8");
        const element = (id) => {
            const start = page.indexOf(">", page.indexOf(`id="${id}"`)) + 1;
            return page.slice(start, page.indexOf("</script>", start));
        };
        const bytes = Buffer.from(element("frames"), "base64");
        const frames = new Float32Array(bytes.length / 4);
        for (let i = 0; i < frames.length; i++) frames[i] = bytes.readFloatLE(4 * i);
        return { report: JSON.parse(element("report")), frames };
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

// A window that keeps what must not happen: requests, errors, dialogs. It shows one page after the
// other.
export async function openWindow(
    browser,
    { width = 1400, height = 900, scheme = "light", before } = {},
) {
    const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: scheme,
        acceptDownloads: true,
    });
    const page = await context.newPage();
    let url = "";
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
    const show = async (file) => {
        noise.length = 0;
        url = pathToFileURL(file).href;
        await page.goto(url, { waitUntil: "commit" });
        await page.waitForSelector("html[data-ready]", { state: "attached" });
        same(await page.getAttribute("html", "data-ready"), "yes", `${file} is ready`);
        return Math.round(await page.evaluate(() => window.readyAfter));
    };
    const quiet = () => check(noise.length === 0, noise.join("; "));
    return { page, noise, quiet, show, close: () => context.close() };
}

// A window with one page
export async function open(browser, file, options) {
    const opened = await openWindow(browser, options);
    return { ...opened, took: await opened.show(file) };
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
            window.differ = (p, q, i) =>
                Math.abs(p.data[i] - q.data[i]) +
                    Math.abs(p.data[i + 1] - q.data[i + 1]) +
                    Math.abs(p.data[i + 2] - q.data[i + 2]) >
                24;
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
                for (let i = 0; i < p.data.length; i += 4) if (window.differ(p, q, i)) count++;
                return count / (p.width * p.height);
            },
            [a.toString("base64"), b.toString("base64")],
        );
    }

    // The middle of all pixels that differ clearly
    middle(a, b) {
        return this.page.evaluate(
            async ([first, second]) => {
                const [p, q] = [await window.pixels(first), await window.pixels(second)];
                let [x, y, count] = [0, 0, 0];
                for (let i = 0; i < p.data.length; i += 4) {
                    if (!window.differ(p, q, i)) continue;
                    x += (i / 4) % p.width;
                    y += Math.floor(i / 4 / p.width);
                    count++;
                }
                return { x: x / count, y: y / count };
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

    // The part of all pixels that are clearly red
    reddish(png) {
        return this.page.evaluate(async (text) => {
            const { data, width, height } = await window.pixels(text);
            let count = 0;
            for (let i = 0; i < data.length; i += 4)
                if (data[i] > 90 && data[i] > 2 * Math.max(data[i + 1], data[i + 2])) count++;
            return count / (width * height);
        }, png.toString("base64"));
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
