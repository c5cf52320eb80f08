// SPDX-License-Identifier: Apache-2.0
// What the picture shows, and from where: toggles, sliders, the camera's choices.
import type { Group } from "three";
import type { Follow } from "./camera";
import { bindToggle, find, make } from "./dom";
import { brief } from "./numbers";
import type { SceneData } from "./report";
import type { Stage } from "./stage";

interface Toggle {
    id: string;
    root: Group;
    on: boolean;
    exists: boolean;
    why: string; // there is nothing to show
}

export class View {
    private readonly follow = find<HTMLSelectElement>("follow");
    private readonly scale = find("grid-scale");

    constructor(
        private readonly stage: Stage,
        private readonly scene: SceneData,
    ) {
        for (const toggle of this.toggles()) this.bind(toggle);
        this.bindForceScale();
        this.bindSpacing();
        this.bindCamera();
        this.reset();
    }

    private toggles(): Toggle[] {
        const { stage, scene } = this;
        return [
            {
                id: "show-forces",
                root: stage.forces.root,
                on: true,
                exists: stage.forces.exist,
                why: "This run has no forces of contacts or loops",
            },
            {
                id: "show-tracks",
                root: stage.tracks.root,
                on: true,
                exists: stage.tracks.exist,
                why: "Nothing leaves a track",
            },
            {
                id: "show-spreads",
                root: stage.spreads.root,
                on: true,
                exists: stage.spreads.exist,
                why: "This run does not say how well places are known",
            },
            { id: "show-snapshots", root: stage.snapshots.root, on: false, exists: true, why: "" },
            {
                id: "show-contacts",
                root: stage.contacts.root,
                on: true,
                exists: stage.contacts.exist,
                why: "Nothing touches",
            },
            {
                id: "show-loops",
                root: stage.loops.root,
                on: true,
                exists: stage.loops.exist,
                why: "No loop is closed",
            },
            {
                id: "show-joints",
                root: stage.joints.root,
                on: false,
                exists: stage.joints.exist,
                why: "No joint has an axis",
            },
            { id: "show-masses", root: stage.masses.root, on: false, exists: true, why: "" },
            {
                id: "show-ground",
                root: stage.ground.root,
                on: scene.ground.shown,
                exists: true,
                why: "",
            },
        ];
    }

    private bind({ id, root, on, exists, why }: Toggle): void {
        const button = find<HTMLButtonElement>(id);
        const shown = on && exists;
        this.stage.setVisible(root, shown);
        button.disabled = button.hidden = !exists;
        if (!exists) button.title = why;
        bindToggle(button, shown, (visible) => this.stage.setVisible(root, visible));
    }

    // The slider counts doublings.
    private bindForceScale(): void {
        const slider = find<HTMLInputElement>("force-scale");
        slider.disabled = !this.stage.forces.exist;
        const apply = (): void => {
            const factor = 2 ** Number(slider.value);
            this.stage.forces.factor = factor;
            slider.setAttribute("aria-valuetext", `${brief(factor, 2)} times`);
            this.stage.invalidate();
        };
        slider.addEventListener("input", apply);
        apply();
    }

    private bindSpacing(): void {
        const field = find<HTMLInputElement>("snapshot-every");
        const { snapshots } = this.stage;
        snapshots.every = Number(field.value);
        field.value = String(Number(snapshots.every.toPrecision(3)));
        field.addEventListener("change", () => {
            const seconds = Number(field.value);
            if (seconds > 0) snapshots.every = seconds;
            field.value = String(Number(snapshots.every.toPrecision(3)));
            this.stage.invalidate();
        });
    }

    private bindCamera(): void {
        this.follow.append(
            make("option", { value: "free", text: "Free camera" }),
            make("option", { value: "whole", text: "Follow centre of mass" }),
        );
        this.scene.bodies.forEach((body, i) => {
            if (body.part) return;
            this.follow.append(make("option", { value: String(i), text: `Follow ${body.name}` }));
        });
        this.follow.addEventListener("change", () => this.applyFollow());
        find("reset-view").addEventListener("click", () => this.reset());
        find("whole-view").addEventListener("click", () => this.showAll());
    }

    reset(): void {
        this.setFollow(this.stage.camera.reset(this.stage.state));
    }

    showAll(): void {
        this.stage.camera.frameAll();
        this.setFollow("free");
    }

    nextFollow(): void {
        this.follow.selectedIndex = (this.follow.selectedIndex + 1) % this.follow.options.length;
        this.applyFollow();
    }

    // After a picture: how far apart the lines of the grid are, or those of equal height.
    showScale(): void {
        const { ground, terrains } = this.stage;
        this.scale.hidden = !ground.root.visible;
        const text = terrains.interval
            ? `contours ${brief(terrains.interval, 2)} m`
            : `grid ${brief(ground.spacing, 2)} m`;
        if (this.scale.textContent !== text) this.scale.textContent = text;
    }

    private setFollow(follow: Follow): void {
        this.follow.value = String(follow);
        this.stage.setFollow(follow);
    }

    private applyFollow(): void {
        const { value } = this.follow;
        this.stage.setFollow(value === "free" || value === "whole" ? value : Number(value));
    }
}
