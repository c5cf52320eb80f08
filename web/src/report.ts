// SPDX-License-Identifier: Apache-2.0
// What the program writes into the page: the words of a run as JSON, its numbers beside it.

export type Triple = [number, number, number];

export interface Column {
    name: string;
    unit: string;
    group: string;
}

export interface Shape {
    type: string; // box, cylinder, sphere, capsule, disc, torus
    at: Triple; // its middle, in the body's axes [m]
    axis: Triple; // unit vector in the body's axes
    size: Triple; // box [m]
    radius: number; // [m]
    length: number; // along the axis [m]
    tube: number; // of a torus [m]
    colour: string; // CSS, or empty
    guessed: boolean; // the model gave none
}

export interface Body {
    name: string;
    mass: number; // [kg]
    com: Triple; // in the body's axes [m]
    parent: number; // -1: the world
    part: boolean; // a point or a piece of a beam, its parent, or a motor that is not drawn
    joint: { type: string; axis: Triple; coordinate: string };
    shapes: Shape[];
}

export interface Contact {
    name: string;
    kind: string;
    body: number;
    leaves_track: boolean;
}

export interface Rod {
    name: string;
    body: number;
    at: Triple;
    on: number;
    to: Triple;
}

export interface SceneData {
    stride: number; // numbers in a frame
    length: number; // typical size of the model [m]
    gravity: Triple;
    ground: { at: Triple; normal: Triple; shown: boolean };
    bodies: Body[];
    contacts: Contact[];
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
    program: string;
    rows: number;
    columns: Column[];
    scene: SceneData;
    certificate: Certificate | null;
    parameters: { name: string; value: number | null }[];
    model: { file: string; sha256: string; text: string };
    case: string;
    settings: { name: string; formula: string }[];
}
