// SPDX-License-Identifier: Apache-2.0
// The page of a sweep: its runs as points, lines and a table, and one of those that were recorded at a
// time, which a click chooses.
import { writeFileSync } from "node:fs";
import { check, open, same } from "./harness.mjs";

const MODEL = `trundle: 1
name: swing
parameters: {l: 0.5, "c": 0.1}
bodies:
  bob:
    joint: {type: revolute, axis: "0, 1, 0", coordinate: a, damping: c}
    mass: 1
    com: 0, 0, -l
initial: {a: 1}
cases: {go: {end: 2, every: 0.1}}
`;

// How much of a canvas is drawn on
const inked = (page, id) =>
    page.locator(`#${id}`).evaluate((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let count = 0;
        for (let i = 3; i < data.length; i += 4) count += data[i] > 20;
        return count;
    });

const runShown = (page) => page.locator("#sweep-table tr.current td").first().textContent();
const isReady = (page) => page.waitForSelector("html[data-ready=yes]", { state: "attached" });

// The length that the page says its run has
async function lengthShown(page) {
    await page.click("#tab-parameters");
    const text = await page.textContent("#parameters");
    await page.click("#tab-sweep");
    return Number(text.match(/l\s*([\d.]+)/)[1]);
}

async function choosing(browser, reports, html) {
    const { page, noise, close } = await open(browser, html);
    const words = await page.textContent("#sweep-words");
    check(words.includes("24 runs of"), `the page says ${words}`);
    check(words.includes("6 of them can be shown"), `the page says ${words}`);
    same(await page.getAttribute("#tab-sweep", "aria-selected"), "true", "the tab of the sweep");
    same(await page.locator("#sweep-table tbody tr").count(), 24, "rows of the table");
    same(await page.locator("#sweep-table tbody button").count(), 6, "runs that can be shown");
    for (const id of ["sweep-points", "sweep-lines"])
        check((await inked(page, id)) > 300, `${id} is empty`);
    same(await runShown(page), "0", "the run that is shown first");
    const first = await lengthShown(page);
    await page.locator("#sweep-table tbody button", { hasText: /^20$/ }).click();
    await page.waitForURL(/run=20/);
    await isReady(page);
    same(await runShown(page), "20", "the run that was chosen");
    check((await lengthShown(page)) !== first, "another run has the same length");
    const values = await page.locator("#sweep-table tr.current td").allTextContents();
    check(Math.abs(Number(values[1]) - (await lengthShown(page))) < 1e-4, "its length is another one");
    // Other axes are remembered, and a click on a ring chooses, too
    const before = await inked(page, "sweep-points");
    await page.selectOption("#sweep-x", { label: "final(a)" });
    await page.selectOption("#sweep-colour", { label: "l" });
    check(before > 0, "nothing was drawn");
    await page.reload();
    await isReady(page);
    same(await page.locator("#sweep-x option:checked").textContent(), "final(a)", "the axis");
    same(await runShown(page), "20", "the run after loading again");
    await clickRing(page);
    await page.waitForURL((url) => !/run=20\b/.test(url.hash));
    await isReady(page);
    check((await runShown(page)) !== "20", "a click on a ring chose nothing");
    await clickLine(page);
    await page.locator("#sweep-table th button", { hasText: "l" }).first().click();
    const lengths = await page.locator("#sweep-table tbody tr td:nth-child(2)").allTextContents();
    const sorted = [...lengths].sort((a, b) => Number(a) - Number(b));
    same(lengths.join(), sorted.join(), "the table by length");
    same(noise.filter((what) => !what.startsWith("request to file:")).join("; "), "", "noise");
    await page.setViewportSize({ width: 390, height: 800 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= 390, `on a screen of 390 pixels the page is ${wide} wide`);
    await close();
}

// Goes over the picture until the pointer says that there is something to choose.
async function clickRing(page) {
    const canvas = page.locator("#sweep-points");
    await canvas.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await canvas.boundingBox();
    for (let i = 8; i < width; i += 9)
        for (let k = 8; k < height; k += 9) {
            await page.mouse.move(x + i, y + k);
            const words = await page.textContent("#sweep-pointed");
            const isRing = (await canvas.evaluate((c) => c.style.cursor)) === "pointer";
            if (!isRing || words.startsWith("run 20:")) continue;
            await page.mouse.click(x + i, y + k);
            return;
        }
    throw new Error("there is no ring under the pointer anywhere");
}

// Goes down a picture of lines, and clicks, until another run is shown.
async function clickLine(page) {
    const before = await runShown(page);
    const canvas = page.locator("#sweep-lines");
    await canvas.scrollIntoViewIfNeeded();
    const { height, width } = await canvas.boundingBox();
    for (let y = 40; y < height - 24; y += 8) {
        await canvas.click({ position: { x: width / 4, y } });
        await page.waitForTimeout(100);
        await isReady(page);
        if ((await runShown(page)) !== before) return;
    }
    throw new Error("no line is under the pointer anywhere");
}

// Nothing was recorded, or there is nothing that moves: numbers alone
async function numbers(browser, html, count) {
    const { page, quiet, close } = await open(browser, html);
    const words = await page.textContent("#sweep-words");
    check(words.includes(`${count} runs of`) && words.includes("None of them was recorded"), words);
    same(await page.textContent("#title"), "swing", "the title");
    same(await page.locator("#sweep-table tbody tr").count(), count, "rows of the table");
    same(await page.locator("#sweep-table tbody button").count(), 0, "runs that can be shown");
    for (const id of ["sweep-points", "sweep-lines"])
        check((await inked(page, id)) > 300, `${id} is empty`);
    for (const id of ["stage", "tab-plots", "panel-plots", "tab-certificate", "summary", "download-csv"])
        check(!(await page.isVisible(`#${id}`)), `${id} is shown`);
    await page.selectOption("#sweep-colour", { label: "l" });
    await page.click("#theme");
    await page.click("#tab-model");
    check((await page.textContent("#model-text")).includes("name: swing"), "the model is another");
    await page.click("#tab-parameters");
    check((await page.textContent("#parameters")).includes("0.5"), "the parameters are others");
    await page.click("#tab-sweep");
    await page.setViewportSize({ width: 390, height: 800 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= 390, `on a screen of 390 pixels the page is ${wide} wide`);
    quiet();
    await close();
}

export async function useSweeps(all, browser, reports) {
    const model = reports.file("swing.yaml");
    writeFileSync(model, MODEL);
    const [file, html] = [reports.file("swing.db"), reports.file("swept.html")];
    const vary = ["--vary", "l~uniform(0.4, 0.6)", "--vary", "c=0.1,0.2", "--samples", "12"];
    const keep = ["--keep", "final(a), max(a_rate)", "--record", "4"];
    await all.run("a sweep, and the runs of it that can be seen", 60, async () => {
        await reports.call("sweep", model, ...vary, ...keep, "-q", "-o", file);
        await reports.call("view", file, "--model", model, "-q", "-o", html);
        await choosing(browser, reports, html);
    });
    await all.run("a sweep of which nothing can be seen to move", 60, async () => {
        for (const what of [["--end", "1"], ["--do", "linearise", "--record", "1"]]) {
            const [bare, page] = [reports.file(`bare${what.length}.db`), reports.file("bare.html")];
            await reports.call("sweep", model, "--vary", "l=0.4:0.6:0.05", "--vary", "c=0.1,0.2", ...what, "-q", "-o", bare);
            await reports.call("view", bare, "--model", model, "-q", "-o", page);
            await numbers(browser, page, 10);
        }
    });
}
