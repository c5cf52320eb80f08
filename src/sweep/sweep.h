// SPDX-License-Identifier: Apache-2.0
// Many runs of one model.
//
//   design       which runs there are, and what each has, by its number alone
//   task         what a run is: a row of task.def; it fills blocks
//   keep         what is kept of a run
//   deck         deals numbered blocks of runs
//   pool         threads that work on them; blocks come back to one writer
//   ranks        processes of MPI, each with a pool: the first deals and writes
//   store        where the writer puts them: a database, a table, whoever called
//
// A block is numbers of runs on its way out, and results on its way back; nothing else passes
// between who deals, who works and who writes. So nothing depends on who worked, or when.
#ifndef TR_SWEEP_SWEEP_H
#define TR_SWEEP_SWEEP_H

#include "plan/plan.h"
#include "sweep/design.h"
#include "sweep/keep.h"

#include <pthread.h>
#include <stdatomic.h>

struct Task;

// Where steps were made, as workers tell it
typedef struct MadeOn {
    pthread_mutex_t lock;
    char words[520];
    size_t steps; // on a GPU
} MadeOn;

typedef struct Sweep {
    const tr_sweep_options *options;
    const tr_model *model;
    const tr_derive_options *derive;
    System *system; // with the model's own numbers
    Plan *plan;
    const struct Task *task;
    Design design;
    Keep keep;
    // How runs go on: as the options say, or else the case
    double end, every, step, rtol, atol;
    const char *method;
    // The columns of rows, which are kept of some runs; and those of runs: what is varied, what is
    // kept, and figures. No two names differ in capitals alone.
    const char **row_names, **row_units, **names, **units;
    uint32_t row_count, column_count;
    uint32_t block_size; // runs, at most
    uint64_t block_count;
    uint32_t hand;     // blocks that a worker has at once, at most
    MadeOn *made_on;   // NULL when nobody wants to know
    atomic_bool stops; // whoever works gives up
    Arena arena;
} Sweep;

// How a run went, the last columns
typedef enum Figure {
#define FIGURE(id, ...) FIGURE_##id,
#include "sweep/figure.def"
    FIGURES
} Figure;

// The first of the kept, and of the figures, among the columns
static inline uint32_t kept_at(const Sweep *s) { return s->design.count; }
static inline uint32_t figures_at(const Sweep *s) { return s->design.count + s->keep.count; }

enum { MOST_BLOCK = 64 };

// Rows that are kept of a run
typedef struct KeptRows {
    double *at;
    size_t count, capacity; // rows
} KeptRows;

typedef struct Block {
    uint64_t number;
    uint32_t count; // of runs; `run` are their numbers
    uint64_t run[MOST_BLOCK];
    double *values;               // by run, the columns
    tr_status status[MOST_BLOCK]; // why it could not go on
    bool is_stopped[MOST_BLOCK];
    char *words[MOST_BLOCK]; // NULL: none
    double seconds[MOST_BLOCK];
    KeptRows rows[MOST_BLOCK];
    struct Block *next; // for lists of them
} Block;

// A block on its way out: a bit for each of its runs that was there before
typedef struct Deal {
    uint64_t number, before;
} Deal;

Block *tr_block_new(const Sweep *sweep, tr_error *err);
void tr_block_free(Block *block);
// Its runs, but for those that were there before
void tr_block_begin(const Sweep *sweep, Block *block, const Deal *deal);
// Notes why a run could not go on.
void tr_block_fail(Block *block, uint32_t run, const tr_error *why);
// Another row of a run is kept.
bool tr_block_keep(const Sweep *sweep, Block *block, uint32_t run, const double *row,
                   tr_error *err);

static inline double *block_values(const Sweep *s, const Block *b, uint32_t run)
{
    return b->values + (size_t)run * s->column_count;
}

// A way to work on blocks, a row of task.def
typedef struct Task {
    const char *name, *options; // that it has, and not all do
    // Looks at the options, and names the columns of rows.
    bool (*prepare)(Sweep *sweep, tr_error *err);
    // One for each thread
    void *(*open)(const Sweep *sweep, tr_error *err);
    // Fills in the results of the first of a list of blocks, and of all where there may be more.
    // False when it was stopped, or with an error that ends all.
    bool (*work)(void *worker, Block *blocks, tr_error *err);
    void (*close)(void *worker);
} Task;

// Of a worker, when it is done: where it was, in words, and steps on a GPU
void tr_sweep_tell_place(const Sweep *sweep, const char *words, size_t steps);
// Looks at what columns runs have after `prepare` named `count` columns of rows.
bool tr_sweep_rows(Sweep *sweep, uint32_t count, tr_error *err);

#endif
