// SPDX-License-Identifier: Apache-2.0
// The shadow on the ground: the bodies once more, pressed onto it along the sun's light. The
// stencil lets each point be darkened once. Shadow maps would cost several times the whole picture
// where there is no graphics card.
import {
    BufferGeometry,
    DataTexture,
    EqualStencilFunc,
    FloatType,
    Group,
    IncrementStencilOp,
    Matrix4,
    Mesh,
    MeshBasicMaterial,
    RedFormat,
    Vector2,
    Vector3,
} from "three";
import { placeMeshes } from "./bodies";
import type { Layer } from "./layer";
import { SUN_FROM } from "./light";
import type { State } from "./motion";
import type { SceneData, TerrainData } from "./report";
import { placeOf } from "./terrain";

// p' = p - s (n.p - h)/(n.s), where s is the way to the sun and n.p = h the plane
function ontoPlane(normal: Vector3, height: number, s: Vector3): Matrix4 {
    const part = s.clone().divideScalar(normal.dot(s));
    const row = (k: "x" | "y" | "z"): number[] => [
        (k === "x" ? 1 : 0) - part[k] * normal.x,
        (k === "y" ? 1 : 0) - part[k] * normal.y,
        (k === "z" ? 1 : 0) - part[k] * normal.z,
        part[k] * height,
    ];
    return new Matrix4().fromArray([...row("x"), ...row("y"), ...row("z"), 0, 0, 0, 1]).transpose();
}

// Each corner goes along the light until it is where the surface is:
//   r = q - k s,   k += (r_z - f(r_x, r_y)) / s_z
const DROP = /* glsl */ `
uniform sampler2D heights;
uniform mat4 place, back;
uniform vec3 sun;
uniform vec2 corner;
uniform float spacing, lift;
float heightAt(vec2 p) {
    ivec2 last = textureSize(heights, 0) - 2;
    vec2 cell = clamp((p - corner) / spacing, vec2(0.0), vec2(last) + 0.999);
    ivec2 i = ivec2(cell);
    vec2 s = cell - vec2(i);
    vec2 low = vec2(texelFetch(heights, i, 0).r, texelFetch(heights, i + ivec2(1, 0), 0).r);
    vec2 high = vec2(texelFetch(heights, i + ivec2(0, 1), 0).r, texelFetch(heights, i + 1, 0).r);
    return mix(mix(low.x, low.y, s.x), mix(high.x, high.y, s.x), s.y);
}
vec3 dropped(vec3 q) {
    float k = 0.0;
    for (int n = 0; n < 8; n++) {
        vec3 r = q - k * sun;
        k += (r.z - heightAt(r.xy)) / sun.z;
    }
    return q - k * sun + vec3(0.0, 0.0, lift);
}`;

const PLACED = /* glsl */ `
vec4 world = modelMatrix * vec4(transformed, 1.0);
vec4 mvPosition = viewMatrix * place * vec4(dropped((back * world).xyz), 1.0);
gl_Position = projectionMatrix * mvPosition;`;

// The material presses what it is put on by itself.
function ontoTerrain(
    material: MeshBasicMaterial,
    data: TerrainData,
    heights: Float32Array,
    length: number,
): void {
    const known = heights.map((h) => (Number.isFinite(h) ? h : 0));
    const texture = new DataTexture(known, ...data.count, RedFormat, FloatType);
    texture.needsUpdate = true;
    const place = placeOf(data);
    const back = place.clone().invert();
    const uniforms = {
        heights: { value: texture },
        place: { value: place },
        back: { value: back },
        sun: { value: SUN_FROM.clone().transformDirection(back) },
        corner: { value: new Vector2(...data.corner) },
        spacing: { value: data.step },
        lift: { value: 0.003 * length },
    };
    material.onBeforeCompile = (shader) => {
        Object.assign(shader.uniforms, uniforms);
        shader.vertexShader = shader.vertexShader
            .replace("void main() {", `${DROP}\nvoid main() {`)
            .replace("#include <project_vertex>", PLACED);
    };
}

export class Shadow implements Layer {
    readonly root = new Group();
    private readonly pressed = new Group();
    private readonly meshes: (Mesh | null)[];
    private readonly material = new MeshBasicMaterial({
        color: "#0b1018",
        transparent: true,
        depthWrite: false,
        stencilWrite: true,
        stencilRef: 0,
        stencilFunc: EqualStencilFunc,
        stencilZPass: IncrementStencilOp,
    });

    // `still` are those that do not move with a body: what bends is bent as it stands.
    constructor(
        scene: SceneData,
        heights: Float32Array[],
        geometries: (BufferGeometry | null)[],
        still: BufferGeometry[],
    ) {
        const normal = new Vector3(...scene.ground.normal).normalize();
        const height = normal.dot(new Vector3(...scene.ground.at));
        const terrain = scene.terrains.findIndex(({ on }) => on < 0);
        this.pressed.matrixAutoUpdate = false;
        if (terrain < 0) this.pressed.matrix.copy(ontoPlane(normal, height, SUN_FROM));
        else ontoTerrain(this.material, scene.terrains[terrain], heights[terrain], scene.length);
        this.root.add(this.pressed);
        this.meshes = geometries.map((geometry) => {
            if (!geometry) return null;
            return this.add(geometry);
        });
        for (const geometry of still) this.add(geometry);
    }

    private add(geometry: BufferGeometry): Mesh {
        const mesh = new Mesh(geometry, this.material);
        mesh.renderOrder = -1;
        mesh.frustumCulled = false;
        this.pressed.add(mesh);
        return mesh;
    }

    set strength(opacity: number) {
        this.material.opacity = opacity;
    }

    update(state: State): void {
        placeMeshes(this.meshes, state);
    }
}
