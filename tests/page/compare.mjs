// SPDX-License-Identifier: Apache-2.0
// Several runs on one page, and plots: what they show to begin with, and that a time is at one
// place in all of them.
import { readFileSync, writeFileSync } from "node:fs";
import { check, open, picture, same, settle, timeOf, until } from "./harness.mjs";

const number = (text) => Number(text.replaceAll("\u2212", "-"));

function close(found, wanted, what) {
    check(
        Math.abs(found - wanted) <= 1e-4 * Math.abs(wanted) + 1e-12,
        `${what}: ${found} instead of ${wanted}`,
    );
}

// ---- several runs --------------------------------------------------------------------------

async function makePair(reports) {
    const model = reports.model("bicycle");
    await reports.make("slow", model);
    await reports.make("fast", model, "--set", "speed0=6", "--end", "12", "--every", "0.03");
    return reports.view("pair", model, "slow", "fast");
}

// The value that a plot shows for a column of a run
async function valueOf(page, name, label) {
    for (const chip of await page.locator(".chips li").all()) {
        const value = chip.locator(`.value[title="${label}"]`);
        if ((await chip.locator(".name").textContent()) === name && (await value.count()))
            return number(await value.textContent());
    }
    throw new Error(`${name} of ${label} is not plotted`);
}

async function overlaid({ page, quiet }, eyes, reports) {
    const labels = await page.locator("#runs .name").allTextContents();
    same(labels.join(" | "), "slow (speed0 = 4.6) | fast (speed0 = 6)", "the names of the runs");
    await page.keyboard.press("End");
    same(await timeOf(page), 12, "the end of the longer run");
    for (const [k, name] of ["slow", "fast"].entries()) {
        const row = reports.table(name).at(-1);
        close(await valueOf(page, "yaw", labels[k]), row.yaw, `yaw of ${name}`);
        close(await valueOf(page, "speed", labels[k]), row.speed, `speed of ${name}`);
    }
    await page.keyboard.press("Home");
    for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(300);
    const both = await picture(page);
    await page.locator("#runs button").nth(1).click();
    const alone = await eyes.wait(page, both, { least: 0.003 }, "hiding a run changed nothing");
    await page.locator("#runs button").nth(1).click();
    await eyes.wait(page, both, { most: 0.001 }, "a run did not come back");
    await page.locator("#runs button").nth(0).click();
    await eyes.wait(page, alone, { least: 0.003 }, "the first run cannot be hidden");
    await page.locator("#runs button").nth(0).click();
    await page.click("#show-beside");
    await eyes.wait(page, both, { least: 0.003 }, "side by side is as over each other");
    await page.click("#show-beside");
    await eyes.wait(page, both, { most: 0.001 }, "over each other is not as before");
    quiet();
}

// Both curves of one column are there, in colours of their own.
async function drawn({ page, quiet }) {
    const card = page.locator(".plot").filter({ hasText: "pitch" }).first();
    await card.scrollIntoViewIfNeeded();
    await settle(page);
    const colours = await card.locator("canvas").evaluate((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let [blue, orange] = [0, 0];
        for (let i = 0; i < data.length; i += 4) {
            const [r, g, b, a] = data.subarray(i, i + 4);
            if (a < 200) continue;
            if (b > 180 && r < 80) blue++;
            if (r > 200 && b < 90 && g < 130) orange++;
        }
        return { blue, orange };
    });
    check(colours.blue > 100, `the first run has ${colours.blue} pixels`);
    check(colours.orange > 50, `the second run has ${colours.orange} pixels`);
    quiet();
}

// The numbers, and what is downloaded, are those of the run that is chosen.
async function chosen({ page, quiet }, reports) {
    await page.click("#tab-certificate");
    const before = await page.textContent("#certificate");
    await page.selectOption("#which-run", { index: 1 });
    const after = await page.textContent("#certificate");
    check(before !== after && after.includes("Set speed0"), "the certificate is not the other's");
    const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.click("#download-csv"),
    ]);
    const path = reports.file("downloaded-fast.csv");
    await download.saveAs(path);
    const rows = (file) => readFileSync(file, "utf8").trimEnd().split("\n");
    same(rows(path).length, rows(reports.file("fast.csv")).length, "the rows of the table");
    same(rows(path)[0], rows(reports.file("fast.csv"))[0], "the header of the table");
    await page.selectOption("#which-run", { index: 0 });
    await page.click("#tab-plots");
    quiet();
}

// ---- plots ---------------------------------------------------------------------------------

const lines = (page, kind) =>
    page.locator(`.plot .${kind}`).evaluateAll((all) =>
        all.filter((line) => !line.hidden).map((line) => line.getBoundingClientRect().left),
    );

async function aligned(page, kind, what) {
    await settle(page);
    const places = await lines(page, kind);
    check(places.length >= 4, `${what}: ${places.length} lines`);
    const spread = Math.max(...places) - Math.min(...places);
    check(spread < 0.5, `${what}: lines of one time are ${spread} pixels apart`);
    return places[0];
}

async function cursors({ page, quiet }) {
    await page.focus("#timeline");
    await page.keyboard.press("Home");
    const start = await aligned(page, "time-line", "at the start");
    await page.keyboard.press("End");
    const end = await aligned(page, "time-line", "at the end");
    check(end - start > 200, `from the start to the end it goes ${end - start} pixels`);
    const { x, y, width, height } = await page.locator(".u-over").first().boundingBox();
    await page.mouse.move(x + 0.2 * width, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + 0.4 * width, y + height / 2, { steps: 4 });
    await page.mouse.up();
    await page.mouse.click(x + 0.5 * width, y + height / 2);
    await aligned(page, "time-line", "zoomed");
    await page.mouse.move(x + 0.7 * width, y + height / 2);
    await aligned(page, "hover-line", "under the pointer");
    await page.mouse.dblclick(x + 0.5 * width, y + height / 2);
    // A plot with wide numbers comes and goes.
    await page.click("#add-plot");
    await page.keyboard.type("residual");
    await page.keyboard.press("Enter");
    await page.click("#chooser-done");
    await until(page, "the new plot is drawn", () =>
        [...document.querySelectorAll(".plot")].at(-1).querySelector("canvas"),
    );
    await aligned(page, "time-line", "with another plot");
    quiet();
}

const DECLARED = `trundle: 1
name: Declared
bodies:
  cart: {joint: {type: prismatic, axis: "1, 0, 0", coordinate: way}, mass: 1}
  pole: {parent: cart, joint: {type: revolute, axis: "0, 1, 0", coordinate: swing}, mass: 1, com: "0, 0, -1"}
outputs: {place: way, lean: swing, fixed: 3, pace: d(way), both: way + 2*swing}
cases: {go: {initial: {swing: 1, d(way): 0.2}, end: 3, every: 0.1}}
`;

// All that is declared, what stands still too, with its unit; then what moves most.
async function defaults(browser, reports) {
    const model = reports.file("declared.yaml");
    writeFileSync(model, DECLARED);
    const html = await reports.make("declared", model);
    const { page, quiet, close: end } = await open(browser, html);
    const outputs = ["place", "lean", "fixed", "pace", "both"];
    const names = await page.locator(".chips .name").allTextContents();
    same(
        names.slice(0, outputs.length).sort().join(),
        [...outputs].sort().join(),
        "the first columns",
    );
    check(names.length > outputs.length, "nothing comes after the outputs");
    for (const [name, unit] of [
        ["place", "m"],
        ["lean", "rad"],
        ["pace", "m/s"],
    ]) {
        const chip = page.locator(".chips li").filter({ hasText: name }).first();
        same(await chip.getAttribute("title"), `${name} [${unit}]`, "what a curve is called");
    }
    const table = reports.table("declared");
    const range = (name) => {
        const all = table.map((row) => row[name]);
        return Math.max(...all) - Math.min(...all);
    };
    const next = names[outputs.length];
    same(next, range("way") > range("swing") ? "way" : "swing", "what moves most");
    quiet();
    await end();
}

export async function useComparison(steps, browser, eyes, reports) {
    let opened;
    await steps.run("two runs make one page", 40, async () => {
        opened = await open(browser, await makePair(reports));
        opened.quiet();
    });
    if (opened) {
        await steps.run("runs lie over each other or side by side", 40, () =>
            overlaid(opened, eyes, reports),
        );
        await steps.run("both are plotted", 15, () => drawn(opened));
        await steps.run("the numbers of a run are chosen", 15, () => chosen(opened, reports));
        await opened.page.screenshot({ path: reports.file("page_pair.png") });
        await steps.run("a time is at one place in all plots", 20, () => cursors(opened));
        await opened.close();
    }
    await steps.run("plots begin with what the model declares", 20, () =>
        defaults(browser, reports),
    );
}
