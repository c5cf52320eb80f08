// SPDX-License-Identifier: Apache-2.0
// Small pictures of the scenes of reports, for the gallery: [{name, report, out}, ...] on standard input,
// names on standard output as their pictures are there.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { shrink } from "./webp.mjs";

const SIZE = { width: 480, height: 320 };
const PART = 0.25; // of the run
const ALONE = `#top, #side, #transport, #layers, .camera, #legend, #grid-scale, .corner { display: none !important }
main { display: block !important } #stage { height: 100vh }`;

async function take(page, eyes, { name, report, out }) {
  await page.goto(pathToFileURL(report).href);
  await page.waitForSelector("html[data-ready=yes]", { state: "attached" });
  await page.addStyleTag({ content: ALONE });
  await page.evaluate((share) => {
    const time = document.getElementById("timeline");
    time.value = String(Number(time.min) + (Number(time.max) - Number(time.min)) * share);
    time.dispatchEvent(new Event("input", { bubbles: true }));
  }, PART);
  await page.waitForTimeout(900);
  const png = await page.locator("#scene").screenshot();
  writeFileSync(out, Buffer.from(await shrink(eyes, png)));
  console.log(name);
}

const jobs = JSON.parse(readFileSync(0, "utf8"));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});
const eyes = await browser.newPage();
const work = async () => {
  const page = await browser.newPage({ viewport: SIZE });
  for (let job = jobs.shift(); job; job = jobs.shift()) await take(page, eyes, job);
};
await Promise.all([work(), work()]);
await browser.close();
