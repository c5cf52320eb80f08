// SPDX-License-Identifier: Apache-2.0
// The certificate of a run: how it went, what it was made from, what happened and what is to be
// doubted, as JSON beside its record.
#ifndef TR_SIM_CERTIFICATE_H
#define TR_SIM_CERTIFICATE_H

#include "base/json.h"
#include "base/record.h"
#include "plan/latch.h"
#include "sim/event.h"
#include "sim/method.h"

enum { MOST_LISTED = 1000 }; // events: the first

// What it tells of.
typedef struct Certificate {
    const tr_simulate_options *options;
    const tr_summary *summary;
    const Mover *mover;
    const struct tr_run *run;
    const Events *events;
    const Switch *switches;
    uint32_t switch_count;
    const tr_error *outcome;
    const char *const *labels; // of the columns
    uint32_t columns;
    const Digest *rows;   // the file; no bytes when there is none
    double command_error; // worst weighted norm of what is left of commands; negative without any
    const struct Filter *filter; // NULL without
} Certificate;

void tr_certificate_text(const Certificate *certificate, Buffer *text);
// Starts writing that of a file.
OutFile *tr_certificate_create(const char *output, tr_error *err);

// Where that of a recorded run stands: "a/run.csv" -> "a/run.json"
void tr_certificate_path(const char *output, Buffer *path);
// The JSON beside a run, which the caller frees; NULL, and no error, when there is none.
char *tr_certificate_read(const char *run, Text *text, tr_error *err);

// Where the model that it names may stand: 0 beside the run, 1 in the current folder. False where
// there is no such place. It may be anyone's: what it names is a file, and no way to one.
bool tr_certificate_model(const char *run, const char *file, int place, Buffer *path);

// Whether these bytes are the rows that it is about; true of one that does not say.
bool tr_certificate_is_of(Text certificate, const char *bytes, size_t length, tr_error *err);

// The case and the settings that a system was derived with, as members of an object.
void tr_describe_case(Json *j, const System *system);
// The parameters and inputs of which the model says more than a value, likewise; nothing when there
// are none.
void tr_describe_ports(Json *j, const System *system);

#endif
