// SPDX-License-Identifier: Apache-2.0
#include "sim/recorded.h"

#include "base/file.h"
#include "sim/certificate.h"
#include "sim/swept.h"

#include <stdlib.h>

enum { MOST_BYTES = 1 << 30 };

static void read_certificate(Recorded *run, const char *path, const char *rows, size_t length)
{
    run->bytes = tr_certificate_read(path, &run->certificate, &run->doubt);
    if (run->bytes && !tr_certificate_is_of(run->certificate, rows, length, &run->doubt))
        tr_fail(&run->doubt, TR_INVALID, (Place){0},
                "'%.150s' and the certificate beside it are not of one run: make the run again, or "
                "take the .json file away",
                path);
}

bool tr_recorded_read(Recorded *run, const char *path, tr_error *err)
{
    *run = (Recorded){0};
    size_t length = 0;
    char *text = has_failed(err)     ? NULL
                 : tr_is_swept(path) ? tr_swept_rows(path, &length, err)
                                     : tr_file_read(path, MOST_BYTES, &length, err);
    if (!text) return false;
    read_certificate(run, path, text, length);
    if (run->doubt.status == TR_NO_MEMORY) tr_fail_memory(err);
    run->rows = tr_sheet_take(text, length, path, err);
    if (run->rows) return true;
    tr_recorded_free(run);
    return false;
}

void tr_recorded_free(Recorded *run)
{
    tr_sheet_free(run->rows);
    free(run->bytes);
    *run = (Recorded){0};
}
