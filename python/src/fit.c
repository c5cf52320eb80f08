// SPDX-License-Identifier: Apache-2.0
// What recordings say of parameters: fit(source, derive options, options, progress) and
// inverse(system, options).
#include "own.h"

#include <stddef.h>

#define AT(member) offsetof(tr_fit_options, member)
static const Field fields[] = {{"data", TEXTS, AT(data), AT(data_count)},
                               {"time", TEXT, AT(time)},
                               {"free", TEXT, AT(free)},
                               {"columns", TEXT, AT(columns)},
                               {"match", TEXTS, AT(matches), AT(match_count)},
                               {"sd", TEXTS, AT(sds), AT(sd_count)},
                               {"prior", TEXTS, AT(priors), AT(prior_count)},
                               {"from", NUMBER, AT(from)},
                               {"to", NUMBER, AT(to)},
                               {"method", TEXT, AT(method)},
                               {"step", NUMBER, AT(step)},
                               {"rtol", NUMBER, AT(rtol)},
                               {"atol", NUMBER, AT(atol)},
                               {"most_steps", COUNT, AT(most_steps)},
                               {"most_iterations", COUNT, AT(most_iterations)},
                               {0}};
#undef AT

static bool progress(void *owner, size_t run, double t, double end)
{
    (void)run;
    return call_goes_on(owner, t, end);
}

static PyObject *values_out(const tr_fit *f)
{
    PyObject *list = PyList_New((Py_ssize_t)f->count);
    for (size_t i = 0; list && i < f->count; i++) {
        const tr_fit_value *v = &f->values[i];
        PyObject *item = Py_BuildValue("(sdddddi)", v->name, v->value, v->start, v->sd, v->prior,
                                       v->prior_sd, f->held[i]);
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *columns_out(const tr_fit *f)
{
    PyObject *list = PyList_New((Py_ssize_t)f->column_count);
    for (size_t i = 0; list && i < f->column_count; i++) {
        const tr_fit_column *c = &f->columns[i];
        PyObject *item = Py_BuildValue("(sssnddO)", c->name, c->of, c->unit, (Py_ssize_t)c->count,
                                       c->sd, c->rms, c->is_given ? Py_True : Py_False);
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) Py_CLEAR(list);
    }
    return list;
}

// Rows t, value, left, column, recording
static PyObject *points_out(const tr_fit *f)
{
    double *row;
    PyObject *out = numbers_new(f->point_count, 5, &row);
    for (size_t i = 0; out && i < f->point_count; i++, row += 5) {
        const tr_fit_point *p = &f->points[i];
        row[0] = p->t, row[1] = p->value, row[2] = p->left;
        row[3] = (double)p->column, row[4] = (double)p->recording;
    }
    return out;
}

static PyObject *fit_out(const tr_fit *f, tr_error *err)
{
    PyObject *out = PyDict_New();
    char *text = tr_fit_text(f, false, err), *fragment = tr_fit_fragment(f, err);
    const bool good = put(out, "values", values_out(f)) && put(out, "columns", columns_out(f)) &&
                      put(out, "points", points_out(f)) &&
                      put(out, "covariance", numbers_copy(f->covariance, f->count, f->count)) &&
                      put(out, "chi_square", PyFloat_FromDouble(f->chi_square)) &&
                      put(out, "freedom", PyFloat_FromDouble(f->freedom)) &&
                      put(out, "iterations", PyLong_FromSize_t(f->iterations)) &&
                      put(out, "runs", PyLong_FromSize_t(f->runs)) &&
                      put(out, "untold", names_out(f->untold, f->untold_count)) && text &&
                      put(out, "text", PyUnicode_FromString(text)) && fragment &&
                      put(out, "fragment", PyUnicode_FromString(fragment));
    tr_text_free(text);
    tr_text_free(fragment);
    return keep_if(good, out);
}

static PyObject *fit(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *object, *how, *options, *said;
    if (!PyArg_ParseTuple(args, "O!O!O!O", source_type, &object, &PyDict_Type, &how, &PyDict_Type,
                          &options, &said))
        return NULL;
    SourceObject *source = (SourceObject *)object;
    tr_derive_options derive = tr_derive_defaults();
    tr_fit_options o = tr_fit_defaults();
    Kept kept = {0};
    tr_error err = {0};
    const tr_fit *found = NULL;
    Call call = {.progress = said == Py_None ? NULL : said};
    o.progress = progress, o.owner = &call;
    if (take_options(how, derive_fields, &derive, &kept) &&
        take_options(options, fields, &o, &kept)) {
        call_begin(&call, true);
        found = tr_fit_find(source->model, &derive, &o, &err);
        call_end(&call);
    }
    kept_free(&kept);
    PyObject *out = found && !PyErr_Occurred() ? fit_out(found, &err) : NULL;
    tr_fit_free(found);
    return out ? out : raise_error(&err, source->file);
}

// ---- inertias ------------------------------------------------------------------------------

static const Field inverse_fields[] = {
    {"logs", TEXTS, offsetof(tr_inverse_options, logs), offsetof(tr_inverse_options, log_count)},
    {"prior_weight", NUMBER, offsetof(tr_inverse_options, prior_weight)},
    {0}};

static PyObject *inverse_out(const tr_inverse *found, tr_error *err)
{
    PyObject *out = PyDict_New(), *bodies = PyDict_New();
    const char *name;
    const double *numbers;
    bool good = out && bodies;
    for (size_t i = 0; good && (numbers = tr_inverse_body(found, i, &name)); i++)
        good = put(bodies, name, numbers_copy(numbers, 10, VECTOR));
    char *text = tr_inverse_text(found, false, err), *fragment = tr_inverse_fragment(found, err);
    good = good && text && put(out, "text", PyUnicode_FromString(text)) && fragment &&
           put(out, "fragment", PyUnicode_FromString(fragment));
    tr_text_free(text);
    tr_text_free(fragment);
    if (good && put(out, "bodies", bodies)) return out;
    Py_XDECREF(out);
    return NULL;
}

static PyObject *inverse(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *object, *options;
    if (!PyArg_ParseTuple(args, "O!O!", system_type, &object, &PyDict_Type, &options)) return NULL;
    SystemObject *self = (SystemObject *)object;
    tr_inverse_options o = tr_inverse_defaults();
    Kept kept = {0};
    tr_error err = {0};
    tr_inverse *found = NULL;
    if (take_options(options, inverse_fields, &o, &kept)) {
        Py_BEGIN_ALLOW_THREADS
        found = tr_inverse_find(self->system, &o, &err);
        Py_END_ALLOW_THREADS
    }
    kept_free(&kept);
    PyObject *out = found ? inverse_out(found, &err) : NULL;
    tr_inverse_free(found);
    return out ? out : raise_error(&err, self->file);
}

static PyMethodDef methods[] = {
    {"fit", fit, METH_VARARGS, "fit(source, derive, options, progress) -> dict"},
    {"inverse", inverse, METH_VARARGS, "inverse(system, options) -> dict"},
    {0}};

bool add_fit(PyObject *module) { return PyModule_AddFunctions(module, methods) == 0; }
