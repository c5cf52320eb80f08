// SPDX-License-Identifier: Apache-2.0
// Equations as a browser shows them: the file that `equations --to html` writes, and the tab of a report.
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { check, open, same, settle } from "./harness.mjs";

const ALL = "M,c,Q,G,H,J,reduced,lambda,tau,energy";
const HOSTILE = '<img src=x onerror="alert(1)">&$_';

// In the page: what is wrong with its formulas, and how many there are
function look(selector) {
    const wrong = [];
    const all = [...document.querySelectorAll(`${selector} math`)];
    for (const math of all) {
        const { width, height } = math.getBoundingClientRect();
        if (!(width > 8 && height > 8)) wrong.push(`${math.textContent} is ${width} by ${height}`);
        for (const leaf of math.querySelectorAll("mi, mn, mtext")) {
            const box = leaf.getBoundingClientRect();
            const isThere = box.width > 0 && (box.height > 0 || leaf.textContent === "\u2009");
            if (!isThere) wrong.push(`${leaf.outerHTML} has no size`);
        }
        for (const { localName, childElementCount } of math.querySelectorAll("msup, msub, mfrac, mover"))
            if (childElementCount !== 2) wrong.push(`${localName} has ${childElementCount} parts`);
        const foreign = [...math.querySelectorAll("*")].filter((e) => e.namespaceURI !== math.namespaceURI);
        if (foreign.length) wrong.push(`a formula holds ${foreign[0].outerHTML}`);
    }
    return { count: all.length, wrong };
}

async function sound(page, selector, least) {
    const { count, wrong } = await page.evaluate(look, selector);
    check(count >= least, `there are ${count} formulas`);
    same(wrong.slice(0, 3).join("; "), "", "what is wrong with them");
}

// A file by itself asks for nothing, and no name in it is more than a name.
async function file(browser, reports, model, name, least) {
    const html = reports.file(name);
    await reports.call("equations", model, "--show", ALL, "-q", "-o", html);
    const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
    const noise = [];
    page.on("request", (r) => r.url() === pathToFileURL(html).href || noise.push(r.url()));
    page.on("dialog", (d) => noise.push(d.message()) && d.dismiss());
    page.on("pageerror", (e) => noise.push(e.message));
    await page.goto(pathToFileURL(html).href);
    await sound(page, "body", least);
    same(await page.locator("img, script, iframe").count(), 0, "foreign elements");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= 390, `on a screen of 390 pixels ${name} is ${wide} wide`);
    const text = await page.textContent("body");
    await page.screenshot({ path: reports.file(`${name}.png`) });
    same(noise.join("; "), "", "what it asked for");
    await page.close();
    return text;
}

async function files(browser, reports) {
    const text = await file(browser, reports, reports.model("snakeboard"), "snakeboard_equations.html", 20);
    for (const symbol of ["cos", "\u02d9", "\u2212"]) check(text.includes(symbol), `no ${symbol}`);
    const evil = reports.file(`${HOSTILE}.yaml`);
    copyFileSync(reports.model("cart_pole"), evil);
    const title = await file(browser, reports, evil, "evil_equations.html", 8);
    check(title.includes(HOSTILE), `the title is ${title.slice(0, 60)}`);
}

const pressTab = async (page) => {
    await page.click("#tab-equations");
    await settle(page);
};

async function tab(browser, reports) {
    const report = await reports.make("with_equations", reports.model("snakeboard"), "--end", "1");
    const { page, quiet, close } = await open(browser, report);
    same(await page.locator("math").count(), 0, "formulas before anybody asks");
    await pressTab(page);
    await sound(page, "#equations-shown", 15);
    const text = await page.textContent("#equations-shown");
    check(text.includes("trundle equations snakeboard.yaml --case"), "the command is not told");
    await page.screenshot({ path: reports.file("page_equations.png") });
    await page.click("#tab-plots");
    await pressTab(page);
    const again = await page.textContent("#equations-shown");
    same(again, text, "what is shown the second time");
    quiet();
    await close();
}

async function onPhone(browser, reports) {
    const { page, quiet, close } = await open(browser, reports.file("with_equations.html"), {
        width: 360,
        height: 740,
        scheme: "dark",
    });
    const boxes = await page.locator("#tabs button").evaluateAll((all) =>
        all.map((e) => [e.id, e.getBoundingClientRect().right, e.scrollWidth - e.clientWidth]),
    );
    for (const [id, right, hidden] of boxes)
        check(right <= 360.5 && hidden <= 0, `#${id} ends at ${right}, with ${hidden} cut off`);
    await pressTab(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= 360, `on a screen of 360 pixels the page is ${wide} wide`);
    check(await page.isVisible("#equations-shown math"), "no formula is seen");
    await page.screenshot({ path: reports.file("page_equations_phone.png") });
    quiet();
    await close();
}

// Of several runs those of the first, also from files; where there are none, words.
async function ofRuns(browser, reports) {
    await reports.make("other_equations", reports.model("snakeboard"), "--end", "1", "--set", "l=0.5");
    const names = ["with_equations", "other_equations"];
    const both = await reports.view("two_equations", reports.model("snakeboard"), ...names);
    const opened = await open(browser, both);
    await pressTab(opened.page);
    await sound(opened.page, "#equations-shown", 15);
    const shown = await opened.page.textContent("#equations-shown");
    check(shown.includes("with_equations"), "whose they are is not told");
    opened.quiet();
    await opened.close();
    const drive = ["--case", "drive", "--end", "1"];
    const made = await reports.make("first_order", reports.model("robot_differential"), ...drive);
    const first = await open(browser, made);
    await pressTab(first.page);
    const words = await first.page.textContent("#equations-shown");
    check(words.startsWith("There are no equations here: equations are those of second order"), words);
    first.quiet();
    await first.close();
}

// What is in the element, whatever that is, becomes formulas and words, or nothing.
async function hostile(browser, reports) {
    const from = readFileSync(reports.file("with_equations.html"), "utf8");
    const mark = 'id="equations">';
    const start = from.indexOf(mark) + mark.length;
    check(start > mark.length, "the report has no equations");
    const text = `<!DOCTYPE html><body><h1>x</h1><h2 onclick="alert(1)">M<script>alert(2)</script></h2>
<p style="position:fixed">words ${HOSTILE}<a href="javascript:alert(3)">link</a></p><iframe src="x"></iframe><form><input></form>
<math><mrow href="javascript:alert(4)" onclick="alert(5)"><mi>a</mi><annotation-xml encoding="text/html"><img src=x
onerror="alert(6)"></annotation-xml><mtext><img src=x onerror="alert(7)"><p>b</p></mtext><maction>z</maction></mrow></math>`;
    const name = reports.file("hostile_equations.html");
    const after = from.slice(from.indexOf("<", start));
    writeFileSync(name, from.slice(0, start) + Buffer.from(text).toString("base64") + after);
    const { page, noise, close } = await open(browser, name);
    await pressTab(page);
    const shown = page.locator("#equations-shown");
    const foreign = "img, script, iframe, a, form, input, style, annotation-xml, maction";
    same(await shown.locator(foreign).count(), 0, "foreign elements");
    const attributes = await shown.evaluate((e) =>
        [...e.querySelectorAll("*")].flatMap((x) => [...x.attributes].map((a) => `${a.name}=${a.value}`)),
    );
    same([...new Set(attributes)].sort().join(" "), "class=quiet display=block", "the attributes");
    check((await shown.textContent()).includes("words &$_"), "words are lost");
    const said = noise.filter((words) => !words.includes("inline event handler violates"));
    same(said.join("; "), "", "what else it did"); // than being read, without its handlers
    await close();
}

export async function useEquations(steps, browser, reports) {
    let why = "";
    try {
        execFileSync(reports.trundle, ["equations", reports.model("cart_pole")], { stdio: "pipe" });
    } catch (error) {
        why = String(error.stderr);
    }
    if (why) {
        check(why.includes("FLINT"), why);
        console.log(`      equations are left out: ${why.trim()}`);
        return;
    }
    await steps.run("equations as a file of their own", 20, () => files(browser, reports));
    await steps.run("equations in a report, when they are asked for", 20, () => tab(browser, reports));
    await steps.run("equations on a telephone", 20, () => onPhone(browser, reports));
    await steps.run("equations of several runs, and where there are none", 20, () =>
        ofRuns(browser, reports),
    );
    await steps.run("equations that mean harm are words", 20, () => hostile(browser, reports));
}
