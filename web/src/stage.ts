// SPDX-License-Identifier: Apache-2.0
// The picture: all layers, the light and the eye, drawn when something has changed.
import { Group, NeutralToneMapping, PCFShadowMap, Scene, Vector2, WebGLRenderer } from "three";
import { ContactPoints, Forces } from "./arrows";
import { Bodies, Rods } from "./bodies";
import { Camera, type Follow } from "./camera";
import { style } from "./dom";
import { Ground } from "./ground";
import type { Layer } from "./layer";
import { Daylight } from "./light";
import { JointAxes, MassCentres } from "./marks";
import type { Motion, State } from "./motion";
import type { SceneData } from "./report";
import { Snapshots } from "./snapshots";
import { Tracks } from "./tracks";

// Asked for here, because the renderer would not say in words that there is none; with its size,
// because each change of size waits for the graphics.
function openRenderer({ clientWidth, clientHeight }: HTMLElement): WebGLRenderer {
    const canvas = document.createElement("canvas");
    canvas.width = clientWidth || 300;
    canvas.height = clientHeight || 150;
    const context = canvas.getContext("webgl2", { antialias: true, alpha: true, depth: true, premultipliedAlpha: true });
    if (!context) throw new Error("this browser cannot draw in three dimensions (no WebGL)");
    return new WebGLRenderer({ canvas, context, antialias: true, alpha: true });
}

export class Stage {
    readonly renderer: WebGLRenderer;
    readonly camera: Camera;
    readonly ground: Ground;
    readonly forces: Forces;
    readonly joints: JointAxes;
    readonly tracks: Tracks;
    readonly snapshots: Snapshots;
    readonly contacts: ContactPoints;
    readonly masses: MassCentres;
    readonly state: State;
    private readonly scene = new Scene();
    private readonly light = new Daylight();
    private readonly layers: Layer[];
    private readonly pace = new Pace();
    private changed = true;

    constructor(private readonly frame: HTMLElement, data: SceneData, private readonly motion: Motion) {
        this.renderer = openRenderer(frame);
        const density = Math.min(window.devicePixelRatio, 2);
        if (density !== 1) this.renderer.setPixelRatio(density);
        this.renderer.toneMapping = NeutralToneMapping;
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = PCFShadowMap;
        this.renderer.domElement.setAttribute("aria-hidden", "true");
        frame.prepend(this.renderer.domElement);

        const bodies = new Bodies(data);
        this.ground = new Ground(data);
        this.forces = new Forces(data, motion);
        this.joints = new JointAxes(data);
        this.tracks = new Tracks(data, motion);
        this.snapshots = new Snapshots(motion, bodies.geometries);
        this.contacts = new ContactPoints(data);
        this.masses = new MassCentres(data);
        this.layers = [
            bodies,
            new Rods(data.rods, data.length),
            this.contacts,
            this.forces,
            this.joints,
            this.masses,
            this.tracks,
            this.snapshots,
        ];
        this.scene.add(this.light.root, this.ground.root, ...this.layers.map((layer) => layer.root));
        this.camera = new Camera(this.renderer.domElement, data, motion, bodies.geometries);
        this.state = motion.newState();
        this.motion.at(motion.time[0], this.state);
        new ResizeObserver(() => this.resize()).observe(frame);
        this.resize();
    }

    // Lets the graphics compile what the first picture needs, while the page goes on.
    prepare(): void {
        this.renderer.compile(this.scene, this.camera.eye);
    }

    // 0 where a run has nothing drawn: then the page says so.
    get isEmpty(): boolean {
        return !this.layers[0].root.children.length;
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
        this.ground.colour(style("--grid"), style("--floor"), Number(style("--shadow")));
        this.changed = true;
    }

    invalidate(): void {
        this.changed = true;
    }

    // Once a frame of the browser; true when something was drawn.
    draw(isPlaying: boolean): boolean {
        if (this.camera.controls.update()) this.changed = true;
        if (!this.changed) return false;
        this.changed = false;
        for (const layer of this.layers) if (layer.root.visible) layer.update(this.state);
        const { target } = this.camera.controls;
        this.ground.follow(target, this.camera.distance);
        this.light.follow(target, this.shadowReach());
        this.camera.fitDepth();
        this.renderer.render(this.scene, this.camera.eye);
        if (isPlaying && this.pace.isSlow()) this.simplify();
        return true;
    }

    // In steps: what a shadow is made of must not swim while the eye comes nearer.
    private shadowReach(): number {
        return 2 ** Math.ceil(Math.log2(Math.max(0.35 * this.camera.distance, 1e-4)));
    }

    // Machines without a graphics card get a coarser picture rather than a halting one.
    private simplify(): void {
        if (this.light.sun.castShadow) this.light.sun.castShadow = false;
        else if (this.renderer.getPixelRatio() > 0.5) this.renderer.setPixelRatio(this.renderer.getPixelRatio() / 1.5);
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

// Notices when pictures come slower than can be called moving.
class Pace {
    private last = 0;
    private slow = 0;

    isSlow(): boolean {
        const SLOW = 55; // [ms] between pictures
        const PATIENCE = 15;
        const now = performance.now();
        const spent = now - this.last;
        this.last = now;
        if (spent > 1000) return false; // a pause, not a picture
        this.slow = spent > SLOW ? this.slow + 1 : Math.max(0, this.slow - 1);
        if (this.slow < PATIENCE) return false;
        this.slow = 0;
        return true;
    }
}
