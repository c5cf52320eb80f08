// SPDX-License-Identifier: Apache-2.0
// node page_test.mjs TRUNDLE ROOT OUT: makes reports with the program and uses them in a browser as
// people do. Pictures of them stay in OUT.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename, join, resolve } from "node:path";
import {
    check,
    Eyes,
    launch,
    open,
    openWindow,
    picture,
    Reports,
    same,
    settle,
    Steps,
    timeOf,
    until,
} from "./harness.mjs";
import { useComparison } from "./compare.mjs";
import { useEquations } from "./equations.mjs";
import { soundModels, useLooks } from "./looks.mjs";
import { useLoops } from "./loops.mjs";
import { useSpreads } from "./spreads.mjs";
import { useSweeps } from "./swept.mjs";
import { useTerrain } from "./terrain.mjs";

const HOSTILE = "</script><script>alert(1)</script>";
const IMAGE = '<img src=x onerror="alert(2)">';

const percent = (x) => `${(100 * x).toFixed(2)} %`;

async function press(page, id, pressed) {
    await page.click(`#${id}`);
    same(await page.getAttribute(`#${id}`, "aria-pressed"), String(pressed), `#${id} is pressed`);
}

// ---- one run, used in all ways -------------------------------------------------------------

async function opens({ page, quiet }, report) {
    const size = statSync(report).size;
    const data = await page.evaluate(() =>
        performance.getEntriesByType("navigation")[0].name.startsWith("file:"),
    );
    check(data, "the page was not opened from a file");
    console.log(`      ${basename(report)}: ${(size / 1e6).toFixed(2)} MB`);
    check(size < 2e6, `${size} bytes for a short run`);
    same(await page.textContent("#title"), "Whipple-Carvallo bicycle", "the title");
    same(await timeOf(page), 0, "the time at the start");
    await page.waitForTimeout(200);
    same(await timeOf(page), 0, "the time, without having pressed play");
    quiet();
}

async function plays({ page, quiet }, eyes) {
    const first = await picture(page);
    await page.keyboard.press("Space");
    await until(
        page,
        "playing moves the time",
        () => Number(document.getElementById("time").textContent) > 0.4,
    );
    same(
        await page.getAttribute("#play", "aria-label"),
        "Pause",
        "the label of play while playing",
    );
    await page.keyboard.press("Space");
    const stopped = await timeOf(page);
    await eyes.wait(page, first, { least: 0.01 }, "two times look alike");
    same(await timeOf(page), stopped, "the time after a pause");
    quiet();
}

async function steps({ page, quiet }) {
    await page.keyboard.press("End");
    same(await timeOf(page), 10, "the time after End");
    await page.keyboard.press("Home");
    same(await timeOf(page), 0, "the time after Home");
    await page.keyboard.press("ArrowRight");
    same(await timeOf(page), 0.1, "the time a row on");
    await page.keyboard.press("Shift+ArrowRight");
    same(await timeOf(page), 1.1, "the time a bigger step on");
    await page.click("#back");
    same(await timeOf(page), 1, "the time a row back");
    await page.selectOption("#speed", "8");
    await page.keyboard.press("End");
    await press(page, "loop", true);
    await page.click("#play");
    await until(
        page,
        "a loop goes on after the end",
        () => Number(document.getElementById("time").textContent) < 9,
    );
    await page.click("#play");
    await press(page, "loop", false);
    await page.selectOption("#speed", "1");
    quiet();
}

async function scrubs({ page, quiet }, eyes) {
    const line = await page.locator("#timeline").boundingBox();
    const y = line.y + line.height / 2;
    await page.keyboard.press("Home");
    const first = await picture(page);
    await page.mouse.move(line.x + 7, y);
    await page.mouse.down();
    await page.mouse.move(line.x + line.width / 2, y, { steps: 4 });
    await page.mouse.up();
    const t = await timeOf(page);
    check(Math.abs(t - 5) < 0.2, `dragged to the middle, the time is ${t}`);
    await eyes.wait(page, first, { least: 0.01 }, "dragging the time left the picture alike");
    check(
        (await page.getAttribute("#timeline", "aria-valuetext")).endsWith("seconds"),
        "the time is not read out",
    );
    quiet();
}

async function forces({ page, quiet }, eyes) {
    const shown = await picture(page);
    await press(page, "show-forces", false);
    await eyes.wait(page, shown, { least: 0.001 }, "hiding the forces changed nothing");
    await press(page, "show-forces", true);
    await eyes.wait(page, shown, { most: 0.001 }, "the forces did not come back");
    await page.locator("#force-scale").fill("2");
    await eyes.wait(page, shown, { least: 0.001 }, "longer arrows look the same");
    await page.locator("#force-scale").fill("0");
    quiet();
}

// At a time when the last snapshot stands beside the bicycle.
async function layers({ page, quiet }, eyes) {
    await page.focus("#timeline");
    await page.keyboard.press("Home");
    for (let i = 0; i < 7; i++) await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(300);
    const before = await picture(page);
    for (const [id, initially] of [
        ["show-tracks", true],
        ["show-ground", true],
        ["show-joints", false],
        ["show-masses", false],
        ["show-snapshots", false],
    ]) {
        await press(page, id, !initially);
        await eyes.wait(page, before, { least: 2e-4 }, `#${id} changed nothing`);
        await press(page, id, initially);
        await eyes.wait(page, before, { most: 1e-4 }, `#${id} left something behind`);
    }
    quiet();
}

async function camera({ page, quiet }, eyes) {
    await page.click("#reset-view");
    await page.waitForTimeout(300);
    const first = await picture(page);
    const box = await page.locator("#scene").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 150, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    await eyes.wait(page, first, { least: 0.02 }, "dragging does not turn the scene");
    await page.click("#whole-view");
    same(await page.inputValue("#follow"), "free", "what is followed while all is seen");
    await page.selectOption("#follow", { label: "Follow frame" });
    await page.click("#reset-view");
    await eyes.wait(page, first, { most: 0.005 }, "the view is not as at the start");
    quiet();
}

async function plots({ page, quiet }) {
    const over = page.locator(".u-over").first();
    const { x, y, width, height } = await over.boundingBox();
    const middle = y + height / 2;
    await page.mouse.click(x + 0.3 * width, middle);
    const t = await timeOf(page);
    check(Math.abs(t - 3) < 0.1, `a click at 3 s set the time to ${t}`);
    await page.mouse.move(x + 0.2 * width, middle);
    await page.mouse.down();
    await page.mouse.move(x + 0.4 * width, middle, { steps: 4 });
    await page.mouse.up();
    await page.waitForSelector("#reset-zoom:visible");
    await page.mouse.click(x + 0.5 * width, middle);
    const zoomed = await timeOf(page);
    check(
        Math.abs(zoomed - 3) < 0.1,
        `in the middle of 2 s to 4 s a click set the time to ${zoomed}`,
    );
    await page.mouse.dblclick(x + 0.5 * width, middle);
    await page.waitForSelector("#reset-zoom", { state: "hidden" });
    quiet();
}

async function columns({ page, quiet }) {
    const card = page.locator(".plot").first();
    await card.getByRole("button", { name: "Columns…" }).click();
    await page.keyboard.type("steer_rate");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await page.keyboard.press("Escape");
    await page.waitForSelector("#chooser", { state: "hidden" });
    const names = await card.locator(".chips .name").allTextContents();
    check(names.includes("steer_rate"), `steer_rate was chosen, and there are ${names.join(", ")}`);
    const label = await card.locator(".plot-frame").getAttribute("aria-label");
    check(label.includes("steer_rate"), `the plot is read out as “${label}”`);
    const count = await page.locator(".plot").count();
    await page.click("#add-plot");
    await page.keyboard.type("tau steer");
    await page.keyboard.press("Enter");
    await page.click("#chooser-done");
    same(await page.locator(".plot").count(), count + 1, "the number of plots");
    same(
        await page.locator(".plot").last().locator(".chips .name").textContent(),
        "tau.steer",
        "the column of the new plot",
    );
    await page.locator(".plot").last().getByRole("button", { name: "Remove this plot" }).click();
    same(await page.locator(".plot").count(), count, "the number of plots");
    quiet();
}

async function downloaded(page, button, folder) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
    const path = join(folder, `downloaded-${download.suggestedFilename()}`);
    await download.saveAs(path);
    return { name: download.suggestedFilename(), path };
}

// Cell by cell as numbers: the same doubles may be spelled in two ways.
function checkTable(found, wanted) {
    const [a, b] = [found, wanted].map((path) => readFileSync(path, "utf8").trimEnd().split("\n"));
    same(a[0], b[0], "the header of the table");
    same(a.length, b.length, "the number of lines in the table");
    for (let i = 1; i < a.length; i++) {
        const [p, q] = [a[i].split(","), b[i].split(",")];
        same(p.length, q.length, `the number of columns in line ${i + 1}`);
        for (let k = 0; k < p.length; k++)
            same(Number(p[k]), Number(q[k]), `line ${i + 1}, column ${k + 1}`);
    }
}

async function downloads({ page, quiet }, reports) {
    const table = await downloaded(page, "#download-csv", reports.out);
    same(table.name, "bicycle-turn.csv", "the name of the table");
    checkTable(table.path, reports.file("bicycle.csv"));
    const model = await downloaded(page, "#download-model", reports.out);
    same(model.name, "bicycle.yaml", "the name of the model file");
    check(
        readFileSync(model.path).equals(readFileSync(reports.model("bicycle"))),
        "the model file is another",
    );
    const png = await downloaded(page, "#download-picture", reports.out);
    same(readFileSync(png.path).subarray(1, 4).toString(), "PNG", "what the picture is");
    quiet();
}

async function certificate({ page, quiet }, reports) {
    const run = JSON.parse(readFileSync(reports.file("bicycle.json"), "utf8"));
    await page.click("#tab-certificate");
    const text = await page.textContent("#certificate");
    for (const words of [
        run.method,
        "Energy balance",
        "Positions",
        "Velocities",
        "Relative tolerance",
        run.steps.toLocaleString("en"),
    ])
        check(text.includes(words), `the certificate does not say “${words}”`);
    same(
        await page.locator("#certificate td").filter({ hasText: "jumps or has a kink" }).count(),
        run.events.length,
        "the number of events",
    );
    await page.locator("#certificate button").last().click();
    same(
        await timeOf(page),
        run.events[run.events.length - 1].t,
        "the time after a click on the last event",
    );
    check(await page.isHidden("#failure"), "a run that went well is called failed");
    await page.keyboard.press("Escape");
    await page.click("#tab-parameters");
    check(
        (await page.textContent("#parameters")).includes("0.3141592653589793"),
        "theta is not among the parameters",
    );
    await page.click("#tab-model");
    const hash = createHash("sha256")
        .update(readFileSync(reports.model("bicycle")))
        .digest("hex");
    same(await page.textContent("#model-hash"), hash, "the hash of the model");
    same(
        await page.textContent("#model-text"),
        readFileSync(reports.model("bicycle"), "utf8"),
        "the text of the model",
    );
    await page.click("#tab-plots");
    quiet();
}

async function looks({ page, quiet }, reports) {
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.screenshot({ path: reports.file("page_light.png") });
    const light = await colour();
    await page.click("#theme");
    await settle(page);
    check((await colour()) !== light, "dark is as light as light");
    await page.screenshot({ path: reports.file("page_dark.png") });
    await page.click("#theme");
    await page.locator("body").press("?");
    await page.waitForSelector("#help[open]");
    await page.keyboard.press("Escape");
    await page.waitForSelector("#help", { state: "hidden" });
    quiet();
}

// Everything that can be used has a name that can be read out.
async function names({ page }) {
    const nameless = await page.evaluate(() =>
        [...document.querySelectorAll("button, select, input, [role=img], [role=tab]")]
            .filter(
                (e) =>
                    !e.getAttribute("aria-label") &&
                    !e.labels?.length &&
                    !e.textContent.trim() &&
                    !e.closest("label"),
            )
            .map((e) => e.outerHTML.slice(0, 80)),
    );
    check(nameless.length === 0, `without a name: ${nameless.join("; ")}`);
}

async function useBicycle(steps_, browser, eyes, reports) {
    let opened;
    await steps_.run(
        "the bicycle's report opens from a file, asks for nothing, does not play by itself",
        30,
        async () => {
            const model = reports.model("bicycle");
            const report = await reports.make("bicycle", model, "--case", "turn");
            opened = await open(browser, report);
            await opens(opened, report);
        },
    );
    if (!opened) return;
    await steps_.run("play moves the picture, pause stops it", 20, () => plays(opened, eyes));
    await steps_.run("keys and buttons step through time, a loop starts again", 20, () =>
        steps(opened),
    );
    await steps_.run("the timeline can be dragged", 15, () => scrubs(opened, eyes));
    await steps_.run("forces can be hidden and scaled", 15, () => forces(opened, eyes));
    await steps_.run(
        "tracks, ground, joint axes, mass centres and snapshots can be switched",
        20,
        () => layers(opened, eyes),
    );
    await steps_.run("the camera turns, follows and is reset", 25, () => camera(opened, eyes));
    await steps_.run("plots set the time and zoom", 15, () => plots(opened));
    await steps_.run("columns are chosen by keyboard", 15, () => columns(opened));
    await steps_.run("table, model and picture are downloaded, the numbers equal", 15, () =>
        downloads(opened, reports),
    );
    await steps_.run("the certificate, the parameters and the model are shown", 15, () =>
        certificate(opened, reports),
    );
    await steps_.run("dark and light, help", 15, () => looks(opened, reports));
    await steps_.run("everything has a name to be read out", 10, () => names(opened));
    await opened.close();
}

// ---- other ways to look at it --------------------------------------------------------------

async function narrow(browser, reports) {
    const { page, quiet, close } = await open(browser, reports.file("bicycle.html"), {
        width: 500,
        height: 900,
        scheme: "dark",
    });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    await page.screenshot({ path: reports.file("page_narrow.png"), fullPage: true });
    check(wide <= 500, `on a screen of 500 pixels the page is ${wide} wide`);
    same(
        await page.getAttribute("html", "data-theme"),
        "dark",
        "the theme where the system is dark",
    );
    quiet();
    await close();
}

async function withoutWebGL(browser, reports) {
    const before = () => {
        const original = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
            return kind.startsWith("webgl") ? null : original.call(this, kind, ...rest);
        };
    };
    const { page, quiet, close } = await open(browser, reports.file("bicycle.html"), { before });
    check(
        (await page.textContent("#scene-note")).includes("WebGL"),
        "it is not said that there is no WebGL",
    );
    check((await page.locator(".u-over").count()) >= 4, "there are no plots without WebGL");
    const table = await downloaded(page, "#download-csv", reports.out);
    checkTable(table.path, reports.file("bicycle.csv"));
    quiet();
    await close();
}

// Only bodies are left in the picture; then something must be there.
async function renders({ page, quiet, show }, eyes, reports, name) {
    await show(await reports.makeShort(name));
    await page.evaluate(
        (ids) => {
            for (const button of ids.map((id) => document.getElementById(id)))
                if (button.getAttribute("aria-pressed") === "true") button.click();
        },
        ["show-forces", "show-tracks", "show-contacts", "show-loops", "show-ground"],
    );
    const covered = await eyes.coverage(await picture(page));
    check(covered > 0.003, `${name}: bodies cover only ${percent(covered)} of the picture`);
    check((await page.locator(".plot").count()) > 0, `${name}: there are no plots`);
    quiet();
}

// Two windows take one model after the other.
// All models, or every ninth one
async function rendersAll(steps_, browser, eyes, reports, full) {
    const names = readdirSync(join(reports.root, "models"))
        .filter((name) => name.endsWith(".yaml"))
        .map((name) => basename(name, ".yaml"))
        .sort()
        .filter((_, i) => full || i % 9 === 0);
    const draw = async () => {
        const opened = await openWindow(browser, { width: 940, height: 560 });
        for (let name = names.shift(); name; name = names.shift())
            await steps_.run(`${name} is drawn`, 30, () => renders(opened, eyes, reports, name));
        await opened.close();
    };
    const all = [...names];
    await Promise.all([draw(), draw()]);
    await steps_.run("nothing of them sinks or is missing", 10, async () =>
        soundModels(reports, all),
    );
}

// ---- long runs -----------------------------------------------------------------------------

async function longRun(browser, reports) {
    const LIMIT = 3000; // [ms]
    const ATTEMPTS = 4; // other work on the machine must not decide
    const report = await reports.make(
        "long",
        reports.model("bicycle"),
        "--end",
        "600",
        "--every",
        "0.01",
    );
    const size = (statSync(report).size / 1e6).toFixed(1);
    const times = [];
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const { page, took, quiet, close } = await open(browser, report);
        times.push(took);
        const isLast = took < LIMIT || attempt === ATTEMPTS;
        if (isLast) await playsSmoothly(browser, page);
        quiet();
        await close();
        if (isLast) break;
    }
    console.log(`      60,001 rows, ${size} MB: ready after ${times.join(", ")} ms`);
    check(Math.min(...times) < LIMIT, `60,001 rows took ${Math.min(...times)} ms to load`);
}

// The pictures themselves are drawn without a graphics card here, on whatever the machine has left:
// what the page's own process does for each of them is what counts.
async function playsSmoothly(browser, page) {
    const SECONDS = 2;
    const session = await browser.newBrowserCDPSession();
    const busy = async () => {
        const { processInfo } = await session.send("SystemInfo.getProcessInfo");
        return processInfo
            .filter(({ type }) => type === "renderer")
            .reduce((sum, { cpuTime }) => sum + cpuTime, 0);
    };
    await page.keyboard.press("Space");
    await page.waitForTimeout(500);
    const before = await busy();
    const frames = await page.evaluate(
        (seconds) =>
            new Promise((done) => {
                const start = performance.now();
                let count = 0;
                const frame = () => {
                    count++;
                    if (performance.now() - start > 1000 * seconds) done(count);
                    else requestAnimationFrame(frame);
                };
                frame();
            }),
        SECONDS,
    );
    const each = (1000 * ((await busy()) - before)) / frames;
    await page.keyboard.press("Space");
    check((await timeOf(page)) > 1, "it did not play");
    console.log(
        `      ${(frames / SECONDS).toFixed(0)} pictures a second; the page takes ${each.toFixed(1)} ms for each`,
    );
    check(each < 30, `the page takes ${each.toFixed(1)} ms for each picture`);
    check(frames / SECONDS >= 4, `only ${frames / SECONDS} pictures a second`);
}

// ---- hostile runs --------------------------------------------------------------------------

async function hostileModel(browser, reports) {
    const text = readFileSync(reports.model("bicycle"), "utf8")
        .replace(/^name: .*$/m, `name: '${HOSTILE} ${IMAGE} "quotes" \u{1F6B2}'`)
        .replaceAll("colour: firebrick", `colour: '${IMAGE}'`);
    const file = reports.file(`"evil" ${IMAGE.replaceAll("/", "")} \u{1F6B2}.yaml`);
    writeFileSync(file, `# ${HOSTILE}\n# ${IMAGE} <!-- <script>\n${text}`);
    const report = await reports.make("hostile_model", file);
    const { page, quiet, close } = await open(browser, report);
    same(await page.textContent("#title"), `${HOSTILE} ${IMAGE} "quotes" \u{1F6B2}`, "the title");
    check(
        (await page.textContent("#model-text")).startsWith(
            `# ${HOSTILE}\n# ${IMAGE} <!-- <script>\n`,
        ),
        "the model's text is another",
    );
    same(await page.textContent("#model-file"), basename(file), "the name of the model file");
    same(await page.locator("img").count(), 0, "the number of images");
    const saved = await downloaded(page, "#download-model", reports.out);
    check(readFileSync(saved.path).equals(readFileSync(file)), "the model file is another");
    quiet();
    await close();
}

function poison(report) {
    report.columns
        .slice(1)
        .forEach((column, i) => (column.name = `${i} ${HOSTILE}${IMAGE} "'\u{1F6B2},`));
    report.scene.bodies.forEach((body) => (body.name = HOSTILE));
    report.scene.contacts.forEach((contact) => (contact.name = IMAGE));
    report.parameters.forEach((parameter) => (parameter.name = HOSTILE));
    report.scene.bodies[0].shapes[0].colour = "url(javascript:alert(3))";
    report.case = HOSTILE;
    report.settings = [{ name: HOSTILE, formula: IMAGE }];
    report.program = IMAGE;
    Object.assign(report.certificate, {
        method: HOSTILE,
        failure: `${IMAGE} at the end`,
        warnings: [`${HOSTILE} at t = 1.5`],
        [HOSTILE]: IMAGE,
    });
    report.certificate.events = [{ t: 2, kind: HOSTILE }];
}

async function hostileNames(browser, reports) {
    const report = reports.edit(reports.file("bicycle.html"), "hostile_names.html", poison);
    const { page, quiet, close } = await open(browser, report);
    check(
        (await page.textContent("#failure")).includes(IMAGE),
        "the failure is not shown as it is",
    );
    check(await page.isVisible("#failure"), "a failure is not shown");
    check(
        (await page.textContent("#certificate")).includes(HOSTILE),
        "the warning is not shown as it is",
    );
    check(
        (await page.textContent("#parameters")).includes(HOSTILE),
        "parameters are not shown as they are",
    );
    check(
        (await page.locator("#follow option").allTextContents()).includes(`Follow ${HOSTILE}`),
        "bodies are not named as they are",
    );
    await page.locator(".choose-columns").first().click();
    check(
        (await page.textContent("#chooser-groups")).includes(`${HOSTILE}${IMAGE}`),
        "columns are not named as they are",
    );
    await page.keyboard.press("Escape");
    await page.screenshot({ path: reports.file("page_hostile.png") });
    const table = await downloaded(page, "#download-csv", reports.out);
    const header = readFileSync(table.path, "utf8").split("\n")[0];
    check(
        header.startsWith(`t,"0 ${HOSTILE}${IMAGE.replaceAll('"', '""')} ""'\u{1F6B2},"`),
        `the header is ${header.slice(0, 120)}`,
    );
    same(await page.locator("img").count(), 0, "the number of images");
    quiet();
    await close();
}

// What code in the page tries to do; returns what the policy forbade.
async function misbehave(server) {
    const seen = [];
    document.addEventListener("securitypolicyviolation", (event) =>
        seen.push(event.effectiveDirective),
    );
    const script = document.createElement("script");
    script.textContent = "window.hacked = true";
    const foreign = document.createElement("script");
    foreign.src = `${server}/x.js`;
    const image = document.createElement("img");
    image.src = `${server}/x.png`;
    const holder = document.createElement("div");
    holder.innerHTML = '<b onclick="window.hacked = true">x</b>';
    document.body.append(script, foreign, image, holder);
    holder.firstChild.click();
    await fetch(server, { mode: "no-cors" }).then(
        () => (window.hacked = true),
        () => undefined,
    );
    await new Promise((done) => setTimeout(done, 200));
    return seen;
}

// Even code that got into the page could not run as a script, nor speak to anybody.
async function policy(browser, reports) {
    let visits = 0;
    const server = createServer((_, answer) => {
        visits++;
        answer.end("window.hacked = true");
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    const { page, close } = await open(browser, reports.file("bicycle.html"));
    const violations = await page.evaluate(misbehave, `http://127.0.0.1:${server.address().port}`);
    for (const directive of ["script-src-elem", "script-src-attr", "connect-src", "img-src"])
        check(
            violations.includes(directive),
            `${directive} was not enforced: ${violations.join(", ")}`,
        );
    same(
        violations.filter((directive) => directive === "script-src-elem").length,
        2,
        "the number of scripts forbidden",
    );
    same(await page.evaluate(() => window.hacked), undefined, "what the injected code did");
    same(visits, 0, "the number of requests that went out");
    await close();
    server.close();
}

// ---- all of it -----------------------------------------------------------------------------

async function main() {
    const [trundle, root, out] = process.argv.slice(2, 5).map((path) => resolve(path));
    check(out, "usage: node page_test.mjs TRUNDLE ROOT OUT [full]");
    const full = process.argv[5] === "full";
    mkdirSync(out, { recursive: true });
    const reports = new Reports(trundle, root, out);
    const all = new Steps();
    const browser = await launch(root);
    const eyes = await Eyes.make(browser);
    await useBicycle(all, browser, eyes, reports);
    await all.run("a narrow screen, a dark system", 20, () => narrow(browser, reports));
    await all.run("without WebGL there are still plots and downloads", 20, () =>
        withoutWebGL(browser, reports),
    );
    await all.run("hostile text in a model runs nothing", 20, () => hostileModel(browser, reports));
    await all.run("hostile names in a run run nothing", 20, () => hostileNames(browser, reports));
    await all.run("the content security policy holds", 20, () => policy(browser, reports));
    await all.run("60,000 rows load and play", 90, () => longRun(browser, reports));
    await useComparison(all, browser, eyes, reports);
    await useLooks(all, browser, eyes, reports);
    await useLoops(all, browser, eyes, reports);
    await useTerrain(all, browser, eyes, reports);
    await useSpreads(all, browser, eyes, reports);
    await useEquations(all, browser, reports);
    await useSweeps(all, browser, reports);
    await rendersAll(all, browser, eyes, reports, full);
    await browser.close();
    console.log(all.failures ? `${all.failures} failed` : "all passed");
    process.exit(all.failures ? 1 : 0);
}

main().catch((error) => {
    console.error(`page_test: ${error.message}`);
    process.exit(1);
});
