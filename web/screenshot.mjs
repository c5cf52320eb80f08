// A picture of a report, as the README shows it:   node screenshot.mjs REPORT.html OUT.png [PART [scene]]
// PART of the run, from 0 to 1, is where the time stands; with `scene` it is that without the page.
// OUT may end in .webp, too.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { chromium } from "playwright-core";
import { shrink } from "./webp.mjs";

const [report, out, part = "0.18", what] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});
const page = await browser.newPage({ viewport: { width: 940, height: 560 } });
await page.goto("file://" + resolve(report));
await page.waitForSelector("html[data-ready=yes]");
await page.evaluate((share) => {
  const time = document.querySelector("input[type=range]");
  time.value = String(Number(time.min) + (Number(time.max) - Number(time.min)) * share);
  time.dispatchEvent(new Event("input", { bubbles: true }));
}, Number(part));
await page.waitForTimeout(1000);
if (what === "scene") await page.addStyleTag({ content: ".camera, #legend, #grid-scale { display: none }" });
const png = await (what === "scene" ? page.locator("#scene") : page).screenshot();
writeFileSync(out, out.endsWith(".webp") ? Buffer.from(await shrink(await browser.newPage(), png)) : png);
await browser.close();
