// SPDX-License-Identifier: Apache-2.0
// A plane without end: a grid that lies still in the world while the plane under it goes with the
// camera and fades far away. Its lines are 1, 10, 100 ... apart, as the distance of the eye asks.
import {
    Color,
    DoubleSide,
    Group,
    Mesh,
    PlaneGeometry,
    Quaternion,
    ShaderMaterial,
    ShadowMaterial,
    Vector3,
} from "three";
import type { SceneData } from "./report";

const VERTEX = /* glsl */ `
varying vec3 world;
void main() {
    vec4 p = modelMatrix * vec4(position, 1.0);
    world = p.xyz;
    gl_Position = projectionMatrix * viewMatrix * p;
}`;

const FRAGMENT = /* glsl */ `
varying vec3 world;
uniform vec3 origin, east, north, middle, line, floorColour;
uniform float spacing, fine, reach;

// How much of a pixel a line of the grid covers; lines too close to tell apart fade.
float grid(vec2 p, float apart, float width) {
    vec2 x = p / apart;
    vec2 change = fwidth(x);
    vec2 away = abs(fract(x - 0.5) - 0.5) / max(change, 1e-9);
    vec2 cover = clamp(width - away + 0.5, 0.0, 1.0) * smoothstep(0.5, 0.15, change);
    return max(cover.x, cover.y);
}

void main() {
    vec3 d = world - origin;
    vec2 p = vec2(dot(d, east), dot(d, north));
    float fade = 1.0 - smoothstep(0.15, 1.0, length(world - middle) / reach);
    float lines = max(grid(p, spacing, 0.6) * 0.55 * fine, grid(p, 10.0 * spacing, 0.8) * 0.9);
    float alpha = fade * mix(0.55, 1.0, lines);
    gl_FragColor = vec4(mix(floorColour, line, lines), alpha);
    #include <colorspace_fragment>
}`;

export class Ground {
    readonly root = new Group();
    spacing = 1; // between the lines drawn strongest [m]
    private readonly normal: Vector3;
    private readonly at: Vector3;
    private readonly grid: ShaderMaterial;
    private readonly shade = new ShadowMaterial({ transparent: true, opacity: 0.28, depthWrite: false });

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
        this.addPlane(this.grid, -2, turn);
        this.addPlane(this.shade, -1, turn).receiveShadow = true;
    }

    private addPlane(material: ShaderMaterial | ShadowMaterial, order: number, turn: Quaternion): Mesh {
        const mesh = new Mesh(new PlaneGeometry(2, 2), material);
        mesh.quaternion.copy(turn);
        mesh.renderOrder = order;
        mesh.frustumCulled = false;
        this.root.add(mesh);
        return mesh;
    }

    colour(line: string, floor: string, shadow: number): void {
        (this.grid.uniforms.line.value as Color).set(line);
        (this.grid.uniforms.floorColour.value as Color).set(floor);
        this.shade.opacity = shadow;
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
        for (const plane of this.root.children) {
            plane.position.copy(middle);
            plane.scale.setScalar(reach);
        }
    }
}
