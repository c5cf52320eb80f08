// SPDX-License-Identifier: Apache-2.0
// What the program writes into the page: the words of a run as JSON, its numbers beside it.

export type Triple = [number, number, number];

export interface Column {
    name: string;
    unit: string;
    group: string;
}

export interface Shape {
    type: string; // box, cylinder, sphere, capsule, disc, torus, mesh
    at: Triple; // its middle, in the body's axes [m]
    axis: Triple; // unit vector in the body's axes
    size: Triple; // box, and that around a mesh [m]
    mesh?: number; // of the scene's
    scale?: number; // [m] for a unit of the mesh
    radius: number; // [m]
    length: number; // along the axis [m]
    tube: number; // of a torus [m]
    colour: string; // CSS, or empty
    guessed: boolean; // the model gave none
    shell: boolean; // a sphere that something is inside of
}

export interface Body {
    name: string;
    mass: number; // [kg]
    com: Triple; // in the body's axes [m]
    parent: number; // -1: the world
    part: boolean; // a motor, a point or a piece of a beam: no body by itself
    joint: { type: string; at: Triple; axis: Triple; coordinate: string }; // in the body's axes
    shapes: Shape[];
}

export interface Contact {
    name: string;
    kind: string;
    body: number;
    on: number; // -1: the world
    leaves_track: boolean;
    has_moment: boolean;
    rows: string[]; // of columns lambda.<row>
    loop?: Loop; // that it is one, or a joint that was cut
}

// Its point and its axis in the axes of the one body, then of the other; zero when it has no axis.
export interface Loop {
    at: Triple;
    axis: Triple;
    to: Triple;
    guide: Triple;
}

// A tube from a body's origin through those of its parts, along their x.
export interface Beam {
    body: number;
    first: number; // of its parts, among the bodies
    count: number;
    radius: number; // [m]
}

export interface Rod {
    name: string;
    body: number;
    at: Triple;
    on: number;
    to: Triple;
}

// Heights over the x and y of axes on a body or the world, at the nodes of a grid in rows along x.
export interface TerrainData {
    on: number; // -1: the world
    at: Triple; // where its axes stand in those [m]
    rotation: number[]; // and how, by rows
    corner: [number, number]; // the first node's x and y [m]
    step: number; // from a node to the next [m]
    count: [number, number]; // of nodes
}

// A body whose drawings are below the ground
export interface Sunk {
    body: number;
    depth: number; // at most [m]
    t: number; // where it begins [s]
}

export interface SceneData {
    stride: number; // numbers in a frame
    length: number; // typical size of the model [m]
    gravity: Triple;
    ground: { at: Triple; normal: Triple; shown: boolean };
    sunk: Sunk[];
    terrains: TerrainData[];
    meshes: { points: number; triangles: number }[];
    missing: string; // files of meshes that could not be read, or empty
    shapes: Shape[]; // of the world
    bodies: Body[];
    contacts: Contact[];
    beams: Beam[];
    rods: Rod[];
}

export interface Event {
    t?: number | null;
    kind?: string;
}

// The run's own .json file; what is not named here is shown as it stands.
export interface Certificate {
    [key: string]: unknown;
    method?: string;
    end?: number | null;
    reached?: number | null;
    energy_error?: number | null;
    position_error?: number | null;
    velocity_error?: number | null;
    kkt_error?: number | null;
    interrupted?: boolean;
    failure?: string;
    events?: Event[];
    warnings?: string[];
}

export interface Report {
    title: string;
    label: string; // among several runs
    program: string;
    rows: number;
    frames: number; // rows that have one
    columns: Column[];
    scene: SceneData;
    certificate: Certificate | null;
    parameters: { name: string; value: number | null; unit?: string; doc?: string }[];
    model: { file: string; sha256: string; text: string };
    case: string;
    settings: { name: string; formula: string }[];
}
