// SPDX-License-Identifier: Apache-2.0
// System(source, options): the equations of a model, with the plan of its runs. It never changes,
// so any number of threads may use one.
#include "own.h"

#include <stddef.h>
#include <stdio.h>

PyTypeObject *system_type;

#define AT(member) offsetof(tr_derive_options, member)
const Field derive_fields[] = {{"case", TEXT, AT(case_name)},
                               {"set", SETTINGS, AT(settings), AT(setting_count)},
                               {"controls", TEXTS, AT(controls), AT(control_count)},
                               {"allowed", TEXTS, AT(allowed), AT(allowed_count)},
                               {"evaluate", TEXT, AT(evaluate)},
                               {"order", COUNT, AT(order)},
                               {"inertias", TEXT, AT(inertias)},
                               {"outputs", SETTINGS, AT(outputs), AT(output_count)},
                               {"with", TEXTS, AT(with), AT(with_count)},
                               {"with_texts", GAPS, AT(with_texts), AT(with_count)},
                               {"digits", COUNT, AT(digits)},
                               {"name_gravity", COUNT, AT(name_gravity)},
                               {0}};
#undef AT

static bool derive(SystemObject *self, SourceObject *source, PyObject *options)
{
    tr_derive_options o = tr_derive_defaults();
    Kept kept = {0};
    tr_error err = {0};
    if (take_options(options, derive_fields, &o, &kept)) {
        Py_BEGIN_ALLOW_THREADS
        self->system = tr_derive(source->model, &o, &err);
        self->plan = tr_plan_new(self->system, &err);
        Py_END_ALLOW_THREADS
    }
    kept_free(&kept);
    if (!self->plan) raise_error(&err, source->file);
    return self->plan != NULL;
}

static bool put_index(PyObject *dict, const char *name, size_t index)
{
    PyObject *at = dict ? PyLong_FromSize_t(index) : NULL;
    const bool good = at && PyDict_SetItemString(dict, name, at) == 0;
    Py_XDECREF(at);
    return good;
}

static bool index_names(SystemObject *self)
{
    const char *name;
    bool good = (self->inputs = PyDict_New()) && (self->columns = PyDict_New());
    for (size_t i = 0; good && (name = tr_input_name(self->system, i)); i++)
        good = put_index(self->inputs, name, i);
    self->column_count = tr_plan_column_count(self->plan);
    for (size_t i = 0; good && i < self->column_count; i++)
        good = put_index(self->columns, tr_plan_column_name(self->plan, i), i);
    return good;
}

Py_ssize_t index_of(PyObject *indices, PyObject *name)
{
    PyObject *at = PyDict_GetItemWithError(indices, name);
    if (at) return PyLong_AsSsize_t(at);
    PyErr_Clear();
    return -1;
}

static PyObject *system_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"source", "options", NULL};
    PyObject *source, *options = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|O!", names, source_type, &source,
                                     &PyDict_Type, &options))
        return NULL;
    SystemObject *self = (SystemObject *)PyType_GenericAlloc(type, 0);
    if (!self) return NULL;
    self->file = Py_XNewRef(((SourceObject *)source)->file);
    if (derive(self, (SourceObject *)source, options) && index_names(self)) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void system_dealloc(PyObject *object)
{
    SystemObject *self = (SystemObject *)object;
    tr_plan_free(self->plan);
    tr_system_free(self->system);
    Py_XDECREF(self->file);
    Py_XDECREF(self->inputs);
    Py_XDECREF(self->columns);
    free_object(object);
}

// ---- what there is -------------------------------------------------------------------------

static PyObject *input_out(const tr_system *s, size_t i)
{
    double min, max;
    if (!tr_input_range(s, i, &min, &max)) min = -Py_HUGE_VAL, max = Py_HUGE_VAL;
    return Py_BuildValue("(sidsssdd)", tr_input_name(s, i), (int)tr_input_kind(s, i),
                         tr_input_value(s, i), tr_input_quantity(s, i), tr_input_unit(s, i),
                         tr_input_doc(s, i), min, max);
}

static PyObject *output_out(const tr_system *s, size_t i)
{
    size_t rows, columns;
    const char *name = tr_output_name(s, i, &rows, &columns);
    return Py_BuildValue("(snnss)", name, (Py_ssize_t)rows, (Py_ssize_t)columns,
                         tr_output_quantity(s, i), tr_output_unit(s, i));
}

static PyObject *list_all(const tr_system *s, size_t count,
                          PyObject *(*one)(const tr_system *, size_t))
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *item = one(s, i);
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *system_inputs(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    const tr_system *s = ((SystemObject *)self)->system;
    return list_all(s, tr_input_count(s), input_out);
}

static PyObject *system_outputs(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    const tr_system *s = ((SystemObject *)self)->system;
    return list_all(s, tr_output_count(s), output_out);
}

static PyObject *system_columns(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    SystemObject *self = (SystemObject *)object;
    PyObject *list = PyList_New((Py_ssize_t)self->column_count);
    for (size_t i = 0; list && i < self->column_count; i++) {
        PyObject *item = Py_BuildValue("(ss)", tr_plan_column_name(self->plan, i),
                                       tr_plan_column_unit(self->plan, i));
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) Py_CLEAR(list);
    }
    return list;
}

// Of what simulations record besides
static PyObject *system_deviations(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    SystemObject *self = (SystemObject *)object;
    tr_error err = {0};
    char *text = tr_plan_deviations(self->plan, &err);
    if (!text) return raise_error(&err, self->file);
    PyObject *words = text_out(text);
    PyObject *list = words ? PyUnicode_Splitlines(words, 0) : NULL;
    Py_XDECREF(words);
    return list;
}

static PyObject *system_files(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    PyObject *list = PyList_New(0);
    const char *file;
    for (size_t i = 0; list && (file = tr_system_file(((SystemObject *)self)->system, i)); i++) {
        PyObject *item = PyUnicode_FromString(file);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *system_initial(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    SystemObject *self = (SystemObject *)object;
    const size_t size = tr_input_count(self->system);
    double *data;
    tr_error err = {0};
    PyObject *out = numbers_new(size, VECTOR, &data);
    if (!out) return NULL;
    Py_BEGIN_ALLOW_THREADS
    tr_initial(self->plan, data, size, &err);
    Py_END_ALLOW_THREADS
    if (!err.status) return out;
    Py_DECREF(out);
    return raise_error(&err, self->file);
}

// ---- texts ---------------------------------------------------------------------------------

// check and derive may give both a text and an error
static PyObject *tell(PyObject *object, PyObject *args,
                      char *(*text)(const tr_system *, bool, tr_error *))
{
    SystemObject *self = (SystemObject *)object;
    int json = 0;
    tr_error err = {0};
    char *words;
    if (!PyArg_ParseTuple(args, "|p", &json)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    words = text(self->system, json, &err);
    Py_END_ALLOW_THREADS
    return words ? text_out(words) : raise_error(&err, self->file);
}

static PyObject *system_check(PyObject *self, PyObject *args)
{
    return tell(self, args, tr_check_text);
}

static PyObject *system_derive(PyObject *self, PyObject *args)
{
    return tell(self, args, tr_derive_text);
}

static PyObject *system_eval(PyObject *self, PyObject *args)
{
    return tell(self, args, tr_eval_text);
}

#define AT(member) offsetof(tr_equations_options, member)
static const Field equation_fields[] = {{"show", TEXT, AT(show)},
                                        {"language", TEXT, AT(language)},
                                        {"title", TEXT, AT(title)},
                                        {"most_operations", COUNT, AT(most_operations)},
                                        {"most_entries", COUNT, AT(most_entries)},
                                        {"style", TEXT, AT(style)},
                                        {"effort", NUMBER, AT(effort)},
                                        {0}};
#undef AT

static PyObject *write_equations(PyObject *object, PyObject *options,
                                 char *(*text)(const tr_system *, const tr_equations_options *,
                                               tr_error *))
{
    SystemObject *self = (SystemObject *)object;
    tr_equations_options o = tr_equations_defaults();
    Kept kept = {0};
    tr_error err = {0};
    char *words = NULL;
    if (take_options(options, equation_fields, &o, &kept)) {
        Py_BEGIN_ALLOW_THREADS
        words = text(self->system, &o, &err);
        Py_END_ALLOW_THREADS
    }
    kept_free(&kept);
    return words ? text_out(words) : raise_error(&err, self->file);
}

static PyObject *system_equations(PyObject *self, PyObject *options)
{
    return write_equations(self, options, tr_equations_text);
}

static PyObject *system_explain(PyObject *self, PyObject *options)
{
    return write_equations(self, options, tr_explain);
}

#define AT(member) offsetof(tr_export_options, member)
static const Field export_fields[] = {
    {"single", FLAG, AT(single)},   {"open", FLAG, AT(open)}, {"language", TEXT, AT(language)},
    {"folder", TEXT, AT(folder)},   {"name", TEXT, AT(name)}, {"fix", TEXT, AT(fix)},
    {"outputs", TEXT, AT(outputs)}, {"form", TEXT, AT(form)}, {0}};
#undef AT

enum { LONGEST_WARNING = 400 };

static void keep_warning(void *owner, const char *words)
{
    snprintf(owner, LONGEST_WARNING, "%s", words);
}

static PyObject *system_export(PyObject *object, PyObject *options)
{
    SystemObject *self = (SystemObject *)object;
    tr_export_options o = tr_export_defaults();
    char warning[LONGEST_WARNING] = "";
    o.warn = keep_warning, o.owner = warning;
    Kept kept = {0};
    tr_error err = {0};
    bool good = take_options(options, export_fields, &o, &kept);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        good = tr_export(self->system, &o, &err);
        Py_END_ALLOW_THREADS
    }
    kept_free(&kept);
    if (!good) return raise_error(&err, self->file);
    return warning[0] ? PyUnicode_FromString(warning) : Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"inputs", system_inputs, METH_NOARGS,
     "inputs() -> list of (name, kind, value, quantity, unit, doc, min, max)"},
    {"outputs", system_outputs, METH_NOARGS,
     "outputs() -> list of (name, rows, columns, quantity, unit)"},
    {"columns", system_columns, METH_NOARGS, "columns() -> list of (name, unit)"},
    {"deviations", system_deviations, METH_NOARGS,
     "deviations() -> list of names that simulations record besides"},
    {"files", system_files, METH_NOARGS, "files() -> list of paths"},
    {"initial", system_initial, METH_NOARGS, "initial() -> Numbers, one for each input"},
    {"check", system_check, METH_VARARGS, "check(json=False) -> str"},
    {"derive", system_derive, METH_VARARGS, "derive(json=False) -> str"},
    {"eval", system_eval, METH_VARARGS, "eval(json=False) -> str"},
    {"equations", system_equations, METH_O, "equations(options) -> str"},
    {"explain", system_explain, METH_O, "explain(options) -> str"},
    {"export", system_export, METH_O, "export(options) -> words of warning, or None"},
    {"simulate", (PyCFunction)(void (*)(void))system_simulate, METH_FASTCALL,
     "simulate(options, progress, control, say) -> (Rows, summary, error)"},
    {"linearise", system_linearise, METH_VARARGS, "linearise(options, closed) -> dict"},
    {"linear_text", system_linear_text, METH_O, "linear_text(options) -> str"},
    {"locus", system_locus, METH_VARARGS, "locus(name, from, to, step, trim) -> dict"},
    {"steady", system_steady, METH_O, "steady(options) -> dict"},
    {"steady_sweep", system_steady_sweep, METH_O, "steady_sweep(options) -> dict"},
    {"lqr", system_lqr, METH_O, "lqr(options) -> dict"},
    {0}};
static PyType_Slot slots[] = {{Py_tp_doc, "System(source, options={}): equations of a model."},
                              {Py_tp_new, system_new},
                              {Py_tp_dealloc, system_dealloc},
                              {Py_tp_methods, methods},
                              {0}};
static PyType_Spec spec = {.name = "trundle._trundle.System",
                           .basicsize = sizeof(SystemObject),
                           .flags = Py_TPFLAGS_DEFAULT,
                           .slots = slots};

bool add_system(PyObject *module) { return (system_type = add_type(module, &spec)) != NULL; }
