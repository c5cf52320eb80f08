// SPDX-License-Identifier: Apache-2.0
// node build.mjs OUT: bundles src/ into one HTML file that needs nothing else. The page has one
// marker, <!--data-->, where a run is written; its policy allows this very script and no network.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const LARGEST = 1.5e6; // [bytes]
const here = dirname(fileURLToPath(import.meta.url));

function fail(words) {
    console.error(`build.mjs: ${words}`);
    process.exit(1);
}

async function bundle(entry) {
    const result = await build({
        entryPoints: [join(here, "src", entry)],
        absWorkingDir: here,
        bundle: true,
        minify: true,
        write: false,
        format: entry.endsWith(".ts") ? "iife" : undefined,
        target: "es2020",
        legalComments: "none", // they are all in the notice on top
        logLevel: "warning",
    });
    return result.outputFiles[0].text.trim();
}

function notice() {
    const parts = ["three", "uplot"].map((name) => {
        const folder = join(here, "node_modules", name);
        const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
        return `${name} ${version}\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}`;
    });
    const text = `This page contains:\n\n${parts.join("\n\n")}\n`.replace(/\r/g, "");
    if (text.includes("--")) fail("a licence would end its comment");
    return text;
}

// A script must not look like the end of its element, nor like a comment.
function checkScript(script) {
    for (const forbidden of [/<\/script/i, /<!--/, /\r/])
        if (forbidden.test(script)) fail(`the script contains ${forbidden}`);
}

function fill(template, values) {
    let page = template;
    for (const [marker, value] of Object.entries(values)) {
        if (page.split(marker).length !== 2) fail(`page.html needs ${marker} exactly once`);
        page = page.replace(marker, () => value);
    }
    return page;
}

const out = process.argv[2];
if (!out || process.argv.length !== 3) fail("usage: node build.mjs OUT");

const [script, style] = await Promise.all([bundle("main.ts"), bundle("page.css")]);
checkScript(script);
if (/<\/style/i.test(style)) fail("the style sheet would end its element");
const hash = createHash("sha256").update(script, "utf8").digest("base64");
const page = fill(readFileSync(join(here, "src", "page.html"), "utf8"), {
    "<!--notice-->": `<!--\n${notice()}-->`,
    "{{script-hash}}": `sha256-${hash}`,
    "<!--style-->": `<style>${style}</style>`,
    "<!--script-->": `<script>${script}</script>`,
});
if (page.split("<!--data-->").length !== 2) fail("the page needs <!--data--> exactly once");
const size = Buffer.byteLength(page);
if (size > LARGEST) fail(`the page has ${size} bytes, more than ${LARGEST}`);
mkdirSync(dirname(resolve(out)), { recursive: true });
writeFileSync(out, page);
console.log(`${out}: ${(size / 1e6).toFixed(2)} MB`);
