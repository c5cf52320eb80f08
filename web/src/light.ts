// SPDX-License-Identifier: Apache-2.0
// Daylight: a sky, a sun whose shadow goes with what is looked at, and a little from behind.
import { DirectionalLight, Group, HemisphereLight, Vector3 } from "three";

const SUN_FROM = new Vector3(-0.35, -0.55, 1).normalize();

export class Daylight {
    readonly root = new Group();
    readonly sun = new DirectionalLight("#fff6e8", 2.9);
    private readonly sky = new HemisphereLight("#eef4ff", "#a39d90", 1.9);
    private readonly back = new DirectionalLight("#dbe7ff", 0.8);

    constructor() {
        this.sky.position.set(0, 0, 1);
        this.back.position.set(0.7, 0.9, 0.35);
        this.sun.castShadow = true;
        this.sun.shadow.mapSize.set(2048, 2048);
        this.sun.shadow.radius = 2.5;
        this.sun.shadow.bias = -2e-4;
        this.root.add(this.sky, this.sun, this.sun.target, this.back);
    }

    // Shadows are cast within `reach` of the target.
    follow(target: Vector3, reach: number): void {
        this.sun.target.position.copy(target);
        this.sun.position.copy(target).addScaledVector(SUN_FROM, 3 * reach);
        const eye = this.sun.shadow.camera;
        if (eye.top !== reach) {
            eye.left = eye.bottom = -reach;
            eye.right = eye.top = reach;
            eye.near = 0.1 * reach;
            eye.far = 8 * reach;
            this.sun.shadow.normalBias = 0.002 * reach;
            eye.updateProjectionMatrix();
        }
    }
}
