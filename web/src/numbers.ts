// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them.

const MINUS = "\u2212";

// At most `digits` significant ones, no trailing zeros, powers of ten where they are shorter.
export function brief(value: number | null | undefined, digits = 5): string {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : `${MINUS}∞`;
    if (value === 0) return "0";
    const size = Math.abs(value);
    let text: string;
    if (size >= 10 ** Math.max(digits, 5) || size < 1e-4) {
        const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
        text = `${trim(mantissa)}e${exponent.replace("+", "")}`;
    } else text = trim(value.toPrecision(digits));
    return text.replace(/-/g, MINUS);
}

function trim(decimal: string): string {
    return decimal.includes(".") ? decimal.replace(/\.?0+$/, "") : decimal;
}

// A time with as many decimals as the spacing of the rows calls for.
export function clock(t: number, decimals: number): string {
    return t.toFixed(decimals).replace(/-/g, MINUS);
}

export function decimalsFor(spacing: number): number {
    if (!(spacing > 0)) return 2;
    return Math.min(6, Math.max(1, Math.ceil(-Math.log10(spacing) - 1e-9)));
}

// Shortest text that reads back equal, as other programs spell it.
export function exact(value: number): string {
    if (Number.isNaN(value)) return "nan";
    if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
    return Object.is(value, -0) ? "-0" : String(value);
}
