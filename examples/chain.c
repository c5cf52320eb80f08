// SPDX-License-Identifier: Apache-2.0
// Writes the model of a planar chain of n equal rods to standard output: chain N > chain.yaml
//
// Before it is written, the model is read back and, unless it is long, its equations are derived.
#include <stdio.h>
#include <stdlib.h>
#include <trundle/trundle.h>

enum { MOST = 100000, MOST_DERIVED = 100 };

static const char head[] =
    "# A chain of %d equal rods that hangs from a point and swings in the x-z plane.\n"
    "#\n"
    "# Each angle is measured from the rod before; with all angles zero the chain hangs down, and "
    "a\n"
    "# positive angle swings towards x. It starts stretched out along x, at rest.\n"
    "#\n"
    "# Where the numbers come from: ours; written by examples/chain.c, as `chain %d`.\n"
    "trundle: 1\n"
    "name: Chain of %d rods\n"
    "parameters:\n"
    "  m: 0.2              # mass of a rod [kg]\n"
    "  l: %-17s# its length [m]\n"
    "  friction: 0         # in each hinge [N m s/rad]\n"
    "bodies:\n";

static void write_rod(FILE *out, int i)
{
    fprintf(out, "  rod%d:\n", i);
    if (i > 1) fprintf(out, "    parent: rod%d\n", i - 1);
    fprintf(out, "    joint: {type: revolute, axis: \"0, -1, 0\", at: \"0, 0, %s\", ",
            i > 1 ? "-l" : "0");
    fprintf(out, "coordinate: q%d, damping: friction}\n", i);
    fprintf(out, "    mass: m\n"
                 "    com: 0, 0, -l/2\n"
                 "    inertia: {xx: m*l^2/12, yy: m*l^2/12}\n"
                 "    shapes:\n");
    fprintf(out, "      rod: {type: capsule, radius: 0.1*l, length: l, at: \"0, 0, -l/2\", ");
    fprintf(out, "colour: %s}\n", i % 2 ? "steelblue" : "orange");
}

static void write_chain(FILE *out, int n)
{
    fprintf(out, head, n, n, n, n < 100 ? "0.2" : "0.02");
    for (int i = 1; i <= n; i++) write_rod(out, i);
    fprintf(out,
            "outputs:\n"
            "  tip_x: rod%d.x - l*rod%d.R13\n"
            "  tip_z: rod%d.z - l*rod%d.R33\n"
            "initial: {q1: pi/2}\n"
            "cases:\n"
            "  falling: {end: 2, every: 0.01}\n"
            "  damped: {set: {friction: 0.01}, end: 5, every: 0.01}\n",
            n, n, n, n);
}

int main(int count, char **arguments)
{
    double wanted = 0;
    if (count != 2 || !tr_read_number(arguments[1], &wanted) || wanted != (int)wanted ||
        wanted < 1 || wanted > MOST) {
        fprintf(stderr, "usage: chain N, with N rods, from 1 to %d\n", MOST);
        return TR_USAGE;
    }
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out) write_chain(out, (int)wanted);
    if (!out || fclose(out)) return TR_NO_MEMORY;

    tr_error err = {0};
    tr_model *model = tr_model_parse(text, &err);
    tr_system *system = wanted > MOST_DERIVED ? NULL : tr_derive(model, NULL, &err);
    tr_write_text("-", text, &err);
    if (err.status) fprintf(stderr, "chain: %s\n", err.text);
    tr_system_free(system);
    tr_model_free(model);
    free(text);
    return (int)err.status;
}
