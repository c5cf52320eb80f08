// SPDX-License-Identifier: Apache-2.0
// Poses on the ground without dynamics: positions q with what is held held, loops closed, and the
// ground below: touched, as near as can be, or what energy is least over (T285-T292).
//
// All ways are one problem. Terms f(q, u) are formulas of positions, in groups, with u where wheels
// touch a surface that is not flat; a way says which groups are zero, of which the squares (or the
// energy itself) are least, and whether gaps may open.
#ifndef TR_SETTLE_SETTLE_H
#define TR_SETTLE_SETTLE_H

#include "plan/plan.h"
#include "plan/touch.h"

typedef tr_settle Settle;

enum { OF_CONTACT = 8 }; // columns of each contact

typedef enum TermGroup {
    GROUP_ENERGY,   // potential, of weights and springs: one
    GROUP_LOOPS,    // positions that constraints keep zero
    GROUP_HELD,     // what is held, less its value
    GROUP_GAPS,     // of contacts
    GROUP_TRAVELS,  // of springs
    GROUP_CARRIED,  // what springs carry upwards, less the weight on them: one
    GROUP_ATTITUDE, // height, roll and pitch of the vehicle, less those of averages
    GROUPS
} TermGroup;

// A way to settle: a row of settle.def
typedef struct Way {
    const char *name;
    unsigned zero;   // groups that are zero, besides loops and what is held: as bits
    TermGroup least; // whose squares are least, or the energy; GROUPS: none
    bool opens;      // gaps may be positive
    void (*prepare)(Settle *settle, TermGroup group, tr_error *err); // its own terms of a group
    bool (*begin)(Settle *settle, tr_error *err); // before each pose; NULL: nothing
} Way;

const Way *tr_way_called(const char *name, tr_error *err);

// A slope that is not zero for sure
typedef struct SettleEntry {
    uint32_t row, column;
} SettleEntry;

// A contact that may open
typedef struct SettleContact {
    uint32_t scene;    // among the scene's
    uint32_t touching; // among the system's, or NO_TOUCHING
} SettleContact;
#define NO_TOUCHING UINT32_MAX

struct tr_settle {
    Plan *plan;
    System *system; // a copy
    const Way *way;
    bool is_vertical; // gaps are
    // Unknowns: positions that something depends on, then u; `place` are their inputs
    uint32_t unknowns, touches;
    uint32_t *place;
    uint32_t *quaternion, quaternions; // unknowns that unit quaternions begin at
    bool *is_idle;                     // unknowns that nothing depends on after all
    bool *is_sprung;                   // coordinates of joints that have springs
    // Terms, by group
    Exprs terms;
    const char **names;
    uint32_t first[GROUPS + 1];
    SettleContact *contacts;
    uint32_t contact_count;
    double *target, *given; // of what is held: now, and as options say
    bool *turns;            // of these: whole turns do not count
    uint32_t hold_count;
    double *weight;          // of gaps
    uint32_t vehicle;        // the body whose attitude is told, among the scene's, or SCENE_WORLD
    double attitude[3];      // asked for: height, roll, pitch
    Evaluator slopes, bends; // terms and tangency with slopes; second slopes of c . terms
    Evaluator measures, middles, holds, hubs, alarms;
    uint32_t alarm_count, *alarm; // that are about positions alone
    TouchPrograms touch;
    TouchSearch *search;
    SettleEntry *slope_entries, *bend_entries, *measure_entries;
    size_t slope_count, bend_count, measure_count;
    uint32_t measure_values; // before slopes
    uint32_t coefficient;    // input: c of the first term
    double *in;              // all inputs: the pose
    double *values;          // room for what a program gives
    // At the pose: terms and tangency, with slopes by unknowns and u as they are, by rows; slopes
    // with u following the unknowns, and what terms are once u is moved to where it belongs
    double *f, *J, *P, *du, *G, *f0;
    double *H; // second slopes of the problem
    // Equalities solved for as many unknowns: d = d0 + Z p
    struct Split {
        uint32_t rows, rank, free; // of equalities; independent ones; unknowns that are left
        uint32_t *row;             // terms, then quaternions
        uint32_t *pivot;           // of each: the unknown that it gives, or NO_PIVOT
        uint32_t *own;             // of each that is left: the unknown
        double *W;                 // rows * (unknowns + rows + 1)
        double *Z, *d0;            // unknowns * free
    } split;
    double *mu;      // of terms that are zero
    double *lambda;  // of gaps: normal forces
    bool *marks;     // room for twice as many as unknowns or contacts
    bool *is_closed; // gaps that are zero: room for twice as many
    double *p, *d, *g, *Hr, *Gr, *c, *A, *b, *room, *kept, *last, *from, *arms, *forces;
    double step;       // the last, of the largest unknown
    double first_step; // of this pose
    bool is_exact;     // steps are Newton's own, so that errors become their squares
    bool is_pinned;    // closed gaps alone decide, whatever H is
    bool has_pose;
    bool is_balanced; // normal forces balance weights and springs
    // Of the last pose
    uint32_t iterations;
    double *was, *was_held; // the one before it, and what was held there
    bool has_last;
    char lifted[400];
    const char **labels;
    const char **units;
    double *columns;
    uint32_t column_count;
    Arena arena;       // all room
    bool lacks_memory; // for that
};
#define NO_PIVOT UINT32_MAX

static inline uint32_t group_size(const Settle *p, TermGroup group)
{
    return p->first[group + 1] - p->first[group];
}
static inline bool is_zero_group(const Settle *p, TermGroup group)
{
    return group == GROUP_LOOPS || group == GROUP_HELD || (p->way->zero >> group & 1);
}
static inline uint32_t term_count(const Settle *p) { return p->first[GROUPS]; }

// ---- terms, in terms.c ---------------------------------------------------------------------

// Adds one to the group that is being filled
void tr_settle_term(Settle *settle, const char *name, Expr term);
// How far a contact is above the ground, upright: its middle less its radius and the height there.
// Fails where what it is on has no such height: on bodies, spheres, and heights that are turned.
Expr tr_settle_upright(Settle *settle, uint32_t contact, Expr *height, tr_error *err);
bool tr_settle_terms(Settle *settle, const tr_settle_options *options, tr_error *err);
// A program of expressions and behind them of their slopes by unknowns and u; where these belong is
// kept, with rows that count from `skipped` on.
Evaluator tr_settle_slopes(Settle *settle, Exprs *list, uint32_t skipped, SettleEntry **kept,
                           size_t *count, tr_error *err);

// ---- steps, in step.c ----------------------------------------------------------------------

// Terms and slopes where it is; false when something is not finite.
bool tr_settle_evaluate(Settle *settle);
// Equalities of these groups solved for unknowns; (T286)
void tr_settle_split(Settle *settle, unsigned groups);
void tr_settle_bend(Settle *settle); // H, for the multipliers there are
// One step of Newton's method; false when there is none.
bool tr_settle_step(Settle *settle);
// The slopes of a term along what is left, and what it is there before
double tr_settle_reduced(const Settle *settle, const double *slopes, double value, double *out);
void tr_settle_move(Settle *settle); // by d

// ---- poses, in pose.c ----------------------------------------------------------------------

bool tr_settle_solve(Settle *settle, tr_error *err);
// Steps until nothing moves; false when that does not end
bool tr_settle_go(Settle *settle);
void tr_settle_refuse(Settle *settle, tr_error *err); // words for that

// ---- forces, in balance.c ------------------------------------------------------------------

void tr_settle_balance(Settle *settle);

// ---- what is told, in measure.c ------------------------------------------------------------

bool tr_measure_new(Settle *settle, tr_error *err);
// Whether what ends runs, and is about positions alone, leaves it in peace; else words.
bool tr_measure_alarms(Settle *settle, tr_error *err);
void tr_measure_take(Settle *settle, double *columns);

#endif
