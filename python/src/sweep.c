// SPDX-License-Identifier: Apache-2.0
// sweep(source, derive options, options, progress, columns of rows): many runs, in which something
// varies, as arrays.
#include "rows.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(tr_sweep_options, member)
static const Field fields[] = {{"vary", TEXTS, AT(vary), AT(vary_count)},
                               {"samples", COUNT, AT(samples)},
                               {"seed", COUNT, AT(seed)},
                               {"table", TEXT, AT(table)},
                               {"keep", TEXT, AT(keep)},
                               {"stop", TEXT, AT(stop)},
                               {"record", COUNT, AT(record)},
                               {"do", TEXT, AT(what)},
                               {"free", TEXT, AT(free)},
                               {"hold", TEXTS, AT(holds), AT(hold_count)},
                               {"by", TEXT, AT(by)},
                               {"end", NUMBER, AT(end)},
                               {"every", NUMBER, AT(every)},
                               {"method", TEXT, AT(method)},
                               {"step", NUMBER, AT(step)},
                               {"rtol", NUMBER, AT(rtol)},
                               {"atol", NUMBER, AT(atol)},
                               {"most_steps", COUNT, AT(most_steps)},
                               {"threads", COUNT, AT(jobs)},
                               {"on", TEXT, AT(on)},
                               {"output", TEXT, AT(output)},
                               {"shard", COUNT, AT(shard)},
                               {"shards", COUNT, AT(shards)},
                               {0}};
#undef AT

// How a run went; NaN where it was not made
enum { WENT_WELL, WAS_STOPPED, HAS_FAILED };

typedef struct Sweeping {
    Call call;
    PyObject *row_names, *row_units;
    PyObject *out, *words, *rows; // dicts: of all; by run, of failed and of recorded ones
    double *values, *outcome, *seconds;
    size_t columns;
} Sweeping;

// ---- as a sink -----------------------------------------------------------------------------

static PyObject *numbers_missing(size_t rows, size_t columns, double **data)
{
    PyObject *numbers = numbers_new(rows, columns, data);
    const size_t count = rows * (columns == VECTOR ? 1 : columns);
    for (size_t i = 0; numbers && i < count; i++) (*data)[i] = Py_NAN;
    return numbers;
}

// What was raised in a callback is told at the end.
static bool back(Sweeping *s, bool good, tr_error *err)
{
    if (!good) *err = (tr_error){.status = TR_NO_MEMORY};
    call_leave(&s->call);
    return good;
}

static bool begin(void *owner, size_t runs, const char *const *names, const char *const *units,
                  size_t count, tr_error *err)
{
    Sweeping *s = owner;
    call_enter(&s->call);
    s->columns = count;
    const bool good = put(s->out, "columns", names_out(names, count)) &&
                      put(s->out, "units", names_out(units, count)) &&
                      put(s->out, "values", numbers_missing(runs, count, &s->values)) &&
                      put(s->out, "outcome", numbers_missing(runs, VECTOR, &s->outcome)) &&
                      put(s->out, "took", numbers_missing(runs, VECTOR, &s->seconds));
    return back(s, good, err);
}

static bool put_at(PyObject *dict, size_t run, PyObject *value)
{
    PyObject *key = value ? PyLong_FromSize_t(run) : NULL;
    const bool good = key && PyDict_SetItem(dict, key, value) == 0;
    Py_XDECREF(key);
    Py_XDECREF(value);
    return good;
}

static PyObject *rows_of(const Sweeping *s, const tr_sweep_run *run)
{
    RowsObject *rows = rows_new();
    if (!rows) return NULL;
    const size_t size = (size_t)PyTuple_Size(s->row_names) * run->row_count * sizeof *rows->data;
    rows->names = Py_NewRef(s->row_names), rows->units = Py_NewRef(s->row_units);
    rows->columns = (size_t)PyTuple_Size(s->row_names), rows->count = run->row_count;
    rows->data = malloc(size + 1);
    if (rows->data) return memcpy(rows->data, run->rows, size), (PyObject *)rows;
    Py_DECREF((PyObject *)rows);
    return PyErr_NoMemory();
}

static bool put_run(void *owner, const tr_sweep_run *run, tr_error *err)
{
    Sweeping *s = owner;
    const size_t at = run->number;
    memcpy(s->values + at * s->columns, run->values, s->columns * sizeof *s->values);
    s->outcome[at] = run->status ? HAS_FAILED : run->is_stopped ? WAS_STOPPED : WENT_WELL;
    s->seconds[at] = run->seconds;
    const bool has_rows = run->row_count && s->row_names != Py_None;
    if (!run->status && !has_rows) return true;
    call_enter(&s->call);
    const bool good =
        (!run->status ||
         put_at(s->words, at,
                PyUnicode_DecodeUTF8(run->words, (Py_ssize_t)strlen(run->words), "replace"))) &&
        (!has_rows || put_at(s->rows, at, rows_of(s, run)));
    return back(s, good, err);
}

static bool progress(void *owner, size_t done, size_t failed, size_t all)
{
    Sweeping *s = owner;
    call_enter(&s->call);
    PyObject *said = NULL;
    if (PyErr_CheckSignals() < 0)
        s->call.raised = true;
    else if (s->call.progress)
        said = PyObject_CallFunction(s->call.progress, "nnn", (Py_ssize_t)done, (Py_ssize_t)failed,
                                     (Py_ssize_t)all);
    if (PyErr_Occurred() || said == Py_False) s->call.raised = true;
    Py_XDECREF(said);
    call_leave(&s->call);
    return !s->call.raised;
}

// ---- from Python ---------------------------------------------------------------------------

static bool put_summary(PyObject *out, const tr_sweep_summary *s)
{
    return put(out, "runs", PyLong_FromSize_t(s->runs)) &&
           put(out, "before", PyLong_FromSize_t(s->before)) &&
           put(out, "done", PyLong_FromSize_t(s->done)) &&
           put(out, "failed", PyLong_FromSize_t(s->failed)) &&
           put(out, "seconds", PyFloat_FromDouble(s->seconds)) &&
           put(out, "on", PyUnicode_DecodeUTF8(s->on, (Py_ssize_t)strlen(s->on), "replace")) &&
           put(out, "steps_on_gpu", PyLong_FromSize_t(s->steps_on_gpu)) &&
           put(out, "interrupted", PyBool_FromLong(s->interrupted));
}

static void make_runs(SourceObject *source, PyObject *how, PyObject *options, Sweeping *s,
                      tr_sweep_summary *summary, tr_error *err)
{
    tr_derive_options derive = tr_derive_defaults();
    tr_sweep_options o = tr_sweep_defaults();
    Kept kept = {0};
    const tr_sweep_sink sink = {begin, put_run, s};
    if (take_options(how, derive_fields, &derive, &kept) &&
        take_options(options, fields, &o, &kept)) {
        o.sinks = &sink, o.sink_count = 1, o.progress = progress, o.owner = s;
        call_begin(&s->call, true);
        tr_sweep(source->model, &derive, &o, summary, err);
        call_end(&s->call);
    }
    kept_free(&kept);
}

static PyObject *sweep(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *source, *how, *options, *said, *names, *units;
    if (!PyArg_ParseTuple(args, "O!O!O!OOO", source_type, &source, &PyDict_Type, &how, &PyDict_Type,
                          &options, &said, &names, &units))
        return NULL;
    if (names != Py_None && !(PyTuple_Check(names) && PyTuple_Check(units))) {
        PyErr_SetString(PyExc_TypeError, "names and units of columns are tuples");
        return NULL;
    }
    Sweeping s = {.row_names = names, .row_units = units};
    tr_sweep_summary summary = {0};
    tr_error err = {0};
    s.call.progress = said == Py_None ? NULL : said;
    s.out = PyDict_New(), s.words = PyDict_New(), s.rows = PyDict_New();
    const bool good = s.out && s.words && s.rows;
    if (good) make_runs((SourceObject *)source, how, options, &s, &summary, &err);
    PyObject *error = good ? taken_error(&err, ((SourceObject *)source)->file) : NULL;
    const bool has_words = put(s.out, "words", s.words), has_rows = put(s.out, "rows", s.rows);
    if (has_words && has_rows && error && put_summary(s.out, &summary))
        return Py_BuildValue("(NN)", s.out, error);
    Py_XDECREF(s.out);
    Py_XDECREF(error);
    return NULL;
}

static PyMethodDef methods[] = {
    {"sweep", sweep, METH_VARARGS,
     "sweep(source, derive, options, progress, names, units) -> (dict, error)"},
    {0}};

bool add_sweep(PyObject *module) { return PyModule_AddFunctions(module, methods) == 0; }
