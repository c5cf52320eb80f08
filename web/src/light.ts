// SPDX-License-Identifier: Apache-2.0
// Daylight: a sky, a sun, and a little from behind.
import { DirectionalLight, Group, HemisphereLight, Vector3 } from "three";

export const SUN_FROM = new Vector3(-0.35, -0.55, 1).normalize();

export function daylight(): Group {
    const root = new Group();
    const sky = new HemisphereLight("#eef4ff", "#a39d90", 1.9);
    const sun = new DirectionalLight("#fff6e8", 2.9);
    const back = new DirectionalLight("#dbe7ff", 0.8);
    sky.position.set(0, 0, 1);
    sun.position.copy(SUN_FROM);
    back.position.set(0.7, 0.9, 0.35);
    return root.add(sky, sun, back);
}
