// SPDX-License-Identifier: Apache-2.0
// FMUs from arbitrary bytes: as an archive, and as modelDescription.xml. Whatever is wrong is told
// in words; nothing is run.
#include "fmu/fmu.h"

#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 16384 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "violated: %s\n", what);
    abort();
}

static void check_findings(const Findings *findings)
{
    for (uint32_t i = 0; i < findings->count; i++)
        require(findings->list[i].words[0], "there are words");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST) return 0;
    char *exact = malloc(size ? size : 1);
    if (!exact) return 0;
    memcpy(exact, data, size);
    Fmu fmu = {0};
    tr_error err = {0};
    require(tr_fmu_take(&fmu, exact, size, &err), "an archive can be taken");
    check_findings(&fmu.findings);
    tr_fmu_close(&fmu);
    Arena arena = {0};
    Findings findings = {0};
    Description d;
    if (tr_description_read(&d, exact, size, &arena, &findings, &err)) {
        require(d.version == 2 || d.version == 3, "it has a version");
        tr_description_check(&d, &findings);
    } else {
        require(findings.of[WRECK] > 0, "what cannot be read is told");
    }
    check_findings(&findings);
    tr_fmu_findings_free(&findings);
    tr_arena_free(&arena);
    free(exact);
    return 0;
}
