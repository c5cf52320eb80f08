// SPDX-License-Identifier: Apache-2.0
// What the files of trundle for Octave and Matlab share.
//
//   trundle_mex.c   handles, models, runs, and the table of verbs
//   arguments.c     what calls are given
//   batch.c         many runs side by side
//   programs.c      functions of numbers
//   study.c         linear models, steady motions, feedback, poses, fits
#ifndef TRUNDLE_OCTAVE_OWN_H
#define TRUNDLE_OCTAVE_OWN_H

#include "arguments.h"

#include <stdint.h>

// ---- handles -------------------------------------------------------------------------------

typedef struct Model {
    tr_model *model;
    tr_system *system;
    tr_plan *plan; // once it is needed
    int users;     // handles of it and of what was made of it
} Model;

typedef struct Batch Batch;
typedef struct Program Program;

typedef enum Kind { NOTHING, ANY, MODEL, RUN, BATCH, PROGRAM } Kind;

typedef struct Handle {
    uint64_t id; // 0: free
    Kind kind;
    Model *model;
    tr_run *run;
    Batch *batch;
    Program *program;
} Handle;

// A handle of what a model is, or of what was made of it. False when memory runs out.
bool new_handle(Model *model, Handle of, mxArray **out);
void batch_free(Batch *batch);
void program_free(Program *program);

// ---- calls ---------------------------------------------------------------------------------

typedef struct Call {
    int in_count;             // behind the handle
    const mxArray *const *in; //
    mxArray **out;
    int out_count;
    Handle *handle;
    tr_error err;
    Options o;
    const char *file; // of the model, for errors
} Call;

void ran_out(Call *c);                     // of memory
void usage(Call *c, const char *text);     // what is wrong with the call, once it may not be ended
void warn(void *owner, const char *words); // which are told when the call is over
tr_plan *plan_of(Call *c);                 // NULL, and an error
#define OF_LOAD "case set with controls allow_files evaluate order outputs"
tr_derive_options derive_options(Call *c); // from those
#define OF_RUN "method step rtol atol dense no_project"
tr_run_options run_options(const Call *c, const tr_plan *plan);
void take_over(double *into, double given); // where it was given

// Ctrl-C: what goes on between these asks.
void listen(void);
void stop_listening(Call *c);
bool go_on(void *owner, double t, double end);
bool was_interrupted(void);

// Snapshots: bytes with their hash behind them
uint8_t *snapshot_new(size_t size, mxArray **out);
void snapshot_seal(uint8_t *bytes, size_t size);
const uint8_t *snapshot_of(const mxArray *array, size_t *size); // ends the call if it was altered

// ---- what is given back --------------------------------------------------------------------

mxArray *text_out(char *text); // which is freed
mxArray *number_out(double x);
mxArray *matrix_out(const double *by_rows, size_t rows, size_t columns);
mxArray *names_out(const char *const *names, size_t count);
void put(mxArray *into, const char *field, mxArray *value);
// Columns of a table as fields of a struct, called as in .mat files
mxArray *table_out(const double *by_rows, size_t rows, char *const *names, size_t columns);

// ---- verbs ---------------------------------------------------------------------------------

void batch_new(Call *c);
void batch_set(Call *c);
void batch_reset(Call *c);
void batch_advance(Call *c);
void batch_step(Call *c);
void batch_times(Call *c);
void batch_rows(Call *c);
void batch_failures(Call *c);
void batch_save(Call *c);
void batch_restore(Call *c);
void eval(Call *c);
void program_new(Call *c);
void program_at(Call *c);
void program_many(Call *c);
void linearise(Call *c);
void locus(Call *c);
void steady(Call *c);
void lqr(Call *c);
void settle(Call *c);
void fit(Call *c);

#endif
