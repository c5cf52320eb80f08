// SPDX-License-Identifier: Apache-2.0
// Rows(names, units, numbers, certificate): a recorded run, by rows. What records one fills it as
// the sink of a run; from then on it does not change.
#include "rows.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

PyTypeObject *rows_type;

// ---- as a sink -----------------------------------------------------------------------------

static bool begin(void *owner, const char *const *names, const char *const *units, size_t count,
                  tr_error *err)
{
    Recorder *recorder = owner;
    RowsObject *rows = recorder->rows;
    const bool was_away = recorder->call->away != NULL;
    call_enter(recorder->call);
    rows->names = names_out(names, count), rows->units = names_out(units, count);
    const bool good = rows->names && rows->units;
    if (was_away) call_leave(recorder->call);
    rows->columns = count;
    if (!good) *err = (tr_error){.status = TR_NO_MEMORY};
    return good;
}

static bool put_row(void *owner, const double *row, tr_error *err)
{
    RowsObject *rows = ((Recorder *)owner)->rows;
    if (rows->count == rows->room) {
        const size_t room = rows->room ? 2 * rows->room : 64;
        double *data = realloc(rows->data, room * rows->columns * sizeof *data);
        if (!data) {
            *err = (tr_error){.status = TR_NO_MEMORY, .text = "no memory is left for rows"};
            return false;
        }
        rows->data = data, rows->room = room;
    }
    memcpy(rows->data + rows->count++ * rows->columns, row, rows->columns * sizeof *row);
    return true;
}

static bool end(void *owner, const char *certificate, tr_error *err)
{
    RowsObject *rows = ((Recorder *)owner)->rows;
    free(rows->certificate);
    rows->certificate = strdup(certificate);
    if (!rows->certificate) *err = (tr_error){.status = TR_NO_MEMORY};
    return rows->certificate != NULL;
}

tr_sink rows_sink(Recorder *recorder) { return (tr_sink){begin, put_row, end, recorder}; }

RowsObject *rows_new(void) { return (RowsObject *)PyType_GenericAlloc(rows_type, 0); }

// ---- from Python ---------------------------------------------------------------------------

static bool fill(RowsObject *self, PyObject *names, PyObject *units, PyObject *numbers,
                 const char *certificate)
{
    Doubles in;
    self->columns = (size_t)PyTuple_Size(names);
    self->names = Py_NewRef(names), self->units = Py_NewRef(units);
    self->certificate = certificate ? strdup(certificate) : NULL;
    if (!take_doubles(numbers, &in)) return false;
    const bool fits = self->columns && in.count % self->columns == 0 &&
                      (size_t)PyTuple_Size(units) == self->columns;
    self->count = fits ? in.count / self->columns : 0;
    self->data = malloc((in.count + 1) * sizeof *self->data);
    if (fits && self->data && in.count) memcpy(self->data, in.at, in.count * sizeof *in.at);
    doubles_free(&in);
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "these numbers make no rows of such columns");
    else if (!self->data || (certificate && !self->certificate))
        PyErr_NoMemory();
    return !PyErr_Occurred();
}

static PyObject *new (PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"names", "units", "numbers", "certificate", NULL};
    PyObject *names, *units, *numbers;
    const char *certificate = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!O|z", words, &PyTuple_Type, &names,
                                     &PyTuple_Type, &units, &numbers, &certificate))
        return NULL;
    RowsObject *self = (RowsObject *)PyType_GenericAlloc(type, 0);
    if (self && !fill(self, names, units, numbers, certificate)) Py_CLEAR(self);
    return (PyObject *)self;
}

static void dealloc(PyObject *object)
{
    RowsObject *self = (RowsObject *)object;
    Py_XDECREF(self->names);
    Py_XDECREF(self->units);
    free(self->certificate);
    free(self->data);
    free_object(object);
}

// ---- asking --------------------------------------------------------------------------------

static PyObject *get_names(PyObject *self, void *nothing)
{
    (void)nothing;
    return Py_NewRef(((RowsObject *)self)->names);
}

static PyObject *get_units(PyObject *self, void *nothing)
{
    (void)nothing;
    return Py_NewRef(((RowsObject *)self)->units);
}

static PyObject *get_certificate(PyObject *self, void *nothing)
{
    (void)nothing;
    const char *text = ((RowsObject *)self)->certificate;
    return text ? PyUnicode_FromString(text) : Py_NewRef(Py_None);
}

static Py_ssize_t length(PyObject *self) { return (Py_ssize_t)((RowsObject *)self)->count; }

static PyObject *column(PyObject *object, PyObject *index)
{
    RowsObject *self = (RowsObject *)object;
    const size_t i = PyLong_AsSize_t(index);
    if (PyErr_Occurred()) return NULL;
    if (i < self->columns)
        return numbers_column(object, self->data + i, self->count, self->columns);
    PyErr_SetString(PyExc_IndexError, "there is no such column");
    return NULL;
}

static int buffer(PyObject *object, Py_buffer *view, int flags)
{
    RowsObject *self = (RowsObject *)object;
    if (flags & PyBUF_WRITABLE) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "what is recorded is not to be written");
        return -1;
    }
    self->shape[0] = (Py_ssize_t)self->count, self->shape[1] = (Py_ssize_t)self->columns;
    self->strides[0] = self->shape[1] * (Py_ssize_t)sizeof(double);
    self->strides[1] = sizeof(double);
    *view = (Py_buffer){.buf = self->data,
                        .obj = Py_NewRef(object),
                        .len = self->shape[0] * self->strides[0],
                        .itemsize = sizeof(double),
                        .readonly = 1,
                        .ndim = 2,
                        .format = flags & PyBUF_FORMAT ? "d" : NULL,
                        .shape = flags & PyBUF_ND ? self->shape : NULL,
                        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL};
    return 0;
}

// ---- reports -------------------------------------------------------------------------------

// The rows go to the report as they would have while the run was made.
static bool replay(const RowsObject *self, const tr_sink *sink, const char **names, tr_error *err)
{
    bool good = sink->begin(sink->owner, names, names + self->columns, self->columns, err);
    for (size_t i = 0; good && i < self->count; i++)
        good = sink->row(sink->owner, self->data + i * self->columns, err);
    return good && (!self->certificate || sink->end(sink->owner, self->certificate, err));
}

static const char **list_names(const RowsObject *self, Kept *kept)
{
    const char **names = keep(kept, 2 * self->columns * sizeof *names);
    for (size_t i = 0; names && i < 2 * self->columns; i++) {
        PyObject *from = i < self->columns ? self->names : self->units;
        if (!take_text(PyTuple_GetItem(from, (Py_ssize_t)(i % self->columns)), false, kept,
                       &names[i]))
            return NULL;
    }
    return names;
}

static const Field report_fields[] = {{"output", TEXT, offsetof(tr_view_options, output)},
                                      {"page", TEXT, offsetof(tr_view_options, page)},
                                      {"equations", TEXT, offsetof(tr_view_options, equations)},
                                      {0}};

static PyObject *report(PyObject *object, PyObject *args)
{
    RowsObject *self = (RowsObject *)object;
    PyObject *system, *options;
    if (!PyArg_ParseTuple(args, "O!O!", system_type, &system, &PyDict_Type, &options)) return NULL;
    tr_view_options o = tr_view_defaults();
    Kept kept = {0};
    tr_error err = {0};
    bool good = false;
    const char **names = list_names(self, &kept);
    if (names && take_options(options, report_fields, &o, &kept)) {
        Py_BEGIN_ALLOW_THREADS
        tr_report *made = tr_report_new(&err);
        good = made && replay(self, tr_report_sink(made), names, &err) &&
               tr_report_write(made, ((SystemObject *)system)->system, &o, NULL, &err);
        tr_report_free(made);
        Py_END_ALLOW_THREADS
    }
    kept_free(&kept);
    return good ? Py_NewRef(Py_None) : raise_error(&err, NULL);
}

static PyGetSetDef members[] = {
    {"names", get_names, NULL, "of the columns", NULL},
    {"units", get_units, NULL, "of the columns, '' where one is not known", NULL},
    {"certificate", get_certificate, NULL, "how the run went, as JSON, or None", NULL},
    {0}};
static PyMethodDef methods[] = {
    {"column", column, METH_O, "column(index) -> Numbers"},
    {"report", report, METH_VARARGS, "report(system, options): one HTML file"},
    {0}};
static PyType_Slot slots[] = {{Py_tp_doc, "Rows(names, units, numbers, certificate=None)"},
                              {Py_tp_new, new},
                              {Py_tp_dealloc, dealloc},
                              {Py_tp_getset, members},
                              {Py_tp_methods, methods},
                              {Py_sq_length, length},
                              {Py_bf_getbuffer, buffer},
                              {0}};
static PyType_Spec spec = {.name = "trundle._trundle.Rows",
                           .basicsize = sizeof(RowsObject),
                           .flags = Py_TPFLAGS_DEFAULT,
                           .slots = slots};

bool add_rows(PyObject *module) { return (rows_type = add_type(module, &spec)) != NULL; }
