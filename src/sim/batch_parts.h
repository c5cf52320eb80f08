// SPDX-License-Identifier: Apache-2.0
// What a batch consists of, for batch.c and for what goes on on GPUs (batch_far.c).
#ifndef TR_SIM_BATCH_PARTS_H
#define TR_SIM_BATCH_PARTS_H

#include "sim/batch.h"
#include "sim/lanes.h"
#include "sim/on_gpu.h"

// Members with the same programs
typedef struct Group {
    Lanes *lanes;
    size_t *waiting; // members
    uint32_t count, capacity;
    GpuKernel *kernel, *rows;
    double *known; // inputs that all runs had so far that were on a GPU, NaN where they differed;
                   // NULL before
    bool has_no_kernel, has_no_rows; // and cannot have one
    uint8_t *moves;                  // by input, see batch_write.c; NULL until somebody asks
} Group;

#define NO_GROUP UINT32_MAX

typedef struct Member {
    double t;
    uint8_t *bytes;
    size_t size;
    double *record;
    uint32_t group;
    uint32_t next_event;
    Events events;
    double until;      // where it is to go
    tr_error *failure; // NULL: it can go on
    bool rests;        // until it begins again
    RunCounts counts;  // but for steps in lanes
} Member;

struct tr_batch {
    Plan *plan;
    Run *run;
    uint8_t *room; // for the bytes of a member
    size_t room_size;
    Member *members;
    size_t count;
    Group *groups;
    uint32_t group_count, group_capacity;
    bool (*progress)(void *owner, double t, double end);
    double from, to; // the least time when advancing began, and the last where it ends
    size_t going;    // members that were to be moved,
    size_t there;    // and have arrived or failed
    size_t rounds;   // of lanes, steps of all at once
    BatchCounts counts;
    const GpuMachine *machine; // NULL: none was wanted so far
    bool goes_far;             // to that machine, whenever it is moved on
    bool is_single;            // there
    char on[520];              // words about that
    bool fails;                // that machine
    Settings varied;           // inputs that are never known to a kernel, without values
    const GpuRows *rows;       // that are taken on the way, NULL: none are
    RowsOfRun *rows_of;        // by member
    double *block;             // room for records on their way, of so many numbers
    size_t block_room;
    double *resident; // records that are on a GPU while others have its states
    uint32_t resident_group;
    size_t fates;      // where they are in these records
    bool is_elsewhere; // its runs, since: they were moved or changed in another way
};
typedef tr_batch Batch;

// Somebody may want to know; false when they stop it.
bool tr_batch_tell(Batch *batch);
// One step as a run, and what belongs to it; more where it is not fit for lanes then. It waits for
// a lane, unless it has arrived or failed.
bool tr_batch_alone(Batch *batch, size_t member, tr_error *err);
// As tr_batch_set, of what may be set
void tr_batch_set_at(Batch *batch, size_t member, uint32_t input, double value, tr_error *err);
// Its steps are the CPU's, and why
void tr_batch_stay(Batch *batch, const char *why);

// Whether those in line are for a GPU; then all of them, side by side. Where the machine fails they
// are in line as before.
bool tr_batch_is_far(Batch *batch, Group *group);
bool tr_batch_move_far(Batch *batch, uint32_t group, tr_error *err);

#endif
