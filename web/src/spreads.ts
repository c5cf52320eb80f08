// SPDX-License-Identifier: Apache-2.0
// How well places are known, where the run says so: ellipses that 95 % of such runs are inside, along
// the way as far as the run has come, and where it is now.
import { BufferGeometry, Float32BufferAttribute, Group, LineBasicMaterial, LineLoop } from "three";
import { contactColour } from "./colours";
import { between, type Between, type Run } from "./data";
import type { Layer } from "./layer";
import type { State } from "./motion";

const WITHIN = Math.sqrt(-2 * Math.log(0.05));
const ELLIPSES = 12; // along the way
const CORNERS = 64;

// The columns of one place; z is missing in models of the plane.
interface Place {
    x: Float64Array;
    y: Float64Array;
    z: Float64Array | undefined;
    sx: Float64Array;
    sy: Float64Array;
    cov: Float64Array;
}

function placesOf({ report, columns }: Run): Map<string, Place> {
    const index = new Map(report.columns.map(({ name }, i) => [name, i]));
    const column = (name: string): Float64Array | undefined => {
        const i = index.get(name);
        return i === undefined ? undefined : columns[i];
    };
    const places = new Map<string, Place>();
    for (const { name } of report.columns) {
        if (!name.endsWith(".x")) continue;
        const of = name.slice(0, -2);
        const [x, y, z] = [column(name), column(`${of}.y`), column(`${of}.z`)];
        const [sx, sy] = [column(`sd(${of}.x)`), column(`sd(${of}.y)`)];
        const cov = column(`cov(${of}.x:${of}.y)`);
        if (x && y && sx && sy && cov) places.set(of, { x, y, z, sx, sy, cov });
    }
    return places;
}

class Ellipse {
    readonly line: LineLoop;
    private readonly points = new Float32BufferAttribute(new Float32Array(3 * CORNERS), 3);

    constructor(material: LineBasicMaterial) {
        const geometry = new BufferGeometry();
        geometry.setAttribute("position", this.points);
        this.line = new LineLoop(geometry, material);
        this.line.frustumCulled = false;
    }

    // P = C C^T, and C (cos a, sin a) goes round; between two rows its numbers are in proportion.
    set(place: Place, row: number, part: number, lift: number): void {
        const next = Math.min(row + 1, place.x.length - 1);
        const at = (c: Float64Array): number => c[row] + part * (c[next] - c[row]);
        const [x, y, sx, sy] = [at(place.x), at(place.y), at(place.sx), at(place.sy)];
        const along = sx > 0 ? at(place.cov) / sx : 0;
        const across = Math.sqrt(Math.max(sy * sy - along * along, 0));
        for (let k = 0; k < CORNERS; k++) {
            const [c, s] = [
                Math.cos((2 * Math.PI * k) / CORNERS),
                Math.sin((2 * Math.PI * k) / CORNERS),
            ];
            this.points.setXYZ(
                k,
                x + WITHIN * sx * c,
                y + WITHIN * (along * c + across * s),
                (place.z ? at(place.z) : 0) + lift,
            );
        }
        this.points.needsUpdate = true;
    }
}

class Spread {
    readonly root = new Group();
    private readonly now: Ellipse;
    private readonly passed: { row: number; ellipse: Ellipse }[] = [];

    constructor(
        private readonly place: Place,
        private readonly lift: number,
        color: string,
    ) {
        const faint = new LineBasicMaterial({ color, transparent: true, opacity: 0.55 });
        this.now = new Ellipse(new LineBasicMaterial({ color }));
        const rows = place.x.length;
        const every = Math.ceil(rows / ELLIPSES);
        for (let row = (rows - 1) % every; row < rows; row += every) {
            const ellipse = new Ellipse(faint);
            ellipse.set(place, row, 0, lift);
            this.passed.push({ row, ellipse });
            this.root.add(ellipse.line);
        }
        this.root.add(this.now.line);
    }

    update({ row, part }: Between): void {
        this.now.set(this.place, row, part, this.lift);
        for (const { row: at, ellipse } of this.passed) ellipse.line.visible = at <= row + part;
    }
}

export class Spreads implements Layer {
    readonly root = new Group();
    private readonly spreads: Spread[] = [];

    constructor(private readonly run: Run) {
        const { contacts, length } = run.report.scene;
        let others = contacts.length;
        for (const [name, place] of placesOf(run)) {
            const contact = contacts.findIndex((c) => `contact.${c.name}` === name);
            const colour = contactColour(contact < 0 ? others++ : contact);
            const spread = new Spread(place, 0.002 * length, colour);
            this.spreads.push(spread);
            this.root.add(spread.root);
        }
    }

    get exist(): boolean {
        return this.spreads.length > 0;
    }

    update({ t }: State): void {
        const now = between(this.run.time, t);
        for (const spread of this.spreads) spread.update(now);
    }
}
