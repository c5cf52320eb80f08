// SPDX-License-Identifier: Apache-2.0
// Settle(system, options): poses on the ground, one after the other.
#include "own.h"

#include <stddef.h>
#include <string.h>

typedef struct SettleObject {
    PyObject_HEAD
    SystemObject *system;
    tr_settle *settle;
    size_t columns, held;
    Lock lock;
} SettleObject;

#define AT(member) offsetof(tr_settle_options, member)
static const Field fields[] = {{"by", TEXT, AT(by)},
                               {"hold", TEXTS, AT(holds), AT(hold_count)},
                               {"gap", TEXT, AT(gap)},
                               {"weights", TEXTS, AT(weights), AT(weight_count)},
                               {0}};
#undef AT

static bool open_one(SettleObject *self, PyObject *options)
{
    tr_settle_options o = tr_settle_defaults();
    Kept kept = {0};
    tr_error err = {0};
    if (lock_new(&self->lock) && take_options(options, fields, &o, &kept)) {
        Py_BEGIN_ALLOW_THREADS
        self->settle = tr_settle_new(self->system->plan, &o, &err);
        Py_END_ALLOW_THREADS
        self->held = o.hold_count;
        self->columns = tr_settle_column_count(self->settle);
    }
    kept_free(&kept);
    if (!self->settle) raise_error(&err, self->system->file);
    return self->settle != NULL;
}

static PyObject *new (PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"system", "options", NULL};
    PyObject *system, *options = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|O!", names, system_type, &system,
                                     &PyDict_Type, &options))
        return NULL;
    SettleObject *self = (SettleObject *)PyType_GenericAlloc(type, 0);
    if (!self) return NULL;
    self->system = (SystemObject *)Py_NewRef(system);
    if (open_one(self, options)) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void dealloc(PyObject *object)
{
    SettleObject *self = (SettleObject *)object;
    tr_settle_free(self->settle);
    lock_free(&self->lock);
    Py_XDECREF((PyObject *)self->system);
    free_object(object);
}

static bool find_poses(SettleObject *self, const Doubles *held, size_t count, double *out,
                       tr_error *err)
{
    bool good = lock_take(&self->lock);
    if (!good) return false;
    Call call = {0};
    call_begin(&call, true);
    for (size_t i = 0; good && i < count; i++)
        good = call_goes_on(&call, (double)i, (double)count) &&
               tr_settle_pose(self->settle, self->held ? held->at + i * self->held : NULL,
                              out + i * self->columns, err);
    call_end(&call);
    lock_give(&self->lock);
    return good;
}

// Rows of what is held give rows of columns.
static PyObject *poses(PyObject *object, PyObject *from)
{
    SettleObject *self = (SettleObject *)object;
    Doubles held;
    double *data;
    tr_error err = {0};
    size_t count;
    if (!take_rows(from, self->held, &held, &count)) return NULL;
    PyObject *out = numbers_new(count, self->columns, &data);
    if (out && !find_poses(self, &held, count, data, &err)) {
        Py_CLEAR(out);
        raise_error(&err, self->system->file);
    }
    doubles_free(&held);
    return out;
}

static PyObject *restart(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    SettleObject *self = (SettleObject *)object;
    if (!lock_take(&self->lock)) return NULL;
    tr_settle_restart(self->settle);
    lock_give(&self->lock);
    return Py_NewRef(Py_None);
}

static PyObject *has_jumped(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    SettleObject *self = (SettleObject *)object;
    if (!lock_take(&self->lock)) return NULL;
    const bool has = tr_settle_has_jumped(self->settle);
    lock_give(&self->lock);
    return PyBool_FromLong(has);
}

static PyObject *lifted(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    SettleObject *self = (SettleObject *)object;
    if (!lock_take(&self->lock)) return NULL;
    PyObject *out = PyUnicode_FromString(tr_settle_lifted(self->settle));
    lock_give(&self->lock);
    return out;
}

static PyObject *state(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    SettleObject *self = (SettleObject *)object;
    if (!lock_take(&self->lock)) return NULL;
    const double *in = tr_settle_state(self->settle); // NULL before the first pose
    PyObject *out =
        in ? numbers_copy(in, tr_input_count(self->system->system), VECTOR) : Py_NewRef(Py_None);
    lock_give(&self->lock);
    return out;
}

static PyObject *text(PyObject *object, PyObject *args)
{
    SettleObject *self = (SettleObject *)object;
    int json = 0;
    tr_error err = {0};
    if (!PyArg_ParseTuple(args, "|p", &json) || !lock_take(&self->lock)) return NULL;
    char *words = tr_settle_text(self->settle, json, &err);
    lock_give(&self->lock);
    return words ? text_out(words) : raise_error(&err, self->system->file);
}

static PyObject *columns(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    SettleObject *self = (SettleObject *)object;
    PyObject *list = PyList_New((Py_ssize_t)self->columns);
    for (size_t i = 0; list && i < self->columns; i++) {
        PyObject *item = Py_BuildValue("(ss)", tr_settle_column_name(self->settle, i),
                                       tr_settle_column_unit(self->settle, i));
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyMethodDef methods[] = {
    {"poses", poses, METH_O, "poses(held) -> Numbers, rows of columns"},
    {"restart", restart, METH_NOARGS, "restart(): the next pose is found from the start"},
    {"has_jumped", has_jumped, METH_NOARGS, "has_jumped() -> bool"},
    {"lifted", lifted, METH_NOARGS, "lifted() -> str"},
    {"state", state, METH_NOARGS,
     "state() -> Numbers, all inputs of programs; None before the first pose"},
    {"text", text, METH_VARARGS, "text(json=False) -> str"},
    {"columns", columns, METH_NOARGS, "columns() -> list of (name, unit)"},
    {0}};
static PyType_Slot slots[] = {{Py_tp_doc, "Settle(system, options={}): poses on the ground."},
                              {Py_tp_new, new},
                              {Py_tp_dealloc, dealloc},
                              {Py_tp_methods, methods},
                              {0}};
static PyType_Spec spec = {.name = "trundle._trundle.Settle",
                           .basicsize = sizeof(SettleObject),
                           .flags = Py_TPFLAGS_DEFAULT,
                           .slots = slots};

bool add_settle(PyObject *module) { return add_type(module, &spec) != NULL; }
