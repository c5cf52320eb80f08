// SPDX-License-Identifier: Apache-2.0
// Machines without a graphics card get a coarser picture while it moves, rather than a halting one.

const SLOW = 50; // [ms] between pictures
const PATIENCE = 4; // slow pictures in a row
const COARSEST = 0.5; // of the resolution
const PAUSE = 1000; // [ms] after which it was no picture that took so long

export class Pace {
    private finest = 1;
    private last = 0;
    private slow = 0;

    // The part of the full resolution that the next picture should have.
    resolution(isMoving: boolean): number {
        const now = performance.now();
        const spent = now - this.last;
        this.last = now;
        if (!isMoving) return 1;
        if (spent > SLOW && spent < PAUSE) this.slow++;
        else this.slow = 0;
        if (this.slow >= PATIENCE && this.finest > COARSEST) {
            this.finest = Math.max(COARSEST, this.finest * 0.7);
            this.slow = 0;
        }
        return this.finest;
    }
}
