// SPDX-License-Identifier: Apache-2.0
// Trees in MuJoCo: mass matrix, bias forces and accelerations at random states of random forests,
// and of SK8O's open tree. A plain program: mujoco_check [models/sk8o_open.yaml].
#include "mujoco_twins.h"

enum { FORESTS = 100, STATES = 4, MOST_BODIES = 12 };

// ---- random forests ------------------------------------------------------------------------

typedef struct Family {
    const char *name;
    bool free_base, general_axes, full_inertia;
} Family;

static void put_vector(FILE *out, Random *r, const char *key, double size)
{
    fprintf(out, "%s: \"%.17g, %.17g, %.17g\"", key, random_between(r, -size, size),
            random_between(r, -size, size), random_between(r, -size, size));
}

static void put_axis(FILE *out, Random *r, bool general)
{
    static const char *const axes[] = {"1, 0, 0", "0, 1, 0", "0, 0, 1", "0, 0, -1"};
    if (general)
        put_vector(out, r, "axis", 1);
    else
        fprintf(out, "axis: \"%s\"", axes[random_below(r, 4)]);
}

// Moments y+z, x+z, x+y of positive x, y, z, which a body can have; turned when it is full.
static void put_random_inertia(FILE *out, Random *r, bool full)
{
    const double x = random_between(r, 0.02, 1), y = random_between(r, 0.02, 1);
    const double z = random_between(r, 0.02, 1), zero[3] = {0};
    const double angles[3] = {random_between(r, -3, 3), random_between(r, -3, 3),
                              random_between(r, -3, 3)};
    double D[3][3] = {{y + z, 0, 0}, {0, x + z, 0}, {0, 0, x + y}}, R[3][3], RD[3][3], I[3][3];
    turn_matrix(full ? angles : zero, R);
    product(R, D, RD);
    for (int i = 0; i < 3; i++) times(R, RD[i], I[i]); // R (R D)' = R D R'
    fprintf(out, "{xx: %.17g, yy: %.17g, zz: %.17g, xy: %.17g, xz: %.17g, yz: %.17g}", I[0][0],
            I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]);
}

static void put_random_joint(FILE *out, Random *r, const Family *family)
{
    static const char *const types[] = {"revolute", "revolute", "prismatic", "ball"};
    const char *type = types[random_below(r, 4)];
    fprintf(out, "    joint: {type: %s, ", type);
    put_vector(out, r, "at", 1);
    if (family->general_axes && random_below(r, 2)) {
        fprintf(out, ", ");
        put_vector(out, r, "turn", 3);
    }
    if (strcmp(type, "ball") != 0) {
        fprintf(out, ", ");
        put_axis(out, r, family->general_axes);
        if (random_below(r, 2))
            fprintf(out, ", stiffness: %.17g, rest: %.17g, damping: %.17g",
                    random_between(r, 0, 20), random_between(r, -1, 1), random_between(r, 0, 2));
    }
    fprintf(out, "}\n");
}

// A wheel: symmetric about its own axis, whose angle our equations do without.
static void put_wheel(FILE *out, Random *r, const Family *family, int parent)
{
    fprintf(out, "    joint: {type: revolute, ");
    put_vector(out, r, "at", 1);
    fprintf(out, ", ");
    put_axis(out, r, family->general_axes);
    fprintf(out, "}\n    parent: b%d\n    mass: %.17g\n    inertia: {axial: 0.3, radial: 0.2}\n",
            parent, random_between(r, 0.1, 3));
}

static void put_random_body(FILE *out, Random *r, const Family *family, int i)
{
    fprintf(out, "  b%d:\n", i);
    if (i > 1 && random_below(r, 5) == 0) {
        put_wheel(out, r, family, 0);
        return;
    }
    if (i == 0 && family->free_base)
        fprintf(out, "    joint: {type: free}\n");
    else
        put_random_joint(out, r, family);
    uint32_t parent = i ? random_below(r, (uint32_t)i) : 0;
    fprintf(out, "    mass: %.17g\n    ", random_between(r, 0.1, 5));
    put_vector(out, r, "com", 0.5);
    fprintf(out, "\n    inertia: ");
    put_random_inertia(out, r, family->full_inertia);
    fprintf(out, "\n");
    if (i && random_below(r, 10)) fprintf(out, "    parent: b%u\n", parent); // else a second tree
}

static Model *random_model(Random *r, const Family *family)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    const int count = 2 + (int)random_below(r, MOST_BODIES - 1);
    fprintf(out, "trundle: 1\ngravity: 0.3, -0.2, -9.81\nbodies:\n");
    for (int i = 0; i < count; i++) put_random_body(out, r, family, i);
    fclose(out);
    tr_error err = {0};
    Model *model = tr_model_parse(text, &err);
    if (!model) give_up("%d:%d: %s\n%s", err.line, err.column, err.text, text);
    free(text);
    return model;
}

// ---- all of it -----------------------------------------------------------------------------

static void check(const Model *model, Random *r, Worst *worst)
{
    Twins t = make_twins(model, NULL, NULL);
    for (int i = 0; i < STATES; i++) {
        random_state(&t, r);
        compare(&t, worst);
    }
    free_twins(&t);
}

static bool is_good(const char *name, Worst worst)
{
    const bool good = worst.M < 1e-8 && worst.c < 1e-8 && worst.a < 1e-8;
    printf("%-44s M %.1e  bias %.1e  accelerations %.1e%s\n", name, worst.M, worst.c, worst.a,
           good ? "" : "  TOO FAR OFF");
    return good;
}

int main(int count, char **arguments)
{
    static const Family families[] = {
        {"fixed base, aligned axes, principal inertia", false, false, false},
        {"fixed base, general axes, principal inertia", false, true, false},
        {"fixed base, general axes, full inertia", false, true, true},
        {"free base, aligned axes, principal inertia", true, false, false},
        {"free base, general axes, principal inertia", true, true, false},
        {"free base, general axes, full inertia", true, true, true},
    };
    Random r = {20220104};
    bool good = true;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        Worst worst = {0};
        for (int k = 0; k < FORESTS; k++) {
            Model *model = random_model(&r, &families[i]);
            check(model, &r, &worst);
            tr_model_free(model);
        }
        good &= is_good(families[i].name, worst);
    }
    if (count > 1) {
        tr_error err = {0};
        Worst worst = {0};
        Model *model = tr_model_read(arguments[1], &err);
        if (!model) give_up("%s: %s", arguments[1], err.text);
        for (int k = 0; k < 10; k++) check(model, &r, &worst);
        good &= is_good(arguments[1], worst);
        tr_model_free(model);
    }
    return good ? 0 : 1;
}
