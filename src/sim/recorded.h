// SPDX-License-Identifier: Apache-2.0
// A run that was recorded before: its rows, and the certificate beside them.
#ifndef TR_SIM_RECORDED_H
#define TR_SIM_RECORDED_H

#include "base/error.h"
#include "base/sheet.h"

typedef struct Recorded {
    Sheet *rows;
    Text certificate; // empty when there is none
    char *bytes;      // of the certificate
    tr_error doubt;   // why the certificate cannot be used: it is not JSON, or of another run
} Recorded;

// False when there are no rows to be read. What is wrong with the certificate is only noted.
bool tr_recorded_read(Recorded *run, const char *path, tr_error *err);
void tr_recorded_free(Recorded *run);

#endif
