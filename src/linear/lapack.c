// SPDX-License-Identifier: Apache-2.0
#include "linear/lapack.h"

#include "base/late.h"

#include <stdlib.h>
#include <unistd.h>

#define MEGABYTE ((size_t)1 << 20)
#define LIBRARY  (64 * MEGABYTE) // OpenBLAS and what it needs, mapped
#define THREAD   (48 * MEGABYTE) // of each thread that it begins with: a buffer and a stack
#define BUFFER   (64 * MEGABYTE) // that it works in

#define NAME(name) "LAPACKE_" #name,
static const char *const names[] = {LAPACK_FUNCTIONS(NAME)};
#undef NAME
static Lapack lapack;
_Static_assert(sizeof lapack == sizeof names, "a pointer for each name");

// As many as there are processors, unless someone says otherwise
static size_t threads(void)
{
    const char *said = getenv("OPENBLAS_NUM_THREADS");
    const long count = said ? strtol(said, NULL, 10) : 0;
    const long all = count > 0 ? count : sysconf(_SC_NPROCESSORS_ONLN);
    return all < 1 ? 1 : all > 1024 ? 1024 : (size_t)all;
}

const Lapack *tr_lapack(tr_error *err)
{
    static Late library = {.need = "linear models need LAPACK",
                           .files = {"liblapacke.so.3", "liblapacke.so", "liblapacke.dylib"},
                           .names = names,
                           .count = sizeof names / sizeof *names,
                           .functions = &lapack};
    const size_t bytes = LIBRARY + THREAD * threads() + BUFFER;
    if (tr_late_load(&library, bytes, err) && tr_has_room(BUFFER)) return &lapack;
    tr_fail_memory(err); // unless there is another reason already
    return NULL;
}
