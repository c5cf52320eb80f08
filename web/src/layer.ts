// SPDX-License-Identifier: Apache-2.0
// A part of the picture that can be shown or not, and follows the motion.
import { BufferGeometry, Mesh, MeshBasicMaterial, type Object3D } from "three";
import { bodyMaterial } from "./bodies";
import type { State } from "./motion";

export interface Layer {
    readonly root: Object3D;
    update(state: State): void;
}

// Seen through what is in front of it: drawn once more, faintly, without looking at depth.
export const BEHIND = { depthTest: false, depthWrite: false, transparent: true, opacity: 0.3 };
export const OVERLAY_ORDER = 10;

// Twice: solid, and faint for what stands behind a body.
export function seenThrough(geometry: BufferGeometry, color: string, opacity = 0.3): Mesh[] {
    const faint = new Mesh(geometry, new MeshBasicMaterial({ color, ...BEHIND, opacity }));
    faint.renderOrder = OVERLAY_ORDER;
    return [new Mesh(geometry, bodyMaterial()), faint];
}
