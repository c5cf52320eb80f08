// SPDX-License-Identifier: Apache-2.0
#ifndef TR_SIM_RECORD_SINK_H
#define TR_SIM_RECORD_SINK_H

#include "base/record.h"

// A file as a sink of rows, with a certificate beside it where that can be.
typedef struct RecordSink {
    tr_sink sink;
    const char *path;
    Record *record;
} RecordSink;

void tr_record_sink(RecordSink *sink, const char *path);
void tr_record_sink_discard(RecordSink *sink); // where it has begun, but nothing came of it

#endif
