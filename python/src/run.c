// SPDX-License-Identifier: Apache-2.0
// Run(system, options): a system on its way, moved step by step.
#include "own.h"

#include <stddef.h>
#include <string.h>

typedef struct RunObject {
    PyObject_HEAD
    SystemObject *system;
    Pace pace;
    tr_run *run;
    const double *row; // the row now; NULL: not asked for yet
    Call call;
    Lock lock;
} RunObject;

#define AT(member) offsetof(tr_run_options, member)
const Field run_fields[] = {{"method", TEXT, AT(method)}, {"step", NUMBER, AT(step)},
                            {"rtol", NUMBER, AT(rtol)},   {"atol", NUMBER, AT(atol)},
                            {"dense", FLAG, AT(dense)},   {"no_project", FLAG, AT(no_project)},
                            {"end", NUMBER, AT(end)},     {0}};
const Field batch_fields[] = {{"method", TEXT, AT(method)}, {"step", NUMBER, AT(step)},
                              {"rtol", NUMBER, AT(rtol)},   {"atol", NUMBER, AT(atol)},
                              {"dense", FLAG, AT(dense)},   {"no_project", FLAG, AT(no_project)},
                              {"end", NUMBER, AT(end)},     {"on", TEXT, AT(on)},
                              {"single", FLAG, AT(single)}, {0}};
#undef AT

static PyObject *run_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"system", "options", NULL};
    PyObject *system, *options = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|O!", names, system_type, &system,
                                     &PyDict_Type, &options))
        return NULL;
    RunObject *self = (RunObject *)PyType_GenericAlloc(type, 0);
    if (!self) return NULL;
    self->system = (SystemObject *)Py_NewRef(system);
    tr_run_options o = tr_run_defaults(self->system->plan);
    Kept kept = {0};
    tr_error err = {0};
    bool good = lock_new(&self->lock) && take_options(options, run_fields, &o, &kept);
    if (good) {
        o.progress = call_progress, o.owner = &self->call;
        Py_BEGIN_ALLOW_THREADS
        self->run = tr_run_new(self->system->plan, &o, &err);
        Py_END_ALLOW_THREADS
        if (!self->run) raise_error(&err, self->system->file), good = false;
    }
    kept_free(&kept);
    if (!good) Py_CLEAR(self);
    return (PyObject *)self;
}

static void run_dealloc(PyObject *object)
{
    RunObject *self = (RunObject *)object;
    tr_run_free(self->run);
    lock_free(&self->lock);
    Py_XDECREF((PyObject *)self->system);
    free_object(object);
}

// None, or what went wrong
static PyObject *done(RunObject *self, const tr_error *err)
{
    lock_give(&self->lock);
    return err->status ? raise_error(err, self->system->file) : Py_NewRef(Py_None);
}

// ---- inputs --------------------------------------------------------------------------------

// By its index where there is such a name; else the library says what is wrong with it.
static bool set_one(RunObject *self, PyObject *name, double value, tr_error *err)
{
    const Py_ssize_t at = index_of(self->system->inputs, name);
    const char *text = at < 0 ? name_in(name) : NULL;
    if (at < 0 && !text) return false;
    self->row = NULL;
    if (at >= 0)
        tr_run_set_at(self->run, (size_t)at, value, err);
    else
        tr_run_set(self->run, text, value, err);
    return !err->status;
}

static PyObject *run_set(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    RunObject *self = (RunObject *)object;
    tr_error err = {0};
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "set(name, value)");
        return NULL;
    }
    const double value = PyFloat_AsDouble(args[1]);
    if ((value == -1 && PyErr_Occurred()) || !lock_take(&self->lock)) return NULL;
    set_one(self, args[0], value, &err);
    PyObject *out = done(self, &err);
    if (out && PyErr_Occurred()) Py_CLEAR(out);
    return out;
}

static PyObject *run_get(PyObject *object, PyObject *name)
{
    RunObject *self = (RunObject *)object;
    double value = 0;
    tr_error err = {0};
    const char *text = name_in(name);
    if (!text || !lock_take(&self->lock)) return NULL;
    tr_run_get(self->run, text, &value, &err);
    lock_give(&self->lock);
    return err.status ? raise_error(&err, self->system->file) : PyFloat_FromDouble(value);
}

// ---- moving --------------------------------------------------------------------------------

static PyObject *advance(RunObject *self, double until)
{
    tr_error err = {0};
    self->row = NULL;
    call_begin(&self->call, false);
    const bool arrived = tr_run_advance(self->run, until, &err);
    call_end(&self->call);
    if (PyErr_Occurred()) return NULL;
    if (!arrived && err.status) return raise_error(&err, self->system->file);
    return Py_NewRef(Py_None);
}

double end_of_step(Pace *pace, double t, double h)
{
    if (pace->h != h || pace->t != t) *pace = (Pace){.origin = t, .h = h};
    return pace->origin + ++pace->count * h;
}

static PyObject *run_step(PyObject *object, PyObject *by)
{
    RunObject *self = (RunObject *)object;
    const double h = PyFloat_AsDouble(by);
    if ((h == -1 && PyErr_Occurred()) || !lock_take(&self->lock)) return NULL;
    const double until = end_of_step(&self->pace, tr_run_time(self->run), h);
    PyObject *done = advance(self, until);
    if (done) self->pace.t = tr_run_time(self->run);
    lock_give(&self->lock);
    return done;
}

static PyObject *run_advance(PyObject *object, PyObject *to)
{
    RunObject *self = (RunObject *)object;
    const double until = PyFloat_AsDouble(to);
    if ((until == -1 && PyErr_Occurred()) || !lock_take(&self->lock)) return NULL;
    PyObject *done = advance(self, until);
    lock_give(&self->lock);
    return done;
}

static PyObject *run_reset(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    RunObject *self = (RunObject *)object;
    tr_error err = {0};
    if (!lock_take(&self->lock)) return NULL;
    self->row = NULL;
    Py_BEGIN_ALLOW_THREADS
    tr_run_reset(self->run, &err);
    Py_END_ALLOW_THREADS
    return done(self, &err);
}

// ---- asking --------------------------------------------------------------------------------

// The row now, by whoever has the lock; NULL, and an exception.
static const double *row_now(RunObject *self)
{
    tr_error err = {0};
    if (!self->row) self->row = tr_run_row(self->run);
    if (self->row) return self->row;
    if (tr_run_failed(self->run, &err))
        raise_error(&err, self->system->file);
    else
        PyErr_NoMemory();
    return NULL;
}

static PyObject *run_item(PyObject *object, PyObject *name)
{
    RunObject *self = (RunObject *)object;
    const Py_ssize_t at = index_of(self->system->columns, name);
    if (at < 0) {
        PyObject *error = PyObject_CallMethod(object, "_missing", "(O)", name); // of run.py
        if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_XDECREF(error);
        return NULL;
    }
    if (!lock_take(&self->lock)) return NULL;
    const double *row = row_now(self);
    PyObject *out = row ? PyFloat_FromDouble(row[at]) : NULL;
    lock_give(&self->lock);
    return out;
}

static PyObject *run_row(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    RunObject *self = (RunObject *)object;
    if (!lock_take(&self->lock)) return NULL;
    const double *row = row_now(self);
    PyObject *out = row ? numbers_copy(row, self->system->column_count, VECTOR) : NULL;
    lock_give(&self->lock);
    return out;
}

static PyObject *run_t(PyObject *object, void *nothing)
{
    (void)nothing;
    RunObject *self = (RunObject *)object;
    if (!lock_take(&self->lock)) return NULL;
    const double t = tr_run_time(self->run);
    lock_give(&self->lock);
    return PyFloat_FromDouble(t);
}

static PyObject *run_failure(PyObject *object, void *nothing)
{
    (void)nothing;
    RunObject *self = (RunObject *)object;
    tr_error err = {0};
    if (!lock_take(&self->lock)) return NULL;
    const bool failed = tr_run_failed(self->run, &err);
    lock_give(&self->lock);
    return failed ? make_error(&err, self->system->file) : Py_NewRef(Py_None);
}

static PyObject *run_system(PyObject *self, void *nothing)
{
    (void)nothing;
    return Py_NewRef((PyObject *)((RunObject *)self)->system);
}

// ---- snapshots -----------------------------------------------------------------------------

// FNV-1a, of words: bytes take most of the time of a snapshot. Each step is one to one, so whatever
// is altered within a word is seen.
static uint64_t hash_of(const char *bytes, size_t size)
{
    const uint64_t prime = 1099511628211u;
    uint64_t hash = 14695981039346656037u, word;
    for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * prime;
    }
    word = 0;
    memcpy(&word, bytes, size);
    return (hash ^ word) * prime;
}

void put_tail(const Pace *pace, char *bytes, size_t size)
{
    Tail tail = {.pace = *pace};
    memcpy(bytes + size, &tail.pace, sizeof tail.pace);
    tail.hash = hash_of(bytes, size + sizeof tail.pace);
    memcpy(bytes + size, &tail, sizeof tail);
}

bool take_tail(const Py_buffer *view, size_t *size, Tail *tail)
{
    if ((size_t)view->len < sizeof *tail) return false;
    *size = (size_t)view->len - sizeof *tail;
    memcpy(tail, (const char *)view->buf + *size, sizeof *tail);
    return tail->hash == hash_of(view->buf, *size + sizeof tail->pace);
}

static PyObject *run_save(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    RunObject *self = (RunObject *)object;
    tr_error err = {0};
    if (!lock_take(&self->lock)) return NULL;
    const size_t size = tr_run_save(self->run, NULL, 0, &err);
    PyObject *bytes =
        err.status ? NULL : PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(size + sizeof(Tail)));
    char *room = bytes ? PyBytes_AsString(bytes) : NULL;
    if (room) {
        tr_run_save(self->run, room, size, &err);
        put_tail(&self->pace, room, size);
    }
    self->row = NULL; // adaptive methods start anew
    lock_give(&self->lock);
    if (!err.status) return bytes;
    Py_XDECREF(bytes);
    return raise_error(&err, self->system->file);
}

static PyObject *run_restore(PyObject *object, PyObject *from)
{
    RunObject *self = (RunObject *)object;
    tr_error err = {0};
    Py_buffer view;
    if (PyObject_GetBuffer(from, &view, PyBUF_SIMPLE) < 0) return NULL;
    Tail tail;
    size_t size = 0;
    const bool is_whole = take_tail(&view, &size, &tail);
    if (!is_whole) err = (tr_error){.status = TR_USAGE, .text = NO_SNAPSHOT};
    if (!is_whole || !lock_take(&self->lock)) {
        PyBuffer_Release(&view);
        return is_whole ? NULL : raise_error(&err, NULL);
    }
    self->row = NULL;
    if (tr_run_restore(self->run, view.buf, size, &err)) self->pace = tail.pace;
    PyBuffer_Release(&view);
    return done(self, &err);
}

static PyGetSetDef members[] = {
    {"t", run_t, NULL, "The time that it has come to [s].", NULL},
    {"failure", run_failure, NULL, "Why it cannot go on, an exception; None while it can.", NULL},
    {"system", run_system, NULL, "Its equations, as the library has them.", NULL},
    {0}};
static PyMethodDef methods[] = {
    {"set", (PyCFunction)(void (*)(void))run_set, METH_FASTCALL,
     "set($self, name, value, /)\n--\n\n"
     "Sets an input, at once; or a parameter or a number of the start\n"
     "(\"initial.roll\"), from the next reset() on."},
    {"get", run_get, METH_O,
     "get($self, name, /)\n--\n\n"
     "What an input is now, nan while it follows a formula of t; or what a\n"
     "parameter or a number of the start will be after a reset()."},
    {"step", run_step, METH_O, "step($self, h, /)\n--\n\nGoes on by h seconds."},
    {"advance", run_advance, METH_O, "advance($self, until, /)\n--\n\nGoes on to a time [s]."},
    {"reset", run_reset, METH_NOARGS,
     "reset($self, /)\n--\n\nStarts anew at t = 0, with all that was set; also a run that failed."},
    {"_row", run_row, METH_NOARGS, "All columns now, as Numbers."},
    {"save", run_save, METH_NOARGS,
     "save($self, /)\n--\n\nA snapshot, bytes, for restore(): all that later numbers depend on."},
    {"restore", run_restore, METH_O,
     "restore($self, snapshot, /)\n--\n\n"
     "Back to a snapshot of a run of the same model and method."},
    {0}};
static PyType_Slot slots[] = {{Py_tp_doc, "Run(system, options={}): a system on its way."},
                              {Py_tp_new, run_new},
                              {Py_tp_dealloc, run_dealloc},
                              {Py_tp_getset, members},
                              {Py_tp_methods, methods},
                              {Py_mp_subscript, run_item},
                              {0}};
static PyType_Spec spec = {.name = "trundle._trundle.Run",
                           .basicsize = sizeof(RunObject),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                           .slots = slots};

bool add_run(PyObject *module) { return add_type(module, &spec) != NULL; }
