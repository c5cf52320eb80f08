// SPDX-License-Identifier: Apache-2.0
// The picture: all layers, the light and the eye, drawn when something has changed.
import { Group, NeutralToneMapping, Scene, Vector2, Vector3, WebGLRenderer } from "three";
import { ContactPoints, Forces } from "./arrows";
import { Beams } from "./beams";
import { Bodies, Rods } from "./bodies";
import { Camera, type Follow } from "./camera";
import { Companion } from "./companions";
import type { Run } from "./data";
import { style } from "./dom";
import { Ground } from "./ground";
import type { Layer } from "./layer";
import { daylight } from "./light";
import { Loops } from "./loops";
import { JointAxes, MassCentres } from "./marks";
import type { Motion, State } from "./motion";
import { Pace } from "./pace";
import { Shadow } from "./shadow";
import { Snapshots } from "./snapshots";
import { Spreads } from "./spreads";
import { Terrains } from "./terrain";
import { Tracks } from "./tracks";

// Asked for here, because the renderer would not say in words that there is none; with its size,
// because each change of size waits for the graphics.
function openRenderer({ clientWidth, clientHeight }: HTMLElement): WebGLRenderer {
    const canvas = document.createElement("canvas");
    canvas.width = clientWidth || 300;
    canvas.height = clientHeight || 150;
    const context = canvas.getContext("webgl2", { antialias: true, alpha: true, stencil: true });
    if (!context) throw new Error("this browser cannot draw in three dimensions (no WebGL)");
    return new WebGLRenderer({ canvas, context, antialias: true, alpha: true, stencil: true });
}

export class Stage {
    readonly renderer: WebGLRenderer;
    readonly camera: Camera;
    readonly ground: Ground;
    readonly terrains: Terrains;
    readonly forces: Forces;
    readonly joints: JointAxes;
    readonly tracks: Tracks;
    readonly spreads: Spreads;
    readonly snapshots: Snapshots;
    readonly contacts: ContactPoints;
    readonly loops: Loops;
    readonly masses: MassCentres;
    readonly state: State;
    private readonly scene = new Scene();
    private readonly shadow: Shadow;
    readonly companions: Companion[]; // of further runs
    private readonly first = new Group(); // all that moves of the first run
    private readonly plates: Terrains; // on bodies
    private readonly density = Math.min(window.devicePixelRatio, 2); // pixels of the screen for one of the page
    private readonly layers: Layer[];
    private readonly pace = new Pace();
    private changed = true;

    constructor(
        private readonly frame: HTMLElement,
        runs: Run[],
        private readonly motion: Motion,
    ) {
        const [run, ...others] = runs;
        const { heights } = run;
        const data = run.report.scene;
        this.renderer = openRenderer(frame);
        if (this.density !== 1) this.renderer.setPixelRatio(this.density);
        this.renderer.toneMapping = NeutralToneMapping;
        this.renderer.domElement.setAttribute("aria-hidden", "true");
        frame.prepend(this.renderer.domElement);

        const bodies = new Bodies(run);
        const beams = new Beams(data);
        this.ground = new Ground(data);
        this.terrains = new Terrains(data.terrains, heights, true);
        this.plates = new Terrains(data.terrains, heights, false);
        this.forces = new Forces(data, motion);
        this.joints = new JointAxes(data);
        this.tracks = new Tracks(data, motion);
        this.spreads = new Spreads(run);
        this.snapshots = new Snapshots(motion, bodies.geometries, beams.geometries);
        this.contacts = new ContactPoints(data);
        this.loops = new Loops(data, motion);
        this.masses = new MassCentres(data);
        this.shadow = new Shadow(data, heights, bodies.geometries, beams.geometries);
        const grounded: Layer[] = [this.shadow, this.terrains]; // shown and hidden with it
        for (const layer of grounded) this.ground.root.add(layer.root);
        this.layers = [
            bodies,
            beams,
            ...grounded,
            this.plates,
            new Rods(data.rods, data.length),
            this.contacts,
            this.loops,
            this.forces,
            this.joints,
            this.masses,
            this.tracks,
            this.spreads,
            this.snapshots,
        ];
        for (const layer of this.layers) if (!grounded.includes(layer)) this.first.add(layer.root);
        this.companions = others.map((other, i) => new Companion(other, i + 1));
        this.scene.add(daylight(), this.ground.root, this.first);
        for (const { root } of this.companions) this.scene.add(root);
        this.camera = new Camera(this.renderer.domElement, data, [
            { motion, outlines: bodies.outlines },
            ...this.companions,
        ]);
        this.state = motion.newState();
        this.motion.at(motion.time[0], this.state);
        new ResizeObserver(() => this.resize()).observe(frame);
        this.resize();
    }

    // Lets the graphics compile what the first picture needs, while the page goes on.
    prepare(): void {
        this.renderer.compile(this.scene, this.camera.eye);
    }

    // Where a run has nothing drawn the page says so.
    get isEmpty(): boolean {
        const [bodies, beams] = this.layers;
        return !bodies.root.children.length && !beams.root.children.length;
    }

    // The contact or loop that is seen nearest to a point of the picture, at most so many pixels away.
    elementAt(x: number, y: number, most: number): number | null {
        const { left, top, width, height } = this.renderer.domElement.getBoundingClientRect();
        let [nearest, best]: [number, number | null] = [most, null];
        this.state.contacts.forEach(({ point }, i) => {
            const p = point.clone().project(this.camera.eye); // -1 to 1, up
            const away = Math.hypot(
                left + (width * (1 + p.x)) / 2 - x,
                top + (height * (1 - p.y)) / 2 - y,
            );
            if (p.z < 1 && away < nearest) [nearest, best] = [away, i];
        });
        return best;
    }

    // A run of all, or those after the first beside it, in a row across the view from the start
    setRunVisible(index: number, visible: boolean): void {
        this.setVisible(index ? this.companions[index - 1].root : this.first, visible);
    }

    setBeside(beside: boolean, length: number): void {
        const apart = new Vector3(0, 1.2 * length, 0);
        this.companions.forEach((companion, i) =>
            companion.stand(beside ? apart.clone().multiplyScalar(i + 1) : null),
        );
        this.changed = true;
    }

    show(t: number): void {
        this.motion.at(t, this.state);
        this.camera.update(this.state);
        this.changed = true;
    }

    setVisible(root: Group, visible: boolean): void {
        root.visible = visible;
        this.changed = true;
    }

    setFollow(follow: Follow): void {
        this.camera.setFollow(follow, this.state);
        this.changed = true;
    }

    recolour(): void {
        this.ground.colour(style("--grid"), style("--floor"));
        for (const terrains of [this.terrains, this.plates])
            terrains.colour(style("--valley"), style("--peak"), style("--contour"));
        this.shadow.strength = Number(style("--shadow"));
        this.changed = true;
    }

    invalidate(): void {
        this.changed = true;
    }

    // Once a frame of the browser; true when something was drawn.
    draw(isPlaying: boolean): boolean {
        const isTurning = this.camera.controls.update();
        if (isTurning) this.changed = true;
        const resolution = this.density * this.pace.resolution(isPlaying || isTurning);
        if (this.renderer.getPixelRatio() !== resolution) {
            this.renderer.setPixelRatio(resolution);
            this.changed = true;
        }
        if (!this.changed) return false;
        this.changed = false;
        for (const layer of this.layers) if (layer.root.visible) layer.update(this.state);
        for (const companion of this.companions)
            if (companion.root.visible) companion.show(this.state.t);
        this.ground.follow(this.camera.controls.target, this.camera.distance);
        this.camera.fitDepth();
        this.renderer.render(this.scene, this.camera.eye);
        return true;
    }

    private resize(): void {
        const { clientWidth: width, clientHeight: height } = this.frame;
        if (!width || !height) return;
        const { x, y } = this.renderer.getSize(new Vector2());
        if (x !== width || y !== height) this.renderer.setSize(width, height, false);
        this.camera.resize(width / height);
        this.changed = true;
    }
}
