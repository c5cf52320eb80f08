// SPDX-License-Identifier: Apache-2.0
// The eye: turned by hand, following something or not, and put where all can be seen.
import { Box3, BufferGeometry, PerspectiveCamera, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { massCentre, wholeCentre } from "./marks";
import type { Motion, Pose, State } from "./motion";
import type { SceneData } from "./report";

export type Follow = "free" | "whole" | number; // a number is a body

const FROM = new Vector3(-0.45, -0.85, 0.3).normalize(); // behind, to the right, above; x goes to the right
const ABOVE = 0.75; // height of the eye where a motion is seen whole, before scaling
const MARGIN = 1.16;
// A motion this much larger than the model is followed instead of shown whole; on the ground sooner.
const FAR_AWAY = 3.5;
const FAR_ON_GROUND = 2.2;

// A body as a ball: cheap, and turning does not change it.
interface Ball {
    centre: Vector3;
    radius: number;
}

export interface Actor {
    motion: Motion;
    outlines: (BufferGeometry | null)[];
}

const sizeOf = (balls: Ball[]): number => boxOf(balls).getSize(new Vector3()).length();

function boxOf(balls: Ball[]): Box3 {
    const box = new Box3();
    for (const { centre, radius } of balls) {
        box.expandByPoint(centre.clone().addScalar(radius));
        box.expandByPoint(centre.clone().addScalar(-radius));
    }
    return box;
}

export class Camera {
    readonly eye = new PerspectiveCamera(32, 1, 0.01, 1000);
    readonly controls: OrbitControls;
    private readonly model: Ball[]; // at the start
    private readonly whole: Ball[]; // over the run
    private readonly reach: number; // of the whole
    follow: Follow = "free";
    private readonly last = new Vector3(); // where what is followed was

    constructor(
        canvas: HTMLElement,
        private readonly scene: SceneData,
        private readonly actors: Actor[], // of all runs; the first is followed
    ) {
        this.eye.up.set(0, 0, 1);
        this.controls = new OrbitControls(this.eye, canvas);
        this.controls.enableDamping = true;
        this.controls.dampingFactor = 0.2;
        this.controls.zoomSpeed = 0.8;
        this.model = this.ballsAt(actors[0], [0]);
        this.whole = actors.flatMap((actor) => {
            const { motion } = actor;
            return this.ballsAt(actor, [motion.rows - 1, ...motion.sampledRows(400)]);
        });
        this.reach = sizeOf(this.whole);
    }

    // The initial view, and whether something has to be followed for it.
    reset(state: State): Follow {
        const far = this.scene.ground.shown ? FAR_ON_GROUND : FAR_AWAY;
        const isWide = this.reach > far * sizeOf(this.model);
        if (isWide) this.frame(this.balls(state.bodies, this.actors[0].outlines), FROM, 1.15);
        else this.frame(this.whole, FROM, 1);
        return isWide ? "whole" : "free";
    }

    // All of the motion, across its longer side; from higher up where it fills a plane.
    frameAll(): void {
        const { x, y, z } = boxOf(this.whole).getSize(new Vector3());
        const from = y > 1.2 * x ? new Vector3(-FROM.y, FROM.x, FROM.z) : FROM.clone();
        if (Math.min(x, y) > 2 * z) from.z = ABOVE;
        this.frame(this.whole, from.normalize(), 1);
    }

    setFollow(follow: Follow, state: State): void {
        this.follow = follow;
        this.locate(state, this.last);
    }

    update(state: State): void {
        if (this.follow === "free") return;
        const before = this.last.clone();
        if (!this.locate(state, this.last)) return;
        const moved = this.last.clone().sub(before);
        if (!Number.isFinite(moved.lengthSq())) return;
        this.eye.position.add(moved);
        this.controls.target.add(moved);
    }

    get distance(): number {
        return this.eye.position.distanceTo(this.controls.target);
    }

    // Before each picture: what is near and what is far depends on where the eye is.
    fitDepth(): void {
        const distance = this.distance;
        this.eye.near = Math.max(0.004 * distance, 1e-5);
        this.eye.far = 40 * distance + 2 * this.reach;
        this.eye.updateProjectionMatrix();
    }

    resize(aspect: number): void {
        this.eye.aspect = aspect;
        this.eye.updateProjectionMatrix();
    }

    private locate(state: State, into: Vector3): boolean {
        if (this.follow === "whole") return wholeCentre(state, this.scene, into);
        if (this.follow === "free") return false;
        if (!massCentre(state, this.scene, this.follow, into))
            into.copy(state.bodies[this.follow].position);
        return true;
    }

    private ballsAt({ motion, outlines }: Actor, rows: number[]): Ball[] {
        const { bodies } = motion.newState();
        return rows.flatMap((row) =>
            this.balls(
                bodies.map((pose, i) => motion.body(row, i, pose)),
                outlines,
            ),
        );
    }

    private balls(bodies: Pose[], outlines: Actor["outlines"]): Ball[] {
        const balls = bodies.map(({ position, rotation }, i) => {
            const ball = outlines[i]?.boundingSphere;
            const centre = ball
                ? ball.center.clone().applyQuaternion(rotation).add(position)
                : position.clone();
            return { centre, radius: ball?.radius ?? 0 };
        });
        return balls.filter(({ centre }) => Number.isFinite(centre.lengthSq()));
    }

    // Without what is left of the last swing.
    private stop(): void {
        this.controls.enableDamping = false;
        this.controls.update();
        this.controls.enableDamping = true;
    }

    // As near as all balls allow. With x to the right, z towards the eye at (cx, cy, Z), a ball is in
    // the picture when |x - cx| + r <= w (Z - z): from the largest r + w z + x and r + w z - x follow
    // cx and Z, and the same upright.
    private frame(balls: Ball[], from: Vector3, room: number): void {
        const right = new Vector3().crossVectors(this.eye.up, from).normalize();
        const up = new Vector3().crossVectors(from, right);
        const tall = Math.tan((this.eye.fov * Math.PI) / 360) / MARGIN;
        const most = (value: (ball: Ball) => number): number =>
            balls.reduce((a, ball) => Math.max(a, value(ball)), -Infinity);
        const side = (axis: Vector3, half: number): { middle: number; eye: number } => {
            const edge = (sign: number): number =>
                most(
                    ({ centre, radius }) =>
                        radius + half * centre.dot(from) + sign * centre.dot(axis),
                );
            const [plus, minus] = [edge(1), edge(-1)];
            return { middle: (plus - minus) / 2, eye: (plus + minus) / (2 * half) };
        };
        const across = side(right, tall * this.eye.aspect);
        const upright = side(up, tall);
        const nearest = most(({ centre }) => centre.dot(from));
        const farthest = -most(({ centre }) => -centre.dot(from));
        if (!Number.isFinite(nearest)) return;
        const depth = (nearest + farthest) / 2;
        const distance =
            Math.max(across.eye, upright.eye, nearest + 1e-3 * this.scene.length) - depth;
        this.stop();
        const target = this.controls.target.copy(right).multiplyScalar(across.middle);
        target.addScaledVector(up, upright.middle).addScaledVector(from, depth);
        this.eye.position.copy(target).addScaledVector(from, room * distance);
        this.controls.update();
    }
}
