// SPDX-License-Identifier: Apache-2.0
// Loops and beams on the page: their marks, their forces against the table of the run, and parts
// that are no bodies.
import { readFileSync, writeFileSync } from "node:fs";
import { check, openWindow, picture, same } from "./harness.mjs";

// A few bodies, each held in another way, a beam and a motor behind a spring
const KINDS = `trundle: 1
name: All kinds
bodies:
  a: {joint: {type: free}, mass: 1, com: "0.2, 0.1, 0", inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  b: {joint: {type: free}, mass: 1, com: "0.2, 0.1, 0.1", inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  c: {joint: {type: free}, mass: 1, com: "0.2, 0.1, 0", inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  mast:
    joint: {type: revolute, axis: "0, 0, 1", at: "0, 1, 0", coordinate: turn, elastic: {stiffness: 5, inertia: 0.1}}
    beam: {length: 1, density: 0.3, stiffness: 0.4, planes: yz, modes: 3}
  bob: {parent: mast.tip, joint: {type: revolute, axis: "1, 0, 0"}, mass: 0.2, com: "0, 0, -0.1"}
loops:
  weld: {kind: pose, body: a, to: "0, 0, 0.5", turn: "0.3, 0, 0.2"}
  hinge: {kind: axis, body: b, at: "-0.2, 0, 0", on: a, to: "0.7, 0, 0", axis: "0, 1, 1"}
  rail: {kind: slider, body: c, to: "1.4, 0, 0.5", axis: "1, 0, 2"}
roles:
  turn: {torque: 0.1*sin(3*t)}
outputs: {tip_x: mast.tip.x, tip_y: mast.tip.y, tip_z: mast.tip.z}
cases: {fall: {end: 0.4, every: 0.02}}
`;
const BODY = 7;
const CONTACT = 6;

// The numbers of a contact in a row of the frames
function contactAt({ report, frames }, name, row) {
    const { stride, bodies, contacts } = report.scene;
    let start = row * stride + BODY * bodies.length;
    for (const contact of contacts) {
        const count = CONTACT + (contact.has_moment ? 3 : 0);
        if (contact.name === name) return { contact, numbers: frames.slice(start, start + count) };
        start += count;
    }
    throw new Error(`there is no ${name} in the page`);
}

function near(found, wanted, size, what) {
    const error = Math.abs(found - wanted);
    check(error <= 2e-6 * size, `${what}: ${found} instead of ${wanted}`);
}

// Forces along rows that stand upright on each other: what is shown is as long as what was computed.
function checkForces(contents, table, name) {
    let largest = 0;
    table.forEach((line, row) => {
        const { contact, numbers } = contactAt(contents, name, row);
        const norm = (rows) => Math.hypot(...rows.map((part) => line[`lambda.${part}`]));
        const isMoment = (part) => /\.m[xyz]$/.test(part);
        const force = norm(contact.rows.filter((part) => !isMoment(part)));
        const moment = norm(contact.rows.filter(isMoment));
        near(Math.hypot(...numbers.slice(3, 6)), force, force, `force of ${name} in row ${row}`);
        near(Math.hypot(...numbers.slice(6)), moment, moment, `moment of ${name} in row ${row}`);
        largest = Math.max(largest, force);
    });
    check(largest > 0.01, `${name} has no force at all`);
}

const isPressed = async (page, id) => (await page.getAttribute(`#${id}`, "aria-pressed")) === "true";

async function setLayers(page, shown) {
    for (const [id, wanted] of Object.entries(shown))
        if ((await isPressed(page, id)) !== wanted) await page.click(`#${id}`);
}

// The marks appear with their layer, and the arrows with theirs.
async function checkLayers(page, eyes) {
    await setLayers(page, { "show-forces": false, "show-loops": false });
    const bare = await picture(page);
    await setLayers(page, { "show-loops": true });
    const marked = await eyes.wait(page, bare, { least: 2e-4 }, "marks of loops changed nothing");
    await setLayers(page, { "show-forces": true });
    await eyes.wait(page, marked, { least: 2e-4 }, "arrows changed nothing");
    return { bare, marked };
}

// The card of an element says what the table says at the end of the run.
async function checkCard(page, contents, table, name) {
    const { contact } = contactAt(contents, name, 0);
    await page.keyboard.press("End");
    await page.locator("#legend button").filter({ hasText: name }).first().click();
    same(await page.textContent("#element h3"), name, "the chosen loop");
    const words = (await page.textContent("#element p")).split(":")[0];
    same(words, contact.kind, `the kind of ${name}`);
    const cells = await page.locator("#element dl > *").allTextContents();
    const line = table[table.length - 1];
    for (const part of contact.rows) {
        const cell = cells[cells.indexOf(part.slice(part.lastIndexOf(".") + 1)) + 1];
        const value = Number(cell.replaceAll("\u2212", "-").split(" ")[0]);
        const wanted = line[`lambda.${part}`];
        check(
            Math.abs(value - wanted) <= 1e-4 * Math.abs(wanted),
            `${part} is shown as “${cell}” instead of ${wanted}`,
        );
        check(/ N( m)?$/.test(cell), `“${cell}” has no unit`);
    }
    await page.getByRole("button", { name: "Plot over time" }).click();
    const plotted = await page.locator(".plot .chips .name").allTextContents();
    for (const part of contact.rows)
        check(plotted.includes(`lambda.${part}`), `lambda.${part} is not plotted`);
    const place = await page.locator(".plot .time-line").last().evaluate((element) => {
        const { left, width } = element.parentElement.getBoundingClientRect();
        return (element.getBoundingClientRect().left - left) / width;
    });
    check(place > 0.98, `at the end the new plot has its line of time at ${place}`);
    await page.locator("#element").getByRole("button", { name: "Close" }).click();
}

// Parts are followed by nobody, and there is no joint to them.
async function checkParts(page, contents) {
    const shown = await page.locator("#follow option").allTextContents();
    for (const { name, part } of contents.report.scene.bodies)
        same(shown.includes(`Follow ${name}`), !part, `${name} is listed`);
}

async function bundled({ page, quiet, show }, eyes, reports, name, loops) {
    const html = await reports.makeShort(name);
    const contents = reports.contents(html);
    const table = reports.table(`model_${name}`);
    await show(html);
    const found = contents.report.scene.contacts.filter(({ loop }) => loop);
    same(found.map((loop) => `${loop.name} ${loop.kind}`).join(", "), loops, "the loops");
    for (const loop of found) checkForces(contents, table, loop.name);
    await checkLayers(page, eyes);
    await checkCard(page, contents, table, found[found.length - 1].name);
    await checkParts(page, contents);
    quiet();
}

// The mark of a four-bar's only loop is where a click chooses it.
async function picks({ page, quiet, show }, eyes, reports) {
    await show(await reports.makeShort("four_bar"));
    const { bare, marked } = await checkLayers(page, eyes);
    const { x, y } = await page.locator("#scene").boundingBox();
    const middle = await eyes.middle(bare, marked);
    await page.mouse.click(x + middle.x, y + middle.y);
    same(await page.textContent("#element h3"), "closing", "the loop that was clicked");
    quiet();
}

// The last part of each beam is where formulas have its tip.
function checkTip(contents, table, beam, names) {
    const { stride } = contents.report.scene;
    const start = BODY * (beam.first + beam.count - 1);
    table.forEach((line, row) =>
        names.forEach((name, k) =>
            near(contents.frames[row * stride + start + k], line[name], 1, `${name} in row ${row}`),
        ),
    );
}

async function softBoard({ page, quiet, show }, eyes, reports) {
    const tip = "  tip_x: beam4.tip.x\n  tip_y: beam4.tip.y\n  tip_z: beam4.tip.z\n";
    const text = readFileSync(reports.model("snakeboard_soft"), "utf8");
    const model = reports.file("board_with_tip.yaml");
    writeFileSync(model, text.replace(/^outputs:\n/m, `outputs:\n${tip}`));
    const html = await reports.make("board_with_tip", model, "--end", "2");
    const contents = reports.contents(html);
    const { beams } = contents.report.scene;
    same(beams.length, 2, "the number of beams");
    checkTip(contents, reports.table("board_with_tip"), beams[1], ["tip_x", "tip_y", "tip_z"]);
    await show(html);
    await checkParts(page, contents);
    const first = await picture(page);
    await page.click("#show-snapshots");
    await page.keyboard.press("End");
    await eyes.wait(page, first, { least: 0.005 }, "the end looks like the start");
    quiet();
}

async function allKinds({ page, quiet, show }, eyes, reports) {
    const model = reports.file("kinds.yaml");
    writeFileSync(model, KINDS);
    const html = await reports.make("kinds", model);
    const contents = reports.contents(html);
    const table = reports.table("kinds");
    const { beams, bodies } = contents.report.scene;
    checkTip(contents, table, beams[0], ["tip_x", "tip_y", "tip_z"]);
    check(bodies.find(({ name }) => name === "turn.motor").part, "a motor is called a body");
    await show(html);
    for (const name of ["weld", "hinge", "rail"]) {
        checkForces(contents, table, name);
        await checkCard(page, contents, table, name);
    }
    await checkLayers(page, eyes);
    await checkParts(page, contents);
    quiet();
}

// A model of nothing but a beam is something.
async function beamAlone({ page, quiet, show }, eyes, reports) {
    const model = reports.file("beam.yaml");
    writeFileSync(
        model,
        "trundle: 1\nbodies: {rod: {beam: {length: 1, density: 1, stiffness: 1}}}\n" +
            "cases: {swing: {initial: {rod.y1: 0.1}, end: 1, every: 0.1}}\n",
    );
    await show(await reports.make("beam", model));
    check(await page.isHidden("#scene-note"), "a beam is called nothing to draw");
    const covered = await eyes.coverage(await picture(page));
    check(covered > 0.001, `a beam covers only ${covered} of the picture`);
    quiet();
}

export async function useLoops(steps, browser, eyes, reports) {
    const opened = await openWindow(browser);
    const balls = [1, 2, 3, 4, 5, 6].map((i) => `ball${i} point`).join(", ");
    for (const [name, loops] of [
        ["four_bar", "closing point"],
        ["sk8o", "right_hinge axis, left_hinge axis"],
        ["stewart", balls],
        ["slider_crank", "big_end axis"],
    ])
        await steps.run(`${name}: loops, their forces and numbers`, 30, () =>
            bundled(opened, eyes, reports, name, loops),
        );
    await steps.run("a loop is chosen in the picture", 20, () => picks(opened, eyes, reports));
    await steps.run("kinds of loops, moments, a beam, a motor", 30, () =>
        allKinds(opened, eyes, reports),
    );
    await steps.run("snakeboard_soft: beams bend", 20, () => softBoard(opened, eyes, reports));
    await steps.run("a beam alone is drawn", 20, () => beamAlone(opened, eyes, reports));
    await opened.close();
}
