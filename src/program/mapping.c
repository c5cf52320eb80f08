// SPDX-License-Identifier: Apache-2.0
// Machine code as an executable: written into memory of its own, which is then made executable and
// never written again.
#include "program/native.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>

typedef void Entry(double *values);

typedef struct Native {
    Executable executable; // comes first: a pointer to it is one to the whole
    NativeCode code;       // without its bytes
    uint8_t *mapped;
    size_t mapped_size;
    Entry *entry[PART_COUNT];
} Native;

static void run_native(const Executable *executable, ProgramPart part, double *values)
{
    ((const Native *)executable)->entry[part](values);
}

static void free_native(Executable *executable)
{
    Native *n = (Native *)executable;
    if (n->mapped) munmap(n->mapped, n->mapped_size);
    tr_native_code_free(&n->code);
    free(n);
}

static bool map(Native *n)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    n->mapped_size = (n->code.size + page - 1) / page * page;
    void *memory =
        mmap(NULL, n->mapped_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    n->mapped = memory;
    memcpy(memory, n->code.bytes, n->code.size);
    for (int part = 0; part < PART_COUNT; part++) {
        const uint8_t *at = n->mapped + n->code.start[part];
        memcpy(&n->entry[part], &at, sizeof at); // ISO C has no cast for it
    }
    free(n->code.bytes);
    n->code.bytes = NULL;
    return mprotect(memory, n->mapped_size, PROT_READ | PROT_EXEC) == 0;
}

// What the code for so many lanes uses. Of single states a sine and a cosine are there in 27 ns by
// the shorter vectors, in 38 by the longer; ten pairs take 40 and 34.
static Machine machine_for(uint32_t lanes) { return lanes == 8 ? MACHINE_AVX512 : MACHINE_AVX2; }

Executable *tr_native(const Program *p, uint32_t lanes)
{
    const Machine machine = machine_for(lanes);
    Native *n = tr_machine() >= machine ? calloc(1, sizeof *n) : NULL;
    if (!n) return NULL;
    if (tr_native_code(p, tr_kernels(machine, lanes), &n->code) && map(n)) {
        n->executable = (Executable){.run = run_native,
                                     .free = free_native,
                                     .lanes = lanes,
                                     .value_count = n->code.value_count,
                                     .outputs = n->code.outputs};
        return &n->executable;
    }
    free_native(&n->executable);
    return NULL;
}
#else
Executable *tr_native(const Program *p, uint32_t lanes)
{
    (void)p, (void)lanes;
    return NULL;
}
#endif
