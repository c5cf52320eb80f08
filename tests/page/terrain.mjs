// SPDX-License-Identifier: Apache-2.0
// Ground that is not flat, and spheres that others are on: they are in the picture, in colours of
// their own, the numbers of a page are those of the formula, and what is inside a shell is seen.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { check, openWindow, picture, same, settle } from "./harness.mjs";

const FREE = "joint: {type: free}, mass: 1, inertia: {xx: 0.01, yy: 0.01, zz: 0.01}";
const UPRIGHT = (body) => `${body}.qw: 1, ${body}.qx: 0, ${body}.qy: 0, ${body}.qz: 0`;

const HILLS = `trundle: 1
name: Hills
ground: {height: "HEIGHT"}
bodies: {ball: {${FREE}}}
contacts: {touch: {kind: rolling, shape: ball, body: ball, radius: 0.15}}
initial: {contact.touch.x: 0.5, contact.touch.y: 0, ${UPRIGHT("ball")}, ball.wx: 2, ball.wy: 3, ball.wz: 0}
guess: {ball.x: 0.5, ball.z: 0.3}
cases: {roll: {end: 1, every: 0.05}}
`;
const WAVES = HILLS.replace("HEIGHT", "0.2*sin(2*x)*cos(2*y)");
// Half of a sphere: all around it is a hole.
const PIT = HILLS.replace("HEIGHT", "-sqrt(1 - x^2 - y^2)").replace("ball.z: 0.3", "ball.z: -0.6");

const PLATE = `trundle: 1
name: Plate
bodies:
  plate: {joint: {type: revolute, axis: "0, 0, 1", coordinate: turn}, mass: 5, inertia: {xx: 1, yy: 1, zz: 1}}
  ball: {${FREE}}
contacts: {touch: {kind: rolling, shape: ball, body: ball, radius: 0.1, on: plate, surface: {height: 0.3*(x^2 + 3*y^2)}}}
initial: {turn: 0, d(turn): 2, ball.x: 0.2, ball.y: 0, ${UPRIGHT("ball")}, ball.wx: 0, ball.wy: 0, ball.wz: 0}
guess: {ball.z: 0.1}
cases: {roll: {end: 1, every: 0.05}}
`;

const SHELL = (shell) => `trundle: 1
name: Shell
bodies:
  shell: {${FREE}}
  pea: {${FREE}, shapes: {own: {type: sphere, radius: 0.12, colour: red}}}
contacts:
  roll: {kind: rolling, shape: ball, body: shell, radius: 0.5}
  inside: {kind: rolling, shape: ball, body: pea, radius: 0.12, on: shell, surface: {kind: sphere, radius: ${shell}}}
initial: {shell.x: 0, shell.y: 0, ${UPRIGHT("shell")}, shell.wx: 0, shell.wy: 0, shell.wz: 0, pea.x: 0.2, pea.y: 0.05, ${UPRIGHT("pea")}, pea.wx: 0, pea.wy: 0, pea.wz: 0}
guess: {shell.z: 0.5, pea.z: 0.2}
cases: {roll: {end: 0.5, every: 0.05}}
`;

async function make(reports, name, text) {
    const model = reports.file(`${name}.yaml`);
    writeFileSync(model, text);
    return reports.make(name, model);
}

function heightsOf(html) {
    const page = readFileSync(html, "utf8");
    const start = page.indexOf(">", page.indexOf('id="heights"')) + 1;
    const bytes = Buffer.from(page.slice(start, page.indexOf("</script>", start)), "base64");
    return Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
}

// Colours of a picture in its middle: how many pixels there are where a test holds
function count(eyes, png, test) {
    return eyes.page.evaluate(
        async ([text, condition]) => {
            const { data, width, height } = await window.pixels(text);
            const holds = new Function("r", "g", "b", `return ${condition}`);
            let found = 0;
            for (let i = 0; i < data.length; i += 4)
                if (holds(data[i], data[i + 1], data[i + 2])) found++;
            return found / (width * height);
        },
        [png.toString("base64"), test],
    );
}

const GROUND = "g > r && g > b + 3 || r > b + 12 && Math.abs(r - g) < 40 && r < 250"; // green to sand

// The surface covers much of the picture, and goes and comes with its button; it says how far its
// lines are apart.
async function isDrawn({ page, quiet, show }, eyes, html) {
    await show(html);
    await page.click("#show-tracks");
    await page.click("#whole-view");
    await settle(page);
    const shown = await picture(page);
    const covered = await count(eyes, shown, GROUND);
    check(covered > 0.25, `the ground covers ${covered} of the picture`);
    same(await page.textContent("#grid-scale"), "contours 0.02 m", "the scale");
    await page.click("#show-ground");
    const bare = await eyes.wait(page, shown, { least: 0.25 }, "hiding the ground changed nothing");
    const left = await count(eyes, bare, GROUND);
    check(left < 0.05, `without the ground there is still ${left} of it`);
    await page.click("#show-ground");
    await eyes.wait(page, shown, { most: 0.001 }, "the ground did not come back");
    await page.keyboard.press("d");
    await eyes.wait(page, shown, { least: 0.5 }, "in the dark the ground is as bright");
    await page.keyboard.press("d");
    quiet();
}

// A line of equal height is where the formula says: a row of the grid against it.
async function waves(opened, eyes, reports) {
    const html = await make(reports, "waves", WAVES);
    const { report } = reports.contents(html);
    const [terrain] = report.scene.terrains;
    const heights = heightsOf(html);
    const [nx, ny] = terrain.count;
    same(heights.length, nx * ny, "the number of heights");
    check(nx <= 200 && ny <= 200, `${nx} by ${ny} heights`);
    heights.forEach((h, i) => {
        const x = terrain.corner[0] + terrain.step * (i % nx);
        const y = terrain.corner[1] + terrain.step * Math.floor(i / nx);
        const wanted = 0.2 * Math.sin(2 * x) * Math.cos(2 * y);
        check(Math.abs(h - wanted) < 1e-6, `at ${x}, ${y} it is ${h} high instead of ${wanted}`);
    });
    const size = statSync(html).size;
    console.log(`      ${4 * nx * ny} bytes of heights in ${(size / 1e6).toFixed(2)} MB`);
    await isDrawn(opened, eyes, html);
}

// What has no height is a hole, and the page goes on.
async function hole({ page, quiet, show }, eyes, reports) {
    const html = await make(reports, "pit", PIT);
    const heights = heightsOf(html);
    const missing = heights.filter(Number.isNaN).length;
    check(missing > 0 && missing < heights.length, `${missing} of ${heights.length} are missing`);
    await show(html);
    await page.click("#whole-view");
    await settle(page);
    const shown = await picture(page);
    await page.click("#show-ground");
    await eyes.wait(page, shown, { least: 0.02 }, "ground with a hole is not drawn");
    await page.keyboard.press("End");
    quiet();
}

// A height on a body turns with it, whether there is ground or not.
async function plate({ page, quiet, show }, eyes, reports) {
    const html = await make(reports, "plate", PLATE);
    same(reports.contents(html).report.scene.terrains[0].on, 0, "the body that is wavy");
    await show(html);
    await page.click("#whole-view");
    await settle(page);
    const first = await picture(page);
    const covered = await count(eyes, first, GROUND);
    check(covered > 0.2, `the plate covers ${covered} of the picture`);
    await page.keyboard.press("End");
    await eyes.wait(page, first, { least: 0.02 }, "the plate does not turn");
    quiet();
}

// Red inside of a shell is seen; without the contact that makes it one it is not.
async function shell({ page, quiet, show }, eyes, reports) {
    const html = await make(reports, "shell", SHELL("-0.5"));
    await show(html);
    await settle(page);
    const RED = "r > 120 && r > 1.8 * g && r > 1.8 * b";
    await page.click("#show-forces");
    const seen = await count(eyes, await picture(page), RED);
    check(seen > 0.005, `only ${seen} of the picture is what is inside`);
    const solid = reports.edit(html, "solid.html", ({ scene }) => {
        for (const { shapes } of scene.bodies) for (const shape of shapes) shape.shell = false;
    });
    await show(solid);
    await settle(page);
    await page.click("#show-forces");
    await page.click("#show-tracks");
    await page.click("#show-contacts");
    const hidden = await count(eyes, await picture(page), RED);
    check(hidden < 0.2 * seen, `${hidden} of the picture shows through a solid ball`);
    quiet();
}

// A page whose heights were cut off says so.
async function broken(browser, reports) {
    const html = await make(reports, "cut", WAVES);
    const cut = reports.edit(html, "cut_off.html", ({ scene }) => scene.terrains[0].count[0]++);
    const opened = await openWindow(browser);
    let words = "";
    await opened.show(cut).catch(async () => {
        words = await opened.page.textContent(".banner");
    });
    check(/should have \d+ heights and have \d+/.test(words), `the page says “${words}”`);
    await opened.close();
}

export async function useTerrain(steps, browser, eyes, reports) {
    const opened = await openWindow(browser);
    await steps.run("hills are drawn, with contours", 30, () => waves(opened, eyes, reports));
    await steps.run("where there is no height there is a hole", 20, () =>
        hole(opened, eyes, reports),
    );
    await steps.run("a height on a body goes with it", 20, () => plate(opened, eyes, reports));
    await steps.run("what is inside a shell is seen", 20, () => shell(opened, eyes, reports));
    await steps.run("heights that are cut off are told", 20, () => broken(browser, reports));
    await opened.close();
}
