// SPDX-License-Identifier: Apache-2.0
#include "program/executable.h"

#include "program/interpret.h"
#include "program/native.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct Executables {
    Evaluation how;
    pthread_mutex_t lock; // while one is made
    _Atomic(Executable *) of[WAY_COUNT];
};

Executables *tr_executables_new(Evaluation how)
{
    Executables *e = calloc(1, sizeof *e);
    if (!e || pthread_mutex_init(&e->lock, NULL)) {
        free(e);
        return NULL;
    }
    e->how = how;
    return e;
}

void tr_executables_free(Executables *e)
{
    if (!e) return;
    for (int way = 0; way < WAY_COUNT; way++) {
        Executable *made = atomic_load(&e->of[way]);
        if (made) made->free(made);
    }
    pthread_mutex_destroy(&e->lock);
    free(e);
}

// As many lanes as the processor has in a register
static uint32_t lanes_of(Way way)
{
    if (way == WAY_ONE) return 1;
    return tr_machine() == MACHINE_AVX2 ? 4 : 8;
}

static Executable *make(const Program *p, Evaluation how, Way way)
{
    const uint32_t lanes = lanes_of(way);
    Executable *made = how == EVALUATE_INTERPRETER ? NULL : tr_native(p, lanes);
    return made ? made : tr_interpret_new(p, lanes);
}

const Executable *tr_executable(const Program *p, Way way)
{
    Executables *e = p->executables;
    Executable *made = atomic_load_explicit(&e->of[way], memory_order_acquire);
    if (made) return made;
    pthread_mutex_lock(&e->lock);
    made = atomic_load_explicit(&e->of[way], memory_order_relaxed);
    if (!made) made = make(p, e->how, way);
    atomic_store_explicit(&e->of[way], made, memory_order_release);
    pthread_mutex_unlock(&e->lock);
    return made;
}
