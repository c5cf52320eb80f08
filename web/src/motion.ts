// SPDX-License-Identifier: Apache-2.0
// Where everything is at any time. Rows are those that have frames here. Between them a body moves relative to its parent, turning at a
// constant rate, so joints stay shut however far apart the rows are; what has no parent, and contact
// points, go along a cubic through the rows around.
import { Quaternion, Vector3 } from "three";
import { between, type Run } from "./data";

export interface Pose {
    position: Vector3;
    rotation: Quaternion;
}

export interface Touch {
    point: Vector3;
    force: Vector3; // on the body, world axes [N]
    moment: Vector3; // likewise; zero where there is none [N m]
}

export interface State {
    t: number;
    row: number; // of frames: the last one not after t
    part: number; // of the way to the next
    bodies: Pose[];
    contacts: Touch[];
}

const BODY = 7; // numbers of a body, of a contact, of its moment, in a frame
const CONTACT = 6;
const MOMENT = 3;

const newPose = (): Pose => ({ position: new Vector3(), rotation: new Quaternion() });

// X_p^-1 X_c
function relative(parent: Pose, child: Pose): void {
    const back = parent.rotation.clone().invert();
    child.position.sub(parent.position).applyQuaternion(back);
    child.rotation.premultiply(back);
}

// X_p X_c
function compose(parent: Pose, child: Pose): void {
    child.position.applyQuaternion(parent.rotation).add(parent.position);
    child.rotation.premultiply(parent.rotation);
}

export class Motion {
    private readonly frames: Float32Array;
    private readonly stride: number;
    private readonly parents: number[];
    private readonly contacts: { start: number; hasMoment: boolean }[]; // in a frame
    private readonly from = newPose();
    private readonly to = newPose();
    private readonly base = newPose();
    readonly time: Float64Array;

    constructor(run: Run) {
        const { scene } = run.report;
        this.frames = run.frames;
        this.stride = scene.stride;
        this.parents = scene.bodies.map((body, i) => (body.parent < i ? body.parent : -1));
        let start = BODY * scene.bodies.length;
        this.contacts = scene.contacts.map(({ has_moment: hasMoment }) => {
            const contact = { start, hasMoment };
            start += CONTACT + (hasMoment ? MOMENT : 0);
            return contact;
        });
        this.time = run.frameTime;
    }

    get rows(): number {
        return this.time.length;
    }

    // Rows all along the run, about so many.
    sampledRows(most: number): number[] {
        const every = Math.max(1, Math.floor(this.rows / most));
        const rows: number[] = [];
        for (let row = 0; row < this.rows; row += every) rows.push(row);
        return rows;
    }

    newState(): State {
        return {
            t: NaN,
            row: 0,
            part: 0,
            bodies: this.parents.map(newPose),
            contacts: this.contacts.map(() => ({
                point: new Vector3(),
                force: new Vector3(),
                moment: new Vector3(),
            })),
        };
    }

    body(row: number, index: number, into: Pose): Pose {
        const f = this.frames;
        const k = row * this.stride + index * BODY;
        into.position.set(f[k], f[k + 1], f[k + 2]);
        into.rotation.set(f[k + 4], f[k + 5], f[k + 6], f[k + 3]);
        return into;
    }

    point(row: number, contact: number, into: Vector3): Vector3 {
        return into.fromArray(this.frames, this.contactStart(row, contact));
    }

    force(row: number, contact: number, into: Vector3): Vector3 {
        return into.fromArray(this.frames, this.contactStart(row, contact) + 3);
    }

    moment(row: number, contact: number, into: Vector3): Vector3 {
        if (!this.contacts[contact].hasMoment) return into.set(0, 0, 0);
        return into.fromArray(this.frames, this.contactStart(row, contact) + CONTACT);
    }

    at(t: number, state: State): State {
        const { row, part: s } = between(this.time, t);
        const next = Math.min(row + 1, this.rows - 1);
        state.t = t;
        state.row = row;
        state.part = s;
        for (let i = 0; i < state.bodies.length; i++) this.moveBody(i, row, next, s, state);
        for (let i = 0; i < state.contacts.length; i++) {
            const { point, force, moment } = state.contacts[i];
            this.force(row, i, force).lerp(this.force(next, i, point), s);
            this.moment(row, i, moment).lerp(this.moment(next, i, point), s);
            this.curve(row, s, this.contactStart(0, i), point);
        }
        return state;
    }

    // The point of a contact a part s of the way from a row to the next.
    pointBetween(row: number, s: number, contact: number, into: Vector3): Vector3 {
        return s > 0
            ? this.curve(row, s, this.contactStart(0, contact), into)
            : this.point(row, contact, into);
    }

    // Cubic through rows i and i+1 whose slopes there are those of the chords around:
    // p = h00 p1 + h10 (t2-t1) m1 + h01 p2 + h11 (t2-t1) m2,  m1 = (p2-p0)/(t2-t0)
    private curve(row: number, s: number, place: number, into: Vector3): Vector3 {
        const { frames: f, stride, time } = this;
        const rows = [row - 1, row, row + 1, row + 2].map((r) =>
            Math.min(this.rows - 1, Math.max(0, r)),
        );
        const [t0, t1, t2, t3] = rows.map((r) => time[r]);
        const [k0, k1, k2, k3] = rows.map((r) => r * stride + place);
        const slope1 = t2 > t0 ? (t2 - t1) / (t2 - t0) : 0;
        const slope2 = t3 > t1 ? (t2 - t1) / (t3 - t1) : 0;
        const axis = (d: number): number => {
            const m1 = slope1 * (f[k2 + d] - f[k0 + d]);
            const m2 = slope2 * (f[k3 + d] - f[k1 + d]);
            const [p1, p2] = [f[k1 + d], f[k2 + d]];
            return (
                p1 + s * (m1 + s * (3 * (p2 - p1) - 2 * m1 - m2 + s * (2 * (p1 - p2) + m1 + m2)))
            );
        };
        return into.set(axis(0), axis(1), axis(2));
    }

    private moveBody(i: number, row: number, next: number, s: number, state: State): void {
        const parent = this.parents[i];
        const from = this.body(row, i, this.from);
        const to = this.body(next, i, this.to);
        if (parent >= 0) {
            relative(this.body(row, parent, this.base), from);
            relative(this.body(next, parent, this.base), to);
        }
        const pose = state.bodies[i];
        if (parent < 0) this.curve(row, s, i * BODY, pose.position);
        else pose.position.lerpVectors(from.position, to.position, s);
        pose.rotation.slerpQuaternions(from.rotation, to.rotation, s);
        if (parent >= 0) compose(state.bodies[parent], pose);
    }

    private contactStart(row: number, contact: number): number {
        return row * this.stride + this.contacts[contact].start;
    }
}
