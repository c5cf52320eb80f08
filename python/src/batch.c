// SPDX-License-Identifier: Apache-2.0
// Batch(system, n, threads, options): many runs side by side, in lanes and in threads. Each thread
// has a part of them, which is a batch of the library.
#include "own.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct BatchObject BatchObject;

typedef struct Part {
    BatchObject *all;
    tr_batch *batch;
    size_t first, count;
    bool is_here; // in the thread that makes the call, which is the one that may look at signals
    tr_error err;
} Part;

// What each part does; how depends on it
typedef void (*Work)(Part *part, const void *how);

struct BatchObject {
    PyObject_HEAD
    SystemObject *system;
    Part *parts;
    size_t part_count, count;
    Pace *paces; // of each run
    double *until;
    const void *how;
    Work work;
    Call call;
    atomic_bool stopped;
    size_t away; // parts that other threads are at
    pthread_mutex_t counting;
    pthread_cond_t is_back; // one of them
    Lock lock;
};

enum { MOST_THREADS = 256 };

// ---- parts ---------------------------------------------------------------------------------

static bool progress(void *owner, double t, double end)
{
    Part *part = owner;
    BatchObject *all = part->all;
    if (part->is_here && !call_goes_on(&all->call, t, end)) atomic_store(&all->stopped, true);
    return !atomic_load(&all->stopped);
}

static void *work(void *owner)
{
    Part *part = owner;
    BatchObject *all = part->all;
    all->work(part, all->how);
    if (part->is_here) return NULL;
    pthread_mutex_lock(&all->counting);
    all->away--;
    pthread_cond_signal(&all->is_back);
    pthread_mutex_unlock(&all->counting);
    return NULL;
}

static void start(Part *part, pthread_t *thread)
{
    BatchObject *all = part->all;
    pthread_mutex_lock(&all->counting);
    part->is_here = false, all->away++; // before it looks
    if (pthread_create(thread, NULL, work, part) != 0) part->is_here = true, all->away--;
    pthread_mutex_unlock(&all->counting);
}

// Until all parts are back, however long after this thread's own: signals are looked at meanwhile.
static void wait_for_parts(BatchObject *self)
{
    enum { BETWEEN = 20000000 }; // [ns]
    pthread_mutex_lock(&self->counting);
    while (self->away) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += BETWEEN;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        pthread_cond_timedwait(&self->is_back, &self->counting, &until);
        if (!self->away || atomic_load(&self->stopped)) continue;
        pthread_mutex_unlock(&self->counting);
        if (!call_looks(&self->call, 0, 0)) atomic_store(&self->stopped, true);
        pthread_mutex_lock(&self->counting);
    }
    pthread_mutex_unlock(&self->counting);
}

// All parts at once, the first in this thread; a thread that there is no room for waits its turn.
static void run_parts(BatchObject *self, Work what, const void *how)
{
    pthread_t *threads = calloc(self->part_count, sizeof *threads);
    self->work = what, self->how = how;
    for (size_t i = 0; i < self->part_count; i++) self->parts[i].is_here = true;
    for (size_t i = 1; threads && i < self->part_count; i++) start(&self->parts[i], &threads[i]);
    for (size_t i = 0; i < self->part_count; i++)
        if (self->parts[i].is_here) work(&self->parts[i]);
    wait_for_parts(self);
    for (size_t i = 1; i < self->part_count; i++)
        if (!self->parts[i].is_here) pthread_join(threads[i], NULL);
    free(threads);
}

// What is quick keeps the lock of Python.
static bool is_long(const BatchObject *self) { return self->count > 64 || self->part_count > 1; }

// "run 2 ..." is a run of the part there.
static void raise_of_part(const Part *part)
{
    tr_error err = part->err;
    size_t run;
    int behind = 0;
    if (sscanf(err.text, "run %zu%n", &run, &behind) == 1 && behind > 0)
        snprintf(err.text, sizeof err.text, "run %zu%s", part->first + run,
                 part->err.text + behind);
    raise_error(&err, part->all->system->file);
}

// False, and an exception, when one of them could not do it.
static bool do_all(BatchObject *self, Work what, const void *how)
{
    for (size_t i = 0; i < self->part_count; i++) self->parts[i].err = (tr_error){0};
    atomic_store(&self->stopped, false);
    call_begin(&self->call, is_long(self));
    run_parts(self, what, how);
    call_end(&self->call);
    for (size_t i = 0; i < self->part_count && !PyErr_Occurred(); i++)
        if (self->parts[i].err.status) raise_of_part(&self->parts[i]);
    return !PyErr_Occurred();
}

static PyObject *none_if(bool good) { return good ? Py_NewRef(Py_None) : NULL; }

// ---- making one ----------------------------------------------------------------------------

static void make_part(Part *part, const void *how)
{
    tr_run_options o = *(const tr_run_options *)how;
    o.progress = progress, o.owner = part;
    part->batch = tr_batch_new(part->all->system->plan, part->count, &o, &part->err);
}

static bool make_parts(BatchObject *self, size_t threads, PyObject *options)
{
    tr_run_options o = tr_run_defaults(self->system->plan);
    Kept kept = {0};
    if (!o.method || (strcmp(o.method, "rk4") != 0 && strcmp(o.method, "lie") != 0))
        o.method = "rk4";
    self->parts = calloc(threads, sizeof *self->parts);
    if (!self->parts) return PyErr_NoMemory(), false;
    self->part_count = threads;
    for (size_t i = 0; i < threads; i++) {
        const size_t first = self->count * i / threads, next = self->count * (i + 1) / threads;
        self->parts[i] = (Part){.all = self, .first = first, .count = next - first};
    }
    const bool good = take_options(options, batch_fields, &o, &kept) && do_all(self, make_part, &o);
    kept_free(&kept);
    return good;
}

static PyObject *batch_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"system", "n", "threads", "options", NULL};
    PyObject *system, *options = NULL;
    Py_ssize_t n, threads = 1;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!n|nO!", names, system_type, &system, &n,
                                     &threads, &PyDict_Type, &options))
        return NULL;
    if (n < 1 || threads < 1) {
        PyErr_SetString(PyExc_ValueError, "a batch has at least one run, and one thread");
        return NULL;
    }
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    BatchObject *self = (BatchObject *)PyType_GenericAlloc(type, 0);
    if (!self) return NULL;
    self->system = (SystemObject *)Py_NewRef(system);
    self->count = (size_t)n;
    pthread_mutex_init(&self->counting, NULL);
    pthread_cond_init(&self->is_back, NULL);
    self->paces = calloc(self->count, sizeof *self->paces);
    self->until = calloc(self->count, sizeof *self->until);
    if (!self->paces || !self->until) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    if (lock_new(&self->lock) && make_parts(self, (size_t)(threads < n ? threads : n), options))
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void batch_dealloc(PyObject *object)
{
    BatchObject *self = (BatchObject *)object;
    for (size_t i = 0; i < self->part_count; i++) tr_batch_free(self->parts[i].batch);
    free(self->parts);
    free(self->paces);
    free(self->until);
    lock_free(&self->lock);
    pthread_mutex_destroy(&self->counting);
    pthread_cond_destroy(&self->is_back);
    Py_XDECREF((PyObject *)self->system);
    free_object(object);
}

// ---- setting -------------------------------------------------------------------------------

typedef struct Setting {
    const char *name;
    const double *values; // one, or one for each run
    size_t stride;
    const uint8_t *mask; // NULL: all
} Setting;

// Runs that a call is about have a number that is not 0; NULL: all
static bool is_meant(const double *mask, size_t run) { return !mask || mask[run] != 0; }

static void set_part(Part *part, const void *how)
{
    const Setting *s = how;
    tr_batch_write(part->batch, s->name, s->values + part->first * s->stride, s->stride,
                   s->mask ? s->mask + part->first : NULL, &part->err);
}

// Whether a part refuses what is asked of it, which is then raised. It does so before it does any
// of it; for that no other part does, either, it is asked alone, and first.
static bool refuses(Part *part, Work what, const void *how)
{
    part->err = (tr_error){0};
    call_begin(&part->all->call, false);
    what(part, how);
    call_end(&part->all->call);
    if (part->err.status) raise_of_part(part);
    return part->err.status;
}

// A number that is not finite, or not in its range
static bool set_all(BatchObject *self, const Setting *s)
{
    const tr_system *system = self->system->system;
    double min = -Py_HUGE_VAL, max = Py_HUGE_VAL;
    size_t at = 0;
    for (const char *name; (name = tr_input_name(system, at)) && strcmp(name, s->name) != 0;) at++;
    if (tr_input_kind(system, at) == TR_INPUT) tr_input_range(system, at, &min, &max);
    for (size_t p = 0; self->part_count > 1 && p < self->part_count; p++) {
        Part *part = &self->parts[p];
        bool good = true;
        for (size_t i = part->first; good && i < part->first + part->count; i++) {
            const double x = s->values[i * s->stride];
            good = (s->mask && !s->mask[i]) || (isfinite(x) && x >= min && x <= max);
        }
        if (!good && refuses(part, set_part, s)) return false;
    }
    return do_all(self, set_part, s);
}

static void reset_part(Part *part, const void *how)
{
    const double *mask = how;
    for (size_t i = 0; i < part->count && !part->err.status; i++)
        if (is_meant(mask, part->first + i) && tr_batch_reset(part->batch, i, &part->err))
            part->all->paces[part->first + i] = (Pace){0};
}

static bool take_mask(BatchObject *self, PyObject *from, Doubles *mask)
{
    *mask = (Doubles){0};
    if (from == Py_None) return true;
    const bool is_one = PyFloat_Check(from) || PyLong_Check(from);
    if (!is_one && !take_doubles(from, mask)) return false;
    if (!is_one && mask->count == self->count) return true;
    PyErr_Format(PyExc_ValueError, "where: %zu numbers were expected, one for each run",
                 self->count);
    doubles_free(mask);
    return false;
}

static bool take_values(BatchObject *self, PyObject *from, Doubles *values, double *one)
{
    *values = (Doubles){0};
    *one = PyFloat_Check(from) || PyLong_Check(from) ? PyFloat_AsDouble(from) : 0;
    if (PyFloat_Check(from) || PyLong_Check(from)) {
        values->at = one, values->count = 1;
        return *one != -1 || !PyErr_Occurred();
    }
    if (!take_doubles(from, values)) return false;
    const bool is_column = !values->view.obj || values->view.ndim < 2 ||
                           (size_t)values->view.shape[0] == values->count;
    if ((values->count == self->count && is_column) || values->count == 1) return true;
    PyErr_Format(PyExc_ValueError, "%zu numbers were expected, one for each run, or one for all",
                 self->count);
    doubles_free(values);
    return false;
}

static PyObject *batch_set(PyObject *object, PyObject *args)
{
    BatchObject *self = (BatchObject *)object;
    const char *name;
    PyObject *from, *where = Py_None;
    Doubles values, mask;
    double one;
    if (!PyArg_ParseTuple(args, "sO|O", &name, &from, &where) || !take_mask(self, where, &mask))
        return NULL;
    uint8_t *meant = mask.at ? malloc(self->count) : NULL;
    for (size_t i = 0; meant && i < self->count; i++) meant[i] = is_meant(mask.at, i);
    bool good =
        meant || !mask.at ? take_values(self, from, &values, &one) : (PyErr_NoMemory(), false);
    if (good) {
        const Setting setting = {name, values.at, values.count > 1, meant};
        good = lock_take(&self->lock);
        if (good) {
            good = set_all(self, &setting);
            lock_give(&self->lock);
        }
        doubles_free(&values);
    }
    free(meant);
    doubles_free(&mask);
    return none_if(good);
}

static PyObject *batch_reset(PyObject *object, PyObject *where)
{
    BatchObject *self = (BatchObject *)object;
    Doubles mask;
    if (!take_mask(self, where, &mask)) return NULL;
    bool good = lock_take(&self->lock);
    if (good) {
        good = do_all(self, reset_part, mask.at);
        lock_give(&self->lock);
    }
    doubles_free(&mask);
    return none_if(good);
}

// ---- moving --------------------------------------------------------------------------------

static void advance_part(Part *part, const void *how)
{
    const double *until = how;
    tr_batch_advance_each(part->batch, until + part->first, &part->err);
}

// Whether all runs of a part that can go on may go to their times
static bool may_advance(const Part *part)
{
    const double *until = part->all->until + part->first;
    bool good = true;
    for (size_t i = 0; good && i < part->count; i++)
        good = (isfinite(until[i]) && until[i] >= tr_batch_time(part->batch, i)) ||
               tr_batch_status(part->batch, i, NULL) != TR_OK;
    return good;
}

// Where runs are, also those that failed on the way
static void find_times(BatchObject *self)
{
    for (const Part *part = self->parts; part < self->parts + self->part_count; part++)
        for (size_t i = 0; i < part->count; i++)
            self->paces[part->first + i].t = tr_batch_time(part->batch, i);
}

static bool advance(BatchObject *self)
{
    for (Part *part = self->parts; part < self->parts + self->part_count; part++)
        if (!may_advance(part) && refuses(part, advance_part, self->until)) return false;
    const bool good = do_all(self, advance_part, self->until);
    find_times(self);
    return good;
}

// To a time, all or each to its own; one that is there already stays.
static PyObject *batch_advance(PyObject *object, PyObject *to)
{
    BatchObject *self = (BatchObject *)object;
    Doubles until;
    double one;
    if (!take_values(self, to, &until, &one)) return NULL;
    bool good = lock_take(&self->lock);
    if (good) {
        for (size_t i = 0; i < self->count; i++) {
            self->until[i] = until.at[until.count > 1 ? i : 0];
        }
        good = advance(self);
        lock_give(&self->lock);
    }
    doubles_free(&until);
    return none_if(good);
}

static PyObject *batch_step(PyObject *object, PyObject *by)
{
    BatchObject *self = (BatchObject *)object;
    const double h = PyFloat_AsDouble(by);
    if ((h == -1 && PyErr_Occurred()) || !lock_take(&self->lock)) return NULL;
    for (size_t i = 0; i < self->count; i++)
        self->until[i] = end_of_step(&self->paces[i], self->paces[i].t, h);
    const bool good = advance(self);
    lock_give(&self->lock);
    return none_if(good);
}

static PyObject *batch_times(PyObject *object, void *nothing)
{
    (void)nothing;
    BatchObject *self = (BatchObject *)object;
    double *t;
    PyObject *out = numbers_new(self->count, VECTOR, &t);
    if (!out || !lock_take(&self->lock)) return Py_XDECREF(out), NULL;
    for (size_t i = 0; i < self->count; i++) t[i] = self->paces[i].t;
    lock_give(&self->lock);
    return out;
}

static PyObject *batch_on(PyObject *object, void *nothing)
{
    (void)nothing;
    const char *on = tr_batch_on(((BatchObject *)object)->parts[0].batch);
    return PyUnicode_DecodeUTF8(on, (Py_ssize_t)strlen(on), "replace");
}

// ---- states that are on a GPU --------------------------------------------------------------

typedef struct OnDevice {
    void *state;
    const void *inputs;
    size_t steps;
} OnDevice;

static bool has_one_part(const BatchObject *self)
{
    if (self->part_count == 1) return true;
    PyErr_SetString(PyExc_ValueError, "only a batch with threads=1 has its states on a GPU");
    return false;
}

static void step_there(Part *part, const void *how)
{
    const OnDevice *there = how;
    tr_gpu_step(part->batch, there->state, there->inputs, there->steps, &part->err);
}

static PyObject *batch_gpu_step(PyObject *object, PyObject *args)
{
    BatchObject *self = (BatchObject *)object;
    unsigned long long state, inputs;
    Py_ssize_t steps;
    if (!PyArg_ParseTuple(args, "KKn", &state, &inputs, &steps) || !has_one_part(self)) return NULL;
    if (steps < 0) {
        PyErr_SetString(PyExc_ValueError, "as many steps as there are, not fewer than none");
        return NULL;
    }
    const OnDevice there = {(void *)(uintptr_t)state, (const void *)(uintptr_t)inputs,
                            (size_t)steps};
    if (!lock_take(&self->lock)) return NULL;
    const bool good = do_all(self, step_there, &there);
    if (good && !steps) find_times(self);
    lock_give(&self->lock);
    return none_if(good);
}

static size_t count_state(tr_batch *batch, double *state)
{
    tr_gpu_state(batch, state);
    return tr_gpu_states(batch);
}

// Numbers of a row each, as they are in the batch
static PyObject *rows_for_gpu(PyObject *object, size_t (*take)(tr_batch *batch, double *numbers))
{
    BatchObject *self = (BatchObject *)object;
    double *numbers;
    if (!has_one_part(self) || !lock_take(&self->lock)) return NULL;
    const size_t rows = take(self->parts[0].batch, NULL);
    PyObject *out = rows ? numbers_new(rows, self->count, &numbers) : NULL;
    if (out) take(self->parts[0].batch, numbers);
    lock_give(&self->lock);
    if (!rows)
        PyErr_SetString(PyExc_ValueError, "runs are not alike: one has failed, something happens, "
                                          "or their contacts or charts are others");
    return out;
}

static PyObject *batch_gpu_state(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    return rows_for_gpu(object, count_state);
}

static PyObject *batch_gpu_inputs(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    return rows_for_gpu(object, tr_gpu_inputs);
}

static PyObject *batch_gpu_fates(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    BatchObject *self = (BatchObject *)object;
    if (!has_one_part(self) || !lock_take(&self->lock)) return NULL;
    const double *fates = tr_gpu_fates(self->parts[0].batch);
    PyObject *out = fates ? numbers_copy(fates, self->count, VECTOR) : Py_NewRef(Py_None);
    lock_give(&self->lock);
    return out;
}

static PyObject *batch_gpu_names(PyObject *object, void *nothing)
{
    (void)nothing;
    BatchObject *self = (BatchObject *)object;
    PyObject *names = PyList_New(0);
    const char *name;
    for (size_t i = 0; names && (name = tr_gpu_state_name(self->parts[0].batch, i)); i++) {
        PyObject *one = PyUnicode_FromString(name);
        if (!one || PyList_Append(names, one) < 0) Py_CLEAR(names);
        Py_XDECREF(one);
    }
    return names;
}

// ---- asking --------------------------------------------------------------------------------

typedef struct Reading {
    const size_t *columns;
    size_t count;
    double *out; // runs by columns
} Reading;

static void read_part(Part *part, const void *how)
{
    const Reading *r = how;
    tr_batch_read(part->batch, r->columns, r->count, r->out + part->first * r->count, &part->err);
}

static bool find_columns(BatchObject *self, PyObject *names, size_t *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        PyObject *name = PySequence_GetItem(names, (Py_ssize_t)i);
        const Py_ssize_t at = name ? index_of(self->system->columns, name) : -1;
        if (name && at < 0) PyErr_SetObject(PyExc_KeyError, name);
        Py_XDECREF(name);
        if (at < 0) return false;
        columns[i] = (size_t)at;
    }
    return true;
}

static bool read_into(BatchObject *self, const Reading *reading)
{
    if (!lock_take(&self->lock)) return false;
    const bool good = do_all(self, read_part, reading);
    lock_give(&self->lock);
    return good;
}

static PyObject *batch_read(PyObject *object, PyObject *args)
{
    BatchObject *self = (BatchObject *)object;
    PyObject *names, *room = Py_None, *out = NULL;
    if (!PyArg_ParseTuple(args, "O|O", &names, &room)) return NULL;
    const Py_ssize_t count = PySequence_Size(names);
    Kept kept = {0};
    size_t *columns = count < 0 ? NULL : keep(&kept, (size_t)count * sizeof *columns);
    if (columns && find_columns(self, names, columns, (size_t)count)) {
        Reading reading = {columns, (size_t)count, NULL};
        Doubles into = {0};
        if (room == Py_None)
            out = numbers_new(self->count, reading.count, &reading.out);
        else if (take_room(room, self->count, reading.count, &into))
            out = Py_NewRef(room), reading.out = (double *)into.at;
        if (out && !read_into(self, &reading)) Py_CLEAR(out);
        doubles_free(&into);
    }
    kept_free(&kept);
    return out;
}

static PyObject *batch_failures(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    BatchObject *self = (BatchObject *)object;
    PyObject *out = PyDict_New();
    if (!out || !lock_take(&self->lock)) {
        Py_XDECREF(out);
        return NULL;
    }
    for (size_t i = 0; out && i < self->part_count; i++) {
        const Part *part = &self->parts[i];
        for (size_t k = 0; out && k < part->count; k++) {
            tr_error err = {0};
            if (tr_batch_status(part->batch, k, &err) == TR_OK) continue;
            PyObject *error = make_error(&err, self->system->file);
            PyObject *at = PyLong_FromSize_t(part->first + k);
            if (!error || !at || PyDict_SetItem(out, at, error) < 0) Py_CLEAR(out);
            Py_XDECREF(error);
            Py_XDECREF(at);
        }
    }
    lock_give(&self->lock);
    return out;
}

// ---- snapshots -----------------------------------------------------------------------------

static void save_part(Part *part, const void *how)
{
    char *const *rooms = how;
    const size_t size = tr_batch_save(part->batch, 0, NULL, 0, &part->err);
    for (size_t i = 0; i < part->count && !part->err.status; i++) {
        const size_t run = part->first + i;
        tr_batch_save(part->batch, i, rooms[run], size, &part->err);
        if (!part->err.status) put_tail(&part->all->paces[run], rooms[run], size);
    }
}

// A list of bytes that are yet to be written, and where they are
static PyObject *list_of_bytes(size_t count, size_t size, char **rooms)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
        rooms[i] = bytes ? PyBytes_AsString(bytes) : NULL;
        if (!bytes || PyList_SetItem(list, (Py_ssize_t)i, bytes) < 0) Py_CLEAR(list);
    }
    return list;
}

// The first one that failed: it has nothing to save.
static bool all_can_go_on(BatchObject *self)
{
    for (size_t i = 0; i < self->part_count; i++)
        for (size_t k = 0; k < self->parts[i].count; k++) {
            tr_error err = {0};
            if (tr_batch_status(self->parts[i].batch, k, &err) == TR_OK) continue;
            tr_error words = {.status = TR_USAGE};
            snprintf(words.text, sizeof words.text,
                     "run %zu cannot go on, and has nothing to save until it is reset: %.300s",
                     self->parts[i].first + k, err.text);
            raise_error(&words, NULL);
            return false;
        }
    return true;
}

static PyObject *batch_save(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    BatchObject *self = (BatchObject *)object;
    Kept kept = {0};
    char **rooms = keep(&kept, self->count * sizeof *rooms);
    if (!rooms || !lock_take(&self->lock)) return kept_free(&kept), NULL;
    PyObject *list = NULL;
    if (all_can_go_on(self)) {
        const size_t size = tr_batch_save(self->parts[0].batch, 0, NULL, 0, NULL);
        list = list_of_bytes(self->count, size + sizeof(Tail), rooms);
        if (list && !do_all(self, save_part, rooms)) Py_CLEAR(list);
    }
    lock_give(&self->lock);
    kept_free(&kept);
    return list;
}

// Snapshots that come in: one for all, or one for each
typedef struct Snapshots {
    Py_buffer *views;
    size_t count, held;
    const double *mask;
} Snapshots;

static void restore_part(Part *part, const void *how)
{
    const Snapshots *s = how;
    for (size_t i = 0; i < part->count && !part->err.status; i++) {
        const size_t run = part->first + i;
        size_t size;
        Tail tail;
        if (!is_meant(s->mask, run)) continue;
        if (!take_tail(&s->views[s->count > 1 ? run : 0], &size, &tail))
            part->err = (tr_error){.status = TR_USAGE, .text = NO_SNAPSHOT};
        else if (tr_batch_restore(part->batch, i, s->views[s->count > 1 ? run : 0].buf, size,
                                  &part->err))
            part->all->paces[run] = tail.pace;
    }
}

static void snapshots_free(Snapshots *s, Kept *kept)
{
    for (size_t i = 0; i < s->held; i++) PyBuffer_Release(&s->views[i]);
    kept_free(kept);
}

static bool take_snapshots(BatchObject *self, PyObject *from, Snapshots *s, Kept *kept)
{
    const bool is_one = PyObject_CheckBuffer(from);
    s->count = is_one ? 1 : self->count;
    if (!is_one && PySequence_Size(from) != (Py_ssize_t)self->count) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError,
                         "a snapshot for all was expected, or %zu, one for each run", self->count);
        return false;
    }
    s->views = keep(kept, s->count * sizeof *s->views);
    while (s->views && s->held < s->count) {
        PyObject *one = is_one ? Py_NewRef(from) : PySequence_GetItem(from, (Py_ssize_t)s->held);
        const bool good = one && PyObject_GetBuffer(one, &s->views[s->held], PyBUF_SIMPLE) == 0;
        Py_XDECREF(one);
        if (!good) return false;
        s->held++;
    }
    return s->views != NULL;
}

static PyObject *batch_restore(PyObject *object, PyObject *args)
{
    BatchObject *self = (BatchObject *)object;
    PyObject *from, *where;
    Doubles mask;
    Kept kept = {0};
    Snapshots s = {0};
    if (!PyArg_ParseTuple(args, "OO", &from, &where) || !take_mask(self, where, &mask)) return NULL;
    bool good = take_snapshots(self, from, &s, &kept) && lock_take(&self->lock);
    if (good) {
        s.mask = mask.at;
        good = do_all(self, restore_part, &s);
        lock_give(&self->lock);
    }
    snapshots_free(&s, &kept);
    doubles_free(&mask);
    return none_if(good);
}

static Py_ssize_t batch_length(PyObject *self) { return (Py_ssize_t)((BatchObject *)self)->count; }

static PyMethodDef methods[] = {
    {"_set", batch_set, METH_VARARGS, "set(name, values, where=None)"},
    {"_reset", batch_reset, METH_O, "reset(where)"},
    {"_advance", batch_advance, METH_O, "advance(until)"},
    {"step", batch_step, METH_O,
     "step($self, h, /)\n--\n\nEach run goes on by h seconds from where it is."},
    {"_read", batch_read, METH_VARARGS, "read(names, out=None) -> Numbers, runs by columns"},
    {"save", batch_save, METH_NOARGS,
     "save($self, /)\n--\n\n"
     "Snapshots, a list of bytes, one of each run; they are those that runs of\n"
     "their own save."},
    {"_restore", batch_restore, METH_VARARGS, "restore(snapshots, where)"},
    {"_gpu_step", batch_gpu_step, METH_VARARGS, "gpu_step(state, inputs, steps)"},
    {"_gpu_state", batch_gpu_state, METH_NOARGS, "gpu_state() -> Numbers, states by runs"},
    {"_gpu_inputs", batch_gpu_inputs, METH_NOARGS, "gpu_inputs() -> Numbers, inputs by runs"},
    {"_gpu_fates", batch_gpu_fates, METH_NOARGS, "gpu_fates() -> Numbers, or None"},
    {"_failures", batch_failures, METH_NOARGS, "failures() -> dict of exceptions, by run"},
    {0}};
static PyGetSetDef members[] = {{"_t", batch_times, NULL, "of each run [s]", NULL},
                                {"_gpu_names", batch_gpu_names, NULL, "of states", NULL},
                                {"on", batch_on, NULL, "where steps are made, and why there", NULL},
                                {0}};
static PyType_Slot slots[] = {{Py_tp_getset, members},
                              {Py_tp_doc, "Batch(system, n, threads=1, options={})"},
                              {Py_tp_new, batch_new},
                              {Py_tp_dealloc, batch_dealloc},
                              {Py_tp_methods, methods},
                              {Py_sq_length, batch_length},
                              {0}};
static PyType_Spec spec = {.name = "trundle._trundle.Batch",
                           .basicsize = sizeof(BatchObject),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                           .slots = slots};

bool add_batch(PyObject *module) { return add_type(module, &spec) != NULL; }
