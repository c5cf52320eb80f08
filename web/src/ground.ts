// SPDX-License-Identifier: Apache-2.0
// A plane without end: a grid that lies still in the world while the plane under it goes with the
// camera and fades far away. Its lines are 1, 10, 100 ... apart, as the distance of the eye asks.
import {
    Color,
    DoubleSide,
    Group,
    LinearSRGBColorSpace,
    Mesh,
    PlaneGeometry,
    Quaternion,
    ShaderMaterial,
    Vector3,
} from "three";
import type { SceneData } from "./report";

const VERTEX = /* glsl */ `
uniform vec3 origin, east, north, middle;
uniform float spacing, reach;
varying vec2 cell; // place on the grid, in spacings
varying vec3 away; // from the middle, in reaches
void main() {
    vec4 p = modelMatrix * vec4(position, 1.0);
    vec3 d = p.xyz - origin;
    cell = vec2(dot(d, east), dot(d, north)) / spacing;
    away = (p.xyz - middle) / reach;
    gl_Position = projectionMatrix * viewMatrix * p;
}`;

// Colours are as the screen has them: this is most of the picture, and must be cheap.
const FRAGMENT = /* glsl */ `
uniform vec3 line, floorColour;
uniform float fine;
varying vec2 cell;
varying vec3 away;

// How much of a pixel a line covers, where it changes by so much from one pixel to the next; lines
// too close to tell apart fade.
float grid(vec2 x, vec2 change, float width) {
    vec2 d = abs(fract(x - 0.5) - 0.5) / change;
    vec2 cover = clamp(width + 0.5 - d, 0.0, 1.0) * clamp(1.4 - 2.8 * change, 0.0, 1.0);
    return max(cover.x, cover.y);
}

void main() {
    vec2 change = max(fwidth(cell), 1e-9);
    float lines = max(grid(cell, change, 0.6) * 0.55 * fine, grid(0.1 * cell, 0.1 * change, 0.8) * 0.9);
    float fade = clamp(1.2 - 1.25 * length(away), 0.0, 1.0);
    gl_FragColor = vec4(mix(floorColour, line, lines), fade * (0.55 + 0.45 * lines));
}`;

export class Ground {
    readonly root = new Group();
    spacing = 1; // between the lines drawn strongest [m]
    private readonly normal: Vector3;
    private readonly at: Vector3;
    private readonly grid: ShaderMaterial;
    private readonly plane: Mesh;

    constructor(scene: SceneData) {
        this.normal = new Vector3(...scene.ground.normal).normalize();
        this.at = new Vector3(...scene.ground.at);
        const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), this.normal);
        this.grid = new ShaderMaterial({
            vertexShader: VERTEX,
            fragmentShader: FRAGMENT,
            transparent: true,
            depthWrite: false,
            side: DoubleSide,
            uniforms: {
                origin: { value: this.at },
                east: { value: new Vector3(1, 0, 0).applyQuaternion(turn) },
                north: { value: new Vector3(0, 1, 0).applyQuaternion(turn) },
                middle: { value: new Vector3() },
                line: { value: new Color() },
                floorColour: { value: new Color() },
                spacing: { value: 1 },
                fine: { value: 1 },
                reach: { value: 1 },
            },
        });
        this.plane = new Mesh(new PlaneGeometry(2, 2), this.grid);
        this.plane.quaternion.copy(turn);
        this.plane.renderOrder = -2;
        this.plane.frustumCulled = false;
        if (!scene.terrains.some(({ on }) => on < 0)) this.root.add(this.plane);
    }

    colour(line: string, floor: string): void {
        (this.grid.uniforms.line.value as Color).setStyle(line, LinearSRGBColorSpace);
        (this.grid.uniforms.floorColour.value as Color).setStyle(floor, LinearSRGBColorSpace);
    }

    follow(target: Vector3, distance: number): void {
        const height = target.clone().sub(this.at).dot(this.normal);
        const middle = target.clone().addScaledVector(this.normal, -height);
        const reach = 9 * distance;
        const level = Math.log10(Math.max(distance, 1e-6)) - 0.7;
        const u = this.grid.uniforms;
        u.spacing.value = 10 ** Math.floor(level);
        u.fine.value = 1 - (level - Math.floor(level));
        u.reach.value = reach;
        (u.middle.value as Vector3).copy(middle);
        this.spacing = u.fine.value > 0.35 ? u.spacing.value : 10 * u.spacing.value;
        this.plane.position.copy(middle);
        this.plane.scale.setScalar(reach);
    }
}
