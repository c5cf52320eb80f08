// SPDX-License-Identifier: Apache-2.0
// The report page: reads the run out of the page and ties its parts together.
import { fillCertificate, fillModel, fillParameters } from "./certificate";
import { readModel, readRuns, type Run } from "./data";
import { saveModel, savePicture, saveTable } from "./downloads";
import { find, make, style } from "./dom";
import { Comparison } from "./comparison";
import { Elements } from "./elements";
import { Equations } from "./equations";
import { fillHelp, listenToKeys, type Key } from "./keys";
import { Motion } from "./motion";
import { fillNotes } from "./notes";
import { Player } from "./player";
import { Plots } from "./plots";
import { Stage } from "./stage";
import { readSweep, shownIndex, Swept, type Sweep } from "./swept";
import { Tabs } from "./tabs";
import { startTheme } from "./theme";
import { Transport } from "./transport";
import { Video } from "./video";
import { View } from "./view";

function fillHeader({ report }: Pick<Run, "report">): void {
    document.title = `${report.title}${report.case ? `, ${report.case}` : ""}`;
    find("title").textContent = report.title;
    const parts = [report.case && `case ${report.case}`, report.model.file, report.program].filter(
        Boolean,
    );
    find("subtitle").textContent = parts.join(" · ");
}

function say(words: string): void {
    const note = find("scene-note");
    note.textContent = words;
    note.hidden = false;
}

// Without WebGL the rest of the page works on.
function makeStage(runs: Run[], motion: Motion): Stage | null {
    try {
        return new Stage(find("scene"), runs, motion);
    } catch (error) {
        say(
            `The scene cannot be shown: ${(error as Error).message}. Plots, certificate and downloads work without it.`,
        );
        document.body.classList.add("no-scene");
        return null;
    }
}

function keyTable(player: Player, transport: Transport, view: View | null): Key[] {
    const step = (event: KeyboardEvent, way: number): void =>
        player.step(way * (event.shiftKey ? player.bigStep : 1));
    return [
        { keys: [" "], shown: "space", words: "play, pause", run: () => player.toggle() },
        {
            keys: ["ArrowLeft"],
            shown: "←",
            words: "one row back; with shift, a bigger step",
            run: (e) => step(e, -1),
        },
        {
            keys: ["ArrowRight"],
            shown: "→",
            words: "one row on; with shift, a bigger step",
            run: (e) => step(e, 1),
        },
        {
            keys: ["Home"],
            shown: "Home",
            words: "to the start",
            run: () => player.seek(player.start),
        },
        { keys: ["End"], shown: "End", words: "to the end", run: () => player.seek(player.end) },
        { keys: ["+", "="], shown: "+", words: "faster", run: () => transport.faster(1) },
        { keys: ["-"], shown: "−", words: "slower", run: () => transport.faster(-1) },
        { keys: ["l"], shown: "l", words: "play in a loop", run: () => find("loop").click() },
        { keys: ["f"], shown: "f", words: "follow the next body", run: () => view?.nextFollow() },
        { keys: ["r"], shown: "r", words: "reset the view", run: () => view?.reset() },
        { keys: ["a"], shown: "a", words: "see the whole motion", run: () => view?.showAll() },
        {
            keys: ["g"],
            shown: "g",
            words: "forces on, off",
            run: () => find("show-forces").click(),
        },
        {
            keys: ["s"],
            shown: "s",
            words: "snapshots on, off",
            run: () => find("show-snapshots").click(),
        },
        { keys: ["d"], shown: "d", words: "dark, light", run: () => find("theme").click() },
        {
            keys: ["?"],
            shown: "?",
            words: "this help",
            run: () => find<HTMLDialogElement>("help").showModal(),
        },
    ];
}

function bindDownloads(chosen: () => Run, stage: Stage | null): void {
    find("download-csv").addEventListener("click", () => saveTable(chosen()));
    find("download-model").addEventListener("click", () => saveModel(chosen()));
    const picture = find<HTMLButtonElement>("download-picture");
    picture.disabled = !stage;
    picture.addEventListener("click", () => {
        if (!stage) return;
        stage.invalidate();
        stage.draw(false); // a canvas keeps its picture only until the browser has shown it
        savePicture(chosen(), stage.renderer.domElement, style("--scene"));
    });
}

function bindHelp(table: Key[]): void {
    const help = find<HTMLDialogElement>("help");
    find("show-help").addEventListener("click", () => help.showModal());
    help.addEventListener("click", (event) => event.target === help && help.close());
    fillHelp(table);
}

function fillNumbers({ report }: Run, player: Player): void {
    fillCertificate(report, (t) => player.seek(t));
    fillParameters(report);
    fillModel(report);
}

// Of a sweep of which no run was recorded: what came of them, and nothing that moves.
function startNumbers(sweep: Sweep): void {
    const model = readModel();
    const swept = new Swept(sweep);
    document.body.classList.add("no-run");
    startTheme(() => swept.draw());
    fillHeader(model);
    fillParameters(model.report);
    fillModel(model.report);
    find("download-model").addEventListener("click", () => saveModel(model));
    const equations = new Equations(model);
    for (const id of ["tab-plots", "panel-plots", "tab-certificate"]) find(id).hidden = true;
    new Tabs(find("tabs"), (id) => {
        if (id === "panel-equations") equations.fill();
        if (id === "panel-sweep") swept.draw();
    });
    document.documentElement.dataset.ready = "yes";
}

function start(): void {
    const sweep = readSweep();
    if (sweep && !sweep.shown.length) {
        startNumbers(sweep);
        return;
    }
    const runs = readRuns(sweep && shownIndex(sweep));
    const [run] = runs;
    const player = new Player(runs.map(({ time }) => time));
    const motion = new Motion(run);
    let stage: Stage | null = null;
    let plots: Plots | null = null;
    const swept = new Swept(sweep);
    startTheme(() => {
        stage?.recolour();
        plots?.rebuild();
        swept.draw();
    });
    fillHeader(run);
    fillNumbers(run, player);
    const equations = new Equations(run);
    const tabs = new Tabs(find("tabs"), (id) => {
        if (id === "panel-equations") equations.fill();
        if (id === "panel-sweep") swept.draw();
    });
    if (sweep) tabs.open("tab-sweep");
    find("summary").addEventListener("click", () => tabs.open("tab-certificate"));
    const transport = new Transport(player, run.report.certificate);
    stage = makeStage(runs, motion);
    stage?.recolour();
    if (stage?.isEmpty) say("This model has nothing to draw.");
    const view = stage && new View(stage, run.report.scene);
    const comparison = new Comparison(runs, stage, (chosen) => fillNumbers(chosen, player));
    fillNotes(run.report.scene, (t) => player.seek(t));
    stage?.prepare();
    plots = new Plots(runs, player);
    const plot = (columns: number[]): void => {
        tabs.open("tab-plots");
        plots?.show(columns);
    };
    const elements = stage && new Elements(run, stage, plot);
    player.onMove(() => {
        stage?.show(player.t);
        elements?.update();
    });
    const table = keyTable(player, transport, view);
    listenToKeys(table);
    bindHelp(table);
    bindDownloads(() => comparison.chosen, stage);
    animate(player, stage, view, new Video(run, player, stage));
}

function animate(player: Player, stage: Stage | null, view: View | null, video: Video): void {
    let last = performance.now();
    const frame = (now: number): void => {
        player.advance(Math.min(0.25, Math.max(0, now - last) / 1000));
        last = now;
        if (stage?.draw(player.isPlaying)) {
            view?.showScale();
            video.take();
        }
        document.documentElement.dataset.ready = "yes";
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
}

try {
    start();
} catch (error) {
    const words = `This page cannot show its run: ${(error as Error).message}.`;
    document.body.classList.add("failed");
    document.body.prepend(make("p", { class: "banner", role: "alert", text: words }));
    document.documentElement.dataset.ready = "failed";
}
