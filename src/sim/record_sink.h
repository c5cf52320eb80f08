// SPDX-License-Identifier: Apache-2.0
#ifndef TR_SIM_RECORD_SINK_H
#define TR_SIM_RECORD_SINK_H

#include "base/record.h"

// A file as a sink of rows, with a certificate beside it where that can be. Both are written under
// temporary names, and get their own when both are complete.
typedef struct RecordSink {
    tr_sink sink;
    const char *path;
    Record *record;       // until all rows are there
    OutFile *rows;        // then, until it has its name
    OutFile *certificate; // NULL of devices and pipes
    Digest digest;        // of the rows, once they are all there
} RecordSink;

void tr_record_sink(RecordSink *sink, const char *path);
// No more rows come: all of them are on the disk, and the certificate may speak of them.
void tr_record_sink_settle(RecordSink *sink, tr_error *err);
void tr_record_sink_discard(RecordSink *sink); // where it has begun, but nothing came of it

#endif
