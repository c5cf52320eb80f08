// SPDX-License-Identifier: Apache-2.0
#include "own.h"

#include <time.h>

// Signals are looked at so often [s]; a call that has taken so long lets others of Python go on.
static const double between = 0.02, patience = 50e-6;
enum { STEPS_BETWEEN = 8 }; // looks at the clock

double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---- one thread at a time ------------------------------------------------------------------

bool lock_new(Lock *lock)
{
    lock->owner = 0;
    lock->lock = PyThread_allocate_lock();
    if (!lock->lock) PyErr_NoMemory();
    return lock->lock != NULL;
}

void lock_free(Lock *lock)
{
    if (lock->lock) PyThread_free_lock(lock->lock);
}

bool lock_take(Lock *lock)
{
    const unsigned long me = PyThread_get_thread_ident();
    if (lock->owner == me) {
        PyErr_SetString(PyExc_RuntimeError, "a callback cannot use what it is called from");
        return false;
    }
    PyLockStatus got = PyThread_acquire_lock_timed(lock->lock, 0, 0);
    while (got != PY_LOCK_ACQUIRED) {
        if (PyErr_CheckSignals() < 0) return false;
        Py_BEGIN_ALLOW_THREADS
        got = PyThread_acquire_lock_timed(lock->lock, (PY_TIMEOUT_T)(1e6 * between), 1);
        Py_END_ALLOW_THREADS
    }
    lock->owner = me;
    return true;
}

void lock_give(Lock *lock)
{
    lock->owner = 0;
    PyThread_release_lock(lock->lock);
}

// ---- calls ---------------------------------------------------------------------------------

void call_begin(Call *call, bool let_go)
{
    call->away = NULL, call->count = 0, call->raised = false;
    call->looked = 0;
    if (let_go) call->away = PyEval_SaveThread();
}

void call_end(Call *call) { call_enter(call); }

void call_enter(Call *call)
{
    if (call->away) PyEval_RestoreThread(call->away);
    call->away = NULL;
}

void call_leave(Call *call)
{
    if (!call->away) call->away = PyEval_SaveThread();
}

static void tell(Call *call, double t, double end)
{
    PyObject *said = PyObject_CallFunction(call->progress, "dd", t, end);
    if (!said || said == Py_False) call->raised = true;
    Py_XDECREF(said);
}

bool call_goes_on(Call *call, double t, double end)
{
    if (call->raised) return false;
    if (call->count++ % STEPS_BETWEEN) return true;
    const double now = now_seconds();
    if (call->looked == 0) call->looked = now;
    if (now - call->looked > patience) call_leave(call);
    return now - call->looked < between || call_looks(call, t, end);
}

bool call_looks(Call *call, double t, double end)
{
    if (call->raised) return false;
    call->looked = now_seconds();
    call_enter(call);
    if (PyErr_CheckSignals() < 0) call->raised = true;
    if (!call->raised && call->progress) tell(call, t, end);
    call_leave(call);
    return !call->raised;
}

bool call_progress(void *owner, double t, double end) { return call_goes_on(owner, t, end); }
