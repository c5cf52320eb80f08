// SPDX-License-Identifier: Apache-2.0
// The shadow on the ground: the bodies once more, pressed onto the plane along the sun's light. The
// stencil lets each point be darkened once. Shadow maps would cost several times the whole picture
// where there is no graphics card.
import {
    BufferGeometry,
    EqualStencilFunc,
    Group,
    IncrementStencilOp,
    Matrix4,
    Mesh,
    MeshBasicMaterial,
    Vector3,
} from "three";
import { placeMeshes } from "./bodies";
import type { Layer } from "./layer";
import { SUN_FROM } from "./light";
import type { State } from "./motion";
import type { SceneData } from "./report";

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
    constructor(scene: SceneData, geometries: (BufferGeometry | null)[], still: BufferGeometry[]) {
        const normal = new Vector3(...scene.ground.normal).normalize();
        const height = normal.dot(new Vector3(...scene.ground.at));
        this.pressed.matrixAutoUpdate = false;
        this.pressed.matrix.copy(ontoPlane(normal, height, SUN_FROM));
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
