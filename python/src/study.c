// SPDX-License-Identifier: Apache-2.0
// What verbs find of a system, as dicts of numbers and names: linear models, steady motions,
// feedback; settling and fitting. Python makes objects of them (trundle/study.py).
#include "own.h"

#include <stddef.h>
#include <string.h>

#define AT(type, member) offsetof(type, member)

// Puts it into the dict, whose it is then; false, and an exception.
static PyObject *text_or_none(char *text) { return text ? text_out(text) : Py_NewRef(Py_None); }

// ---- linear models -------------------------------------------------------------------------

static const Field linear_fields[] = {{"reduce", FLAG, AT(tr_linearise_options, reduce)},
                                      {"json", FLAG, AT(tr_linearise_options, json)},
                                      {"step", NUMBER, AT(tr_linearise_options, step)},
                                      {0}};

static PyObject *eigenvalues_of(const tr_linear *l, tr_error *err)
{
    double *values;
    PyObject *out = numbers_new(l->states, 2, &values);
    if (out && !tr_linear_eigenvalues(l, (double(*)[2])(void *)values, err)) Py_CLEAR(out);
    return out;
}

static PyObject *linear_out(const tr_linear *l, tr_error *err)
{
    PyObject *out = PyDict_New();
    const bool good = put(out, "states", names_out(l->state, l->states)) &&
                      put(out, "inputs", names_out(l->input, l->inputs)) &&
                      put(out, "outputs", names_out(l->output, l->outputs)) &&
                      put(out, "displacements", PyLong_FromSize_t(l->displacements)) &&
                      put(out, "A", numbers_copy(l->A, l->states, l->states)) &&
                      put(out, "B", numbers_copy(l->B, l->states, l->inputs)) &&
                      put(out, "C", numbers_copy(l->C, l->outputs, l->states)) &&
                      put(out, "D", numbers_copy(l->D, l->outputs, l->inputs)) &&
                      put(out, "eigenvalues", eigenvalues_of(l, err));
    return keep_if(good, out);
}

// x(t + step) = A x + B u of the same model
static bool discretise(PyObject *out, const tr_linear *l, double step, tr_error *err)
{
    double *A, *B;
    PyObject *a = numbers_new(l->states, l->states, &A), *b = numbers_new(l->states, l->inputs, &B);
    const bool good = a && b && tr_linear_discretise(l, step, A, B, err);
    if (good) return put(out, "A", a) && put(out, "B", b);
    Py_XDECREF(a);
    Py_XDECREF(b);
    return false;
}

// Closed: the loop of controllers of the model
static tr_linear *linearise(const tr_system *s, const tr_linearise_options *o, bool closed,
                            tr_error *err)
{
    tr_linearise_options continuous = *o;
    continuous.step = 0;
    return closed ? tr_linearise_loop(s, o->step, NULL, err) : tr_linearise(s, &continuous, err);
}

PyObject *system_linearise(PyObject *object, PyObject *args)
{
    SystemObject *self = (SystemObject *)object;
    PyObject *options;
    int closed;
    tr_linearise_options o = tr_linearise_defaults();
    Kept kept = {0};
    tr_error err = {0};
    tr_linear *l = NULL;
    if (!PyArg_ParseTuple(args, "O!p", &PyDict_Type, &options, &closed)) return NULL;
    if (take_options(options, linear_fields, &o, &kept)) {
        Py_BEGIN_ALLOW_THREADS
        l = linearise(self->system, &o, closed, &err);
        Py_END_ALLOW_THREADS
    }
    kept_free(&kept);
    PyObject *out = l ? linear_out(l, &err) : NULL;
    if (out && o.step > 0 && !closed && !discretise(out, l, o.step, &err)) Py_CLEAR(out);
    tr_linear_free(l);
    return out ? out : raise_error(&err, self->file);
}

PyObject *system_linear_text(PyObject *object, PyObject *options)
{
    SystemObject *self = (SystemObject *)object;
    tr_linearise_options o = tr_linearise_defaults();
    Kept kept = {0};
    tr_error err = {0};
    char *text = NULL;
    if (take_options(options, linear_fields, &o, &kept)) {
        Py_BEGIN_ALLOW_THREADS
        text = tr_linearise_text(self->system, &o, &err);
        Py_END_ALLOW_THREADS
    }
    kept_free(&kept);
    return text ? text_out(text) : raise_error(&err, self->file);
}

// ---- loci ----------------------------------------------------------------------------------

static PyObject *critical_out(const tr_locus *s)
{
    PyObject *list = PyList_New((Py_ssize_t)s->critical_count);
    for (size_t i = 0; list && i < s->critical_count; i++) {
        const tr_critical *c = &s->critical[i];
        PyObject *item =
            Py_BuildValue("(ddO)", c->value, c->frequency, c->is_onset ? Py_True : Py_False);
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *locus_out(const tr_locus *s)
{
    PyObject *out = PyDict_New();
    PyObject *modes = PyList_New((Py_ssize_t)s->count);
    for (size_t i = 0; modes && i < s->count; i++) {
        PyObject *name = PyUnicode_FromString(s->mode_count ? s->names[s->mode[i]] : "");
        if (!name || PyList_SetItem(modes, (Py_ssize_t)i, name) < 0) Py_CLEAR(modes);
    }
    const bool good =
        put(out, "modes", modes) && put(out, "name", PyUnicode_FromString(s->name)) &&
        put(out, "values", numbers_copy(s->values, s->rows, VECTOR)) &&
        put(out, "eigenvalues", numbers_copy(s->eigenvalues, s->rows, 2 * s->count)) &&
        put(out, "unsteadiness", numbers_copy(s->unsteadiness, s->rows, VECTOR)) &&
        put(out, "critical", critical_out(s));
    return keep_if(good, out);
}

static const Field steady_fields[] = {
    {"free", TEXT, AT(tr_steady_options, free)},
    {"hold", TEXTS, AT(tr_steady_options, holds), AT(tr_steady_options, hold_count)},
    {"sweep", TEXT, AT(tr_steady_options, sweep)},
    {"output", TEXT, AT(tr_steady_options, output)},
    {"form", TEXT, AT(tr_steady_options, form)},
    {"trim", FLAG, AT(tr_steady_options, trim)},
    {0}};

PyObject *system_locus(PyObject *object, PyObject *args)
{
    SystemObject *self = (SystemObject *)object;
    PyObject *name, *options;
    double from, to, step;
    if (!PyArg_ParseTuple(args, "OdddO", &name, &from, &to, &step, &options)) return NULL;
    tr_steady_options o = tr_steady_defaults();
    Kept kept = {0};
    tr_error err = {0};
    const char *text;
    tr_locus *locus = NULL;
    Call call = {0};
    o.progress = call_progress, o.owner = &call;
    if (take_text(name, false, &kept, &text) && take_options(options, steady_fields, &o, &kept)) {
        call_begin(&call, true);
        locus = tr_locus_find(self->system, text, from, to, step, &o, &err);
        call_end(&call);
    }
    kept_free(&kept);
    PyObject *out = locus && !PyErr_Occurred() ? locus_out(locus) : NULL;
    tr_locus_free(locus);
    return out ? out : raise_error(&err, self->file);
}

// ---- steady motions ------------------------------------------------------------------------

static PyObject *modes_of(const tr_steady *s)
{
    double *values;
    const size_t count = tr_steady_modes(s, NULL);
    PyObject *out = numbers_new(count, 2, &values);
    if (out) tr_steady_modes(s, (double(*)[2])(void *)values);
    return out;
}

PyObject *system_steady(PyObject *object, PyObject *options)
{
    SystemObject *self = (SystemObject *)object;
    tr_steady_options o = tr_steady_defaults();
    Kept kept = {0};
    tr_error err = {0};
    tr_steady *s = NULL;
    if (take_options(options, steady_fields, &o, &kept)) {
        Py_BEGIN_ALLOW_THREADS
        s = tr_steady_find(self->system, &o, &err);
        Py_END_ALLOW_THREADS
    }
    kept_free(&kept);
    if (!s) return raise_error(&err, self->file);
    PyObject *out = PyDict_New();
    const bool good =
        put(out, "state", numbers_copy(tr_steady_state(s), tr_input_count(self->system), VECTOR)) &&
        put(out, "modes", modes_of(s)) &&
        put(out, "text", text_or_none(tr_steady_text(s, false, &err))) &&
        put(out, "json", text_or_none(tr_steady_text(s, true, &err))) &&
        put(out, "fragment", text_or_none(tr_steady_fragment(s, &err)));
    tr_steady_free(s);
    return keep_if(good, out);
}

PyObject *system_steady_sweep(PyObject *object, PyObject *options)
{
    SystemObject *self = (SystemObject *)object;
    tr_steady_options o = tr_steady_defaults();
    Kept kept = {0};
    tr_error err = {0};
    tr_family_summary summary = {0};
    Call call = {0};
    o.progress = call_progress, o.owner = &call;
    if (take_options(options, steady_fields, &o, &kept)) {
        call_begin(&call, true);
        tr_steady_sweep(self->system, &o, &summary, &err);
        call_end(&call);
    }
    kept_free(&kept);
    if (PyErr_Occurred() || err.status) return raise_error(&err, self->file);
    const size_t folds = summary.folds < TR_MOST_FOLDS ? summary.folds : TR_MOST_FOLDS;
    PyObject *out = PyDict_New();
    const bool good = put(out, "rows", PyLong_FromSize_t(summary.rows)) &&
                      put(out, "reached", PyFloat_FromDouble(summary.reached)) &&
                      put(out, "folds", numbers_copy(summary.fold, folds, VECTOR));
    return keep_if(good, out);
}

// ---- feedback ------------------------------------------------------------------------------

static const Field lqr_fields[] = {{"inputs", TEXT, AT(tr_lqr_options, inputs)},
                                   {"q", TEXT, AT(tr_lqr_options, q)},
                                   {"r", TEXT, AT(tr_lqr_options, r)},
                                   {"step", NUMBER, AT(tr_lqr_options, step)},
                                   {0}};

static bool put_matrices(PyObject *out, const tr_lqr *l)
{
    const size_t n = l->states, m = l->inputs;
    return put(out, "A", numbers_copy(l->A, n, n)) && put(out, "B", numbers_copy(l->B, n, m)) &&
           put(out, "Q", numbers_copy(l->Q, n, n)) && put(out, "R", numbers_copy(l->R, m, m)) &&
           put(out, "N", numbers_copy(l->N, n, m)) && put(out, "K", numbers_copy(l->K, m, n)) &&
           put(out, "before", numbers_copy(l->before, n, 2)) &&
           put(out, "after", numbers_copy(l->after, n, 2));
}

PyObject *system_lqr(PyObject *object, PyObject *options)
{
    SystemObject *self = (SystemObject *)object;
    tr_lqr_options o = tr_lqr_defaults();
    Kept kept = {0};
    tr_error err = {0};
    const tr_lqr *l = NULL;
    if (take_options(options, lqr_fields, &o, &kept)) {
        Py_BEGIN_ALLOW_THREADS
        l = tr_lqr_design(self->system, &o, &err);
        Py_END_ALLOW_THREADS
    }
    kept_free(&kept);
    if (!l) return raise_error(&err, self->file);
    PyObject *out = PyDict_New();
    const bool good = put(out, "states", names_out(l->state, l->states)) &&
                      put(out, "inputs", names_out(l->input, l->inputs)) &&
                      put(out, "law", names_out(l->law, l->inputs)) && put_matrices(out, l) &&
                      put(out, "residual", PyFloat_FromDouble(l->residual)) &&
                      put(out, "unsteadiness", PyFloat_FromDouble(l->unsteadiness)) &&
                      put(out, "neutral", PyLong_FromSize_t(l->neutral)) &&
                      put(out, "text", text_or_none(tr_lqr_text(l, false, &err))) &&
                      put(out, "roles", text_or_none(tr_lqr_roles(l, &err))) &&
                      put(out, "fragment", text_or_none(tr_lqr_fragment(l, &err)));
    tr_lqr_free(l);
    return keep_if(good, out);
}
