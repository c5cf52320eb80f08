// SPDX-License-Identifier: Apache-2.0
// What acts on a link, carried from it to all before it. With X = (R, p),
//
//   F <- R F,   N <- R N + p x R F          wrenches, and rows on motions (T160)
//   m,   m c <- R m c + m p,   I <- R I R^T - hat(p) hat(b) - hat(b) hat(p) - m hat(p) hat(p)
//
// with b = R m c.
#include "num/links.h"

#include <string.h>

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void turn(const double R[9], const double a[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = R[3 * i] * a[0] + R[3 * i + 1] * a[1] + R[3 * i + 2] * a[2];
}

static double product(const double a[6], const double b[6])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

// A wrench, or a row, at the parent
static void carry_out(const double *at, double f[6])
{
    double F[3], N[3], more[3];
    turn(at, f, F);
    turn(at, f + 3, N);
    cross(at + 9, F, more);
    for (int k = 0; k < 3; k++) f[k] = F[k], f[3 + k] = N[k] + more[k];
}

// F = m V + W x m c,   N = I W + m c x V
static void apply_inertia(const double *J, const double v[6], double f[6])
{
    const double *mc = J + 1, *I = J + 4, *W = v + 3;
    double a[3], b[3];
    cross(W, mc, a);
    cross(mc, v, b);
    for (int k = 0; k < 3; k++) f[k] = J[0] * v[k] + a[k];
    f[3] = I[0] * W[0] + I[1] * W[1] + I[2] * W[2] + b[0];
    f[4] = I[1] * W[0] + I[3] * W[1] + I[4] * W[2] + b[1];
    f[5] = I[2] * W[0] + I[4] * W[1] + I[5] * W[2] + b[2];
}

// R I R^T, of which I is xx xy xz yy yz zz
static void turn_moments(const double R[9], const double I[6], double out[6])
{
    const double rows[3][3] = {{I[0], I[1], I[2]}, {I[1], I[3], I[4]}, {I[2], I[4], I[5]}};
    static const int first[6] = {0, 0, 0, 1, 1, 2}, second[6] = {0, 1, 2, 1, 2, 2};
    double RI[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            RI[i][k] =
                R[3 * i] * rows[0][k] + R[3 * i + 1] * rows[1][k] + R[3 * i + 2] * rows[2][k];
    for (int e = 0; e < 6; e++) {
        const double *a = RI[first[e]], *b = R + (size_t)3 * (size_t)second[e];
        out[e] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    }
}

// J += what a link carries, seen from its parent: -hat(a) hat(b) = a.b 1 - b a^T
static void add_inertia(const double *at, double *J)
{
    const double *p = at + 9, *own = at + 12, m = own[0];
    double b[3], I[6], q[3];
    turn(at, own + 1, b);
    turn_moments(at, own + 4, I);
    for (int k = 0; k < 3; k++) q[k] = 2 * b[k] + m * p[k]; // hat(p) hat(q), made symmetric
    const double along = p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    J[0] += m;
    for (int k = 0; k < 3; k++) J[1 + k] += b[k] + m * p[k];
    J[4] += I[0] + along - p[0] * q[0];
    J[5] += I[1] - (p[0] * q[1] + p[1] * q[0]) / 2;
    J[6] += I[2] - (p[0] * q[2] + p[2] * q[0]) / 2;
    J[7] += I[3] + along - p[1] * q[1];
    J[8] += I[4] - (p[1] * q[2] + p[2] * q[1]) / 2;
    J[9] += I[5] + along - p[2] * q[2];
}

void tr_links_mass(Links *links, double *M)
{
    const size_t n = links->velocities;
    memset(M, 0, n * n * sizeof *M);
    for (uint32_t i = links->count; i-- > 0;) {
        const uint32_t parent = links->parent[i];
        const double *at = links->at + (size_t)i * LINK_NUMBERS;
        for (uint32_t k = links->first[i]; k < links->first[i] + links->own[i]; k++) {
            double f[6];
            apply_inertia(at + 12, links->S + (size_t)k * MOTION_NUMBERS, f);
            for (uint32_t j = i; j != LINK_NO_PARENT; j = links->parent[j]) {
                for (uint32_t l = links->first[j]; l < links->first[j] + links->own[j]; l++)
                    M[k * n + l] = M[l * n + k] = product(links->S + (size_t)l * MOTION_NUMBERS, f);
                carry_out(links->at + (size_t)j * LINK_NUMBERS, f);
            }
        }
        if (parent != LINK_NO_PARENT)
            add_inertia(at, links->at + (size_t)parent * LINK_NUMBERS + 12);
    }
}

void tr_links_slopes(const Links *links, uint32_t link, const double on[6], double *row)
{
    double f[6];
    memcpy(f, on, sizeof f);
    for (uint32_t j = link; j != LINK_NO_PARENT; j = links->parent[j]) {
        for (uint32_t k = links->first[j]; k < links->first[j] + links->own[j]; k++)
            row[k] = product(links->S + (size_t)k * MOTION_NUMBERS, f);
        carry_out(links->at + (size_t)j * LINK_NUMBERS, f);
    }
}
