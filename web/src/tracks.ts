// SPDX-License-Identifier: Apache-2.0
// What wheels leave on the ground, as far as the run has come. A track keeps only the points that
// change its course, so that long runs stay quick to draw.
import { Group, Vector3 } from "three";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { contactColour } from "./colours";
import type { Layer } from "./layer";
import type { Motion, State } from "./motion";
import type { SceneData } from "./report";

const SUBDIVIDED = 8000; // rows of a run below which tracks are curves between them

interface Course {
    at: number[]; // of the points kept: rows, and parts of rows
    points: number[]; // three numbers each
}

// Keeps a point when the next would leave the straight line so far by more than `off`, or turn back.
function course(motion: Motion, contact: number, lift: Vector3, off: number): Course {
    const kept: Course = { at: [], points: [] };
    const start = new Vector3();
    const last = new Vector3();
    const now = new Vector3();
    const along = new Vector3();
    let lastAt = 0;
    const keep = (): void => {
        kept.at.push(lastAt);
        kept.points.push(last.x, last.y, last.z);
        start.copy(last);
        along.set(0, 0, 0);
    };
    const parts = Math.min(8, Math.max(1, Math.floor(SUBDIVIDED / motion.rows)));
    const steps = parts * (motion.rows - 1);
    for (let k = 0; k <= steps; k++) {
        const row = Math.floor(k / parts);
        motion.pointBetween(row, k / parts - row, contact, now).add(lift);
        if (!Number.isFinite(now.x + now.y + now.z)) continue;
        if (kept.at.length && leaves(start, along, now, off)) keep();
        last.copy(now);
        lastAt = k / parts;
        if (!kept.at.length) keep();
        if (along.lengthSq() === 0 && now.distanceTo(start) > off)
            along.subVectors(now, start).normalize();
    }
    if (kept.at.length) keep();
    return kept;
}

const offset = new Vector3();

function leaves(start: Vector3, along: Vector3, p: Vector3, off: number): boolean {
    if (along.lengthSq() === 0) return false;
    offset.subVectors(p, start);
    const forward = offset.dot(along);
    return forward < 0 || offset.addScaledVector(along, -forward).length() > off;
}

class Track {
    readonly root = new Group();
    private readonly line: Line2;
    private readonly tail: Line2; // from the last point kept to where the wheel is
    private readonly end = new LineGeometry();

    constructor(
        private readonly course: Course,
        private readonly contact: number,
        private readonly lift: Vector3,
        color: string,
    ) {
        const material = new LineMaterial({
            color,
            linewidth: 2.6,
            transparent: true,
            opacity: 0.9,
        });
        const geometry = new LineGeometry();
        geometry.setPositions(course.points);
        this.end.setPositions([0, 0, 0, 0, 0, 0]);
        this.line = new Line2(geometry, material);
        this.tail = new Line2(this.end, material);
        this.line.frustumCulled = this.tail.frustumCulled = false;
        this.root.add(this.line, this.tail);
    }

    update(state: State): void {
        const { at, points } = this.course;
        let passed = 0; // points of the course behind us
        for (let low = 0, high = at.length; low < high; passed = low) {
            const middle = (low + high) >> 1;
            if (at[middle] <= state.row + state.part) low = middle + 1;
            else high = middle;
        }
        const now = state.contacts[this.contact].point;
        this.root.visible = passed > 0 && Number.isFinite(now.x);
        if (!this.root.visible) return;
        this.line.geometry.instanceCount = passed - 1;
        this.line.visible = passed > 1;
        const k = 3 * (passed - 1);
        const { x, y, z } = this.lift;
        this.end.setPositions([
            points[k],
            points[k + 1],
            points[k + 2],
            now.x + x,
            now.y + y,
            now.z + z,
        ]);
    }
}

export class Tracks implements Layer {
    readonly root = new Group();
    private readonly tracks: Track[] = [];

    constructor(scene: SceneData, motion: Motion, colourOf = contactColour) {
        const lift = new Vector3(...scene.ground.normal).multiplyScalar(0.002 * scene.length);
        scene.contacts.forEach((contact, i) => {
            if (!contact.leaves_track) return;
            const points = course(motion, i, lift, 0.002 * scene.length);
            if (points.at.length < 2) return;
            const track = new Track(points, i, lift, colourOf(i));
            this.tracks.push(track);
            this.root.add(track.root);
        });
    }

    get exist(): boolean {
        return this.tracks.length > 0;
    }

    update(state: State): void {
        for (const track of this.tracks) track.update(state);
    }
}
