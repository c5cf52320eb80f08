// SPDX-License-Identifier: Apache-2.0
// Forward dynamics against MuJoCo's mj_forward: the same trees on a floating base, the same random
// states, in turn in one process. Nothing but smooth dynamics is left on in MuJoCo. Accelerations
// are compared before anything is timed.
#include "bench/bench.h"

#include "mujoco_twins.h"
#include "program/evaluate.h"
#include "program/interpret.h"
#include "program/native.h"

enum { STATES = 64, ROUNDS = 25 };

enum { MUJOCO, INTERPRETER, NATIVE, FOUR, EIGHT, CONTENDERS };

// A tree, and how many times as fast as MuJoCo the others are to be, where someone says
typedef struct Race {
    bool is_generic; // placements, axes, centres of mass and inertias are turned anyhow
    int limbs, hinges;
    const char *aims[CONTENDERS];
} Race;

static const Race races[] = {
    {false, 4, 30, {[NATIVE] = "6", [FOUR] = "14", [EIGHT] = "30"}},
    {false, 4, 100, {[NATIVE] = "6", [FOUR] = "14", [EIGHT] = "30"}},
    {true, 4, 30, {[NATIVE] = "3", [FOUR] = "9"}},
    {true, 4, 100, {[NATIVE] = "4.5", [FOUR] = "9"}},
    {true, 1, 4, {0}},
    {true, 1, 10, {0}},
    {true, 1, 30, {0}},
};

// ---- trees ---------------------------------------------------------------------------------

static void add_vector(Buffer *b, const char *key, const double x[3])
{
    tr_buffer_print(b, "%s: \"%.17g, %.17g, %.17g\"", key, x[0], x[1], x[2]);
}

static void random_vector(Random *r, double size, double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = random_between(r, -size, size);
}

// Moments y+z, x+z, x+y of positive x, y, z, which a body can have; turned where it is generic
static void add_mass(Buffer *b, Random *r, bool is_generic)
{
    const double x = random_between(r, 0.01, 0.1), y = random_between(r, 0.01, 0.1);
    const double z = random_between(r, 0.01, 0.1);
    double D[3][3] = {{y + z, 0, 0}, {0, x + z, 0}, {0, 0, x + y}}, R[3][3], RD[3][3], I[3][3];
    double angles[3] = {0}, com[3] = {0, 0, random_between(r, -0.3, -0.1)};
    if (is_generic) random_vector(r, 3, angles), random_vector(r, 0.3, com);
    turn_matrix(angles, R);
    product(R, D, RD);
    for (int i = 0; i < 3; i++) times(R, RD[i], I[i]); // R (R D)' = R D R'
    tr_buffer_print(b, "    mass: %.17g\n    ", random_between(r, 0.5, 2));
    add_vector(b, "com", com);
    tr_buffer_print(b, "\n    inertia: {xx: %.17g, yy: %.17g, zz: %.17g", I[0][0], I[1][1],
                    I[2][2]);
    if (is_generic)
        tr_buffer_print(b, ", xy: %.17g, xz: %.17g, yz: %.17g", I[0][1], I[0][2], I[1][2]);
    tr_buffer_print(b, "}\n");
}

// A hinge about the child's z; or about the axes in turn, of which one is shared with the parent's
static void add_hinge(Buffer *b, Random *r, const Race *race, int i)
{
    static const double axes[3][3] = {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
    const bool is_root = i <= race->limbs;
    double at[3] = {0}, angles[3], R[3][3], axis[3];
    at[is_root ? i % 2 : 2] = (is_root && i <= 2 ? 1 : -1) * random_between(r, 0.3, 0.6);
    tr_buffer_print(b, "    parent: b%d\n    joint: {type: revolute, ",
                    is_root ? 0 : i - race->limbs);
    if (race->is_generic) {
        random_vector(r, 0.5, at), random_vector(r, 3, angles);
        turn_matrix(angles, R);
        times(R, axes[0], axis);
        add_vector(b, "turn", angles);
        tr_buffer_print(b, ", ");
        add_vector(b, "axis", axis);
    } else
        add_vector(b, "axis", axes[i % 3]);
    tr_buffer_print(b, ", ");
    add_vector(b, "at", at);
    tr_buffer_print(b, "}\n");
}

static Model *tree(const Race *race, Random *r)
{
    Buffer text = {0};
    tr_error err = {0};
    tr_buffer_print(&text, "trundle: 1\nbodies:\n  b0:\n    joint: {type: free}\n");
    add_mass(&text, r, race->is_generic);
    for (int i = 1; i <= race->hinges; i++) {
        tr_buffer_print(&text, "  b%d:\n", i);
        add_hinge(&text, r, race, i);
        add_mass(&text, r, race->is_generic);
    }
    Model *model = tr_model_parse(text.at, &err);
    if (!model) give_up("%d:%d: %s", err.line, err.column, err.text);
    tr_buffer_free(&text);
    return model;
}

// ---- contenders ----------------------------------------------------------------------------

typedef struct Contest Contest;

// Who evaluates all states, one way or another
typedef struct Contender {
    const char *name;
    void (*run)(Contest *contest, const struct Contender *self);
    Executable *executable; // NULL where the processor has none
    tr_workspace *workspace;
    double best; // seconds a state
} Contender;

struct Contest {
    Twins twins;
    tr_program *program;    // of the accelerations, with parameters fixed
    double *qpos, *qvel;    // a row for each state
    double *in, *out, *a;   // the same of ours; MuJoCo's accelerations as ours
    size_t inputs, outputs; // of a row
    Contender contenders[CONTENDERS];
};

static void load_state(Contest *c, size_t state)
{
    const mjModel *m = c->twins.m;
    mju_copy(c->twins.d->qpos, c->qpos + state * (size_t)m->nq, m->nq);
    mju_copy(c->twins.d->qvel, c->qvel + state * (size_t)m->nv, m->nv);
}

static void run_mujoco(Contest *c, const Contender *who)
{
    (void)who;
    for (size_t i = 0; i < STATES; i++) {
        load_state(c, i);
        mj_forward(c->twins.m, c->twins.d);
    }
}

static void run_one(Contest *c, const Contender *who)
{
    for (size_t i = 0; i < STATES; i++)
        tr_evaluate(c->program, who->workspace, c->in + i * c->inputs, c->out + i * c->outputs);
}

static void run_many(Contest *c, const Contender *who)
{
    tr_evaluate_many(c->program, who->workspace, STATES, c->in, c->inputs, c->out, c->outputs);
}

static void take_states(Contest *c, Random *r)
{
    Twins *t = &c->twins;
    const size_t n = (size_t)t->n, nq = (size_t)t->m->nq;
    double *T = malloc(n * n * sizeof *T), *drift = malloc(n * sizeof *drift);
    for (size_t i = 0; i < STATES; i++) {
        random_state(t, r);
        memcpy(c->qpos + i * nq, t->d->qpos, nq * sizeof(double));
        memcpy(c->qvel + i * n, t->d->qvel, n * sizeof(double));
        take_state(t);
        memcpy(c->in + i * c->inputs, t->in, c->inputs * sizeof(double));
        mj_forward(t->m, t->d);
        base_change(t, T, drift);
        accelerations_in_mujoco(t, T, drift, c->a + i * n);
    }
    free(T);
    free(drift);
}

static Contender contender(const Program *p, const char *name, Executable *executable,
                           tr_error *err)
{
    if (!executable) return (Contender){0};
    const uint32_t lanes = executable->lanes;
    return (Contender){name, lanes > 1 ? run_many : run_one, executable,
                       tr_workspace_on(p, executable, lanes, err), (double)INFINITY};
}

static Contest open_contest(const Race *race)
{
    const int off = mjDSBL_CONSTRAINT | mjDSBL_EQUALITY | mjDSBL_FRICTIONLOSS | mjDSBL_LIMIT |
                    mjDSBL_CONTACT | mjDSBL_PASSIVE | mjDSBL_ACTUATION | mjDSBL_SENSOR;
    const tr_compile_options fixed = {.size = sizeof fixed, .fix_parameters = true};
    tr_error err = {0};
    Random r = {20170419};
    Model *model = tree(race, &r);
    Contest c = {.twins = make_twins(model, NULL, NULL)};
    tr_model_free(model);
    c.twins.m->opt.disableflags |= off;
    c.program = tr_compile(c.twins.system, "vdot", &fixed, &err);
    if (err.status) give_up("%s", err.text);
    const Program *p = c.program;
    c.contenders[MUJOCO] = (Contender){"mj_forward", run_mujoco, NULL, NULL, (double)INFINITY};
    c.contenders[INTERPRETER] = contender(p, "interpreter", tr_interpret_new(p, 1), &err);
    c.contenders[NATIVE] = contender(p, "machine code", tr_native(p, 1), &err);
    c.contenders[FOUR] = contender(p, "4 lanes", tr_native(p, 4), &err);
    c.contenders[EIGHT] = contender(p, "8 lanes", tr_native(p, 8), &err);
    if (err.status) give_up("%s", err.text);
    c.inputs = tr_program_sizes(c.program).inputs, c.outputs = tr_program_sizes(c.program).outputs;
    c.qpos = calloc((size_t)c.twins.m->nq * STATES, sizeof *c.qpos);
    c.qvel = calloc((size_t)c.twins.m->nv * STATES, sizeof *c.qvel);
    c.in = calloc(c.inputs * STATES, sizeof *c.in);
    c.out = calloc(c.outputs * STATES, sizeof *c.out);
    c.a = calloc(c.outputs * STATES, sizeof *c.a);
    take_states(&c, &r);
    return c;
}

static void close_contest(Contest *c)
{
    for (int i = 0; i < CONTENDERS; i++) {
        Executable *executable = c->contenders[i].executable;
        tr_workspace_free(c->contenders[i].workspace);
        if (executable) executable->free(executable);
    }
    tr_program_free(c->program);
    free_twins(&c->twins);
    free(c->qpos);
    free(c->qvel);
    free(c->in);
    free(c->out);
    free(c->a);
}

// ---- races ---------------------------------------------------------------------------------

// By how much ours differ from MuJoCo's at most, beside the largest of a state
static double difference(const Contest *c)
{
    double worst = 0;
    for (size_t i = 0; i < STATES; i++) {
        const double *a = c->a + i * c->outputs, *out = c->out + i * c->outputs;
        double size = 0, off = 0;
        for (size_t k = 0; k < c->outputs; k++) {
            const double theirs = a[c->twins.dof[k]];
            size = fmax(size, fabs(theirs));
            off = fmax(off, fabs(out[k] - theirs));
            if (!isfinite(out[k])) return (double)INFINITY;
        }
        worst = fmax(worst, off / size);
    }
    return worst;
}

static void run_timed(Contest *c, Contender *who, size_t repeats)
{
    const double start = bench_now();
    for (size_t i = 0; i < repeats; i++) who->run(c, who);
    who->best = fmin(who->best, (bench_now() - start) / (double)(repeats * STATES));
}

static void print_race(const Contest *c, const Race *race, double off)
{
    printf("mujoco: %s %s of %d", race->is_generic ? "generic" : "aligned",
           race->limbs > 1 ? "tree" : "chain", race->hinges);
    for (int k = 0; k < CONTENDERS; k++) {
        const Contender *who = &c->contenders[k];
        if (!who->run) continue;
        printf("%s %s %.0f ns", k ? ";" : ":", who->name, 1e9 * who->best);
        if (k) printf(", %.2f times as fast", c->contenders[MUJOCO].best / who->best);
        if (race->aims[k]) printf(" (aim %s)", race->aims[k]);
    }
    printf("; %zu operations, the same to %.0e\n", tr_program_sizes(c->program).operations, off);
}

void bench_mujoco(void)
{
    for (size_t i = 0; i < sizeof races / sizeof *races; i++) {
        const Race *race = &races[i];
        Contest c = open_contest(race);
        double off = 0;
        for (int k = INTERPRETER; k < CONTENDERS; k++) {
            if (!c.contenders[k].run) continue;
            memset(c.out, 0, c.outputs * STATES * sizeof *c.out);
            c.contenders[k].run(&c, &c.contenders[k]);
            off = fmax(off, difference(&c));
        }
        if (!(off < 1e-9)) give_up("MuJoCo's accelerations differ by %.1e", off);
        const size_t repeats = 1 + 300 / (size_t)race->hinges;
        for (int round = 0; round < ROUNDS; round++)
            for (int k = 0; k < CONTENDERS; k++)
                if (c.contenders[k].run) run_timed(&c, &c.contenders[k], repeats);
        print_race(&c, race, off);
        close_contest(&c);
    }
}
