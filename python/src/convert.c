// SPDX-License-Identifier: Apache-2.0
#include "own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- memory --------------------------------------------------------------------------------

void *keep(Kept *kept, size_t size)
{
    void **more = realloc(kept->blocks, (kept->count + 1) * sizeof *more);
    if (more) kept->blocks = more;
    void *block = more ? calloc(1, size ? size : 1) : NULL;
    if (!block) return PyErr_NoMemory();
    return kept->blocks[kept->count++] = block;
}

void kept_free(Kept *kept)
{
    for (size_t i = 0; i < kept->count; i++) free(kept->blocks[i]);
    free(kept->blocks);
    *kept = (Kept){0};
}

// ---- texts and numbers ---------------------------------------------------------------------

static const char *utf8_of(PyObject *text, Py_ssize_t *size)
{
    const char *at = PyUnicode_AsUTF8AndSize(text, size);
    if (!at && PyErr_ExceptionMatches(PyExc_UnicodeError))
        PyErr_Format(PyExc_ValueError, "%A has characters that are no Unicode", text);
    if (!at || strlen(at) == (size_t)*size) return at;
    PyErr_SetString(PyExc_ValueError, "there is a zero in a text");
    return NULL;
}

const char *name_in(PyObject *name)
{
    Py_ssize_t size = 0;
    if (PyUnicode_Check(name)) return utf8_of(name, &size);
    PyErr_Format(PyExc_TypeError, "a name is a text, and %R is none", name);
    return NULL;
}

bool take_text(PyObject *from, bool optional, Kept *kept, const char **text)
{
    *text = NULL;
    if (!from) return false;
    if (optional && from == Py_None) return true;
    PyObject *path = PyOS_FSPath(from); // of what is a text or a path, no other
    if (!path && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "a text was expected, not %R", from);
    Py_ssize_t size = 0;
    const char *at = NULL;
    if (path && PyUnicode_Check(path))
        at = utf8_of(path, &size);
    else if (path)
        PyErr_SetString(PyExc_TypeError, "a text was expected, and these are bytes");
    char *own = at ? keep(kept, (size_t)size + 1) : NULL;
    if (own) *text = memcpy(own, at, (size_t)size);
    Py_XDECREF(path);
    return own != NULL;
}

// A formula as it stands, or a number with all its digits
static bool take_formula(PyObject *from, Kept *kept, const char **text)
{
    if (PyUnicode_Check(from)) return take_text(from, false, kept, text);
    const double value = PyFloat_AsDouble(from);
    if (PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "a number or a formula was expected, not %R", from);
        return false;
    }
    if (!isfinite(value)) {
        PyErr_SetString(PyExc_ValueError, "a setting is not finite");
        return false;
    }
    char *digits = PyOS_double_to_string(value, 'r', 0, 0, NULL);
    char *own = digits ? keep(kept, strlen(digits) + 1) : NULL;
    if (own) *text = strcpy(own, digits);
    PyMem_Free(digits);
    return own != NULL;
}

static bool take_texts(PyObject *from, bool gaps, Kept *kept, const char *const **texts,
                       size_t *count)
{
    if (from != Py_None && (PyUnicode_Check(from) || !PySequence_Check(from))) {
        PyErr_SetString(PyExc_TypeError, "a list of texts was expected");
        return false;
    }
    const Py_ssize_t size = from == Py_None ? 0 : PySequence_Size(from);
    const char **list = size < 0 ? NULL : keep(kept, (size_t)size * sizeof *list);
    for (Py_ssize_t i = 0; list && i < size; i++) {
        PyObject *item = PySequence_GetItem(from, i);
        const bool good = item && take_text(item, gaps, kept, &list[i]);
        Py_XDECREF(item);
        if (!good) return false;
    }
    *texts = list, *count = (size_t)size;
    return list != NULL;
}

// Says of what an exception is, where what was converted does not know. False
static bool say_of(const char *what)
{
    if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError))
        return false;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyErr_Format(type, "%s: %S", what, value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return false;
}

static bool take_settings(PyObject *from, Kept *kept, const tr_setting **settings, size_t *count)
{
    PyObject *items = from == Py_None ? PyList_New(0) : PyMapping_Items(from);
    const Py_ssize_t size = items ? PyList_Size(items) : -1;
    tr_setting *list = size < 0 ? NULL : keep(kept, (size_t)size * sizeof *list);
    bool good = list != NULL;
    for (Py_ssize_t i = 0; good && i < size; i++) {
        PyObject *item = PyList_GetItem(items, i), *name = NULL, *value = NULL;
        good = PyTuple_Check(item) && PyTuple_Size(item) == 2;
        if (good)
            name = PyTuple_GetItem(item, 0), value = PyTuple_GetItem(item, 1);
        else
            PyErr_SetString(PyExc_TypeError, "a dict of names and values was expected");
        good = good && take_text(name, false, kept, &list[i].name);
        if (good && !take_formula(value, kept, &list[i].formula)) good = say_of(list[i].name);
    }
    Py_XDECREF(items);
    *settings = list, *count = (size_t)size;
    return good;
}

// ---- options -------------------------------------------------------------------------------

static bool take_number(PyObject *from, double *value)
{
    *value = PyFloat_AsDouble(from);
    return *value != -1 || !PyErr_Occurred();
}

static bool take_count(PyObject *from, size_t *value)
{
    PyObject *whole = PyNumber_Index(from); // NumPy's, too
    if (!whole) return false;
    *value = PyLong_AsSize_t(whole);
    Py_DECREF(whole);
    if (!PyErr_Occurred()) return true;
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, "a count was expected, not %S", from);
    return false;
}

static bool take_field(PyObject *from, const Field *field, char *options, Kept *kept)
{
    void *at = options + field->at;
    size_t *count = (size_t *)(void *)(options + field->count_at);
    switch (field->kind) {
    case NUMBER: return take_number(from, at);
    case COUNT: return take_count(from, at);
    case FLAG: {
        const int is = PyObject_IsTrue(from);
        *(bool *)at = is > 0;
        return is >= 0;
    }
    case TEXT: return take_text(from, true, kept, at);
    case TEXTS: return take_texts(from, false, kept, at, count);
    case GAPS: return take_texts(from, true, kept, at, count);
    case SETTINGS: return take_settings(from, kept, at, count);
    }
    return false;
}

static void refuse_option(const Field *fields, PyObject *key)
{
    PyObject *names = PyList_New(0);
    for (const Field *f = fields; names && f->name; f++) {
        PyObject *name = PyUnicode_FromString(f->name);
        if (name) PyList_Append(names, name);
        Py_XDECREF(name);
    }
    if (names) PyErr_Format(PyExc_TypeError, "there is no option %R: there are %S", key, names);
    Py_XDECREF(names);
}

bool take_options(PyObject *from, const Field *fields, void *options, Kept *kept)
{
    if (!from || from == Py_None) return true;
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(from, &at, &key, &value)) {
        const Field *f = fields;
        while (f->name && PyUnicode_CompareWithASCIIString(key, f->name) != 0) f++;
        if (!f->name) return refuse_option(fields, key), false;
        if (!take_field(value, f, options, kept)) return say_of(f->name);
    }
    return true;
}

// ---- numbers -------------------------------------------------------------------------------

static bool is_double(const Py_buffer *view)
{
    return view->format && view->itemsize == sizeof(double) &&
           strcmp(view->format + strspn(view->format, "@="), "d") == 0;
}

// Bytes of a file may begin anywhere.
static bool is_aligned(const void *at) { return (uintptr_t)at % _Alignof(double) == 0; }

static bool copy_doubles(PyObject *from, Doubles *d)
{
    const Py_ssize_t size = PySequence_Size(from);
    if (size < 0) return false;
    d->own = malloc(((size_t)size + 1) * sizeof *d->own);
    if (!d->own) return PyErr_NoMemory(), false;
    d->at = d->own, d->count = (size_t)size;
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *item = PySequence_GetItem(from, i);
        const bool good = item && take_number(item, &d->own[i]);
        Py_XDECREF(item);
        if (!good) return doubles_free(d), false;
    }
    return true;
}

bool take_doubles(PyObject *from, Doubles *d)
{
    *d = (Doubles){0};
    if (PyObject_CheckBuffer(from) &&
        PyObject_GetBuffer(from, &d->view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0) {
        if (is_double(&d->view) && is_aligned(d->view.buf)) {
            d->at = d->view.buf, d->count = (size_t)d->view.len / sizeof(double);
            return true;
        }
        PyBuffer_Release(&d->view);
        d->view.obj = NULL;
    }
    PyErr_Clear();
    return copy_doubles(from, d);
}

bool take_rows(PyObject *from, size_t columns, Doubles *d, size_t *rows)
{
    if (!take_doubles(from, d)) return false;
    const bool is_flat = !d->view.obj || d->view.ndim < 2;
    *rows = columns ? d->count / columns : 1;
    if (d->count == *rows * columns &&
        (is_flat || (size_t)d->view.shape[d->view.ndim - 1] == columns))
        return true;
    PyErr_Format(PyExc_ValueError, "%zu numbers were expected, or rows of so many", columns);
    doubles_free(d);
    return false;
}

bool take_room(PyObject *from, size_t rows, size_t columns, Doubles *d)
{
    const size_t count = rows * columns;
    *d = (Doubles){0};
    const int wanted = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE;
    if (PyObject_GetBuffer(from, &d->view, wanted) < 0) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_SetString(PyExc_ValueError,
                            "out: an array that can be written, row by row, was expected");
        return false;
    }
    d->at = d->view.buf, d->count = (size_t)d->view.len / sizeof(double);
    const bool is_flat = d->view.ndim < 2;
    const bool fits = is_double(&d->view) && d->count == count &&
                      (is_flat || ((size_t)d->view.shape[0] == rows && d->view.ndim == 2));
    if (fits && is_aligned(d->at)) return true;
    if (fits)
        PyErr_SetString(PyExc_ValueError, "out: its numbers begin in the middle of a word");
    else
        PyErr_Format(PyExc_ValueError, "out: %zu rows of %zu numbers of type float64 were expected",
                     rows, columns);
    doubles_free(d);
    return false;
}

void doubles_free(Doubles *d)
{
    if (d->view.obj) PyBuffer_Release(&d->view);
    free(d->own);
    *d = (Doubles){0};
}

PyObject *text_out(char *text)
{
    PyObject *out = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    tr_text_free(text);
    return out;
}

PyObject *names_out(const char *const *names, size_t count)
{
    PyObject *out = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; out && i < count; i++) {
        PyObject *name = PyUnicode_FromString(names[i] ? names[i] : "");
        if (!name || PyTuple_SetItem(out, (Py_ssize_t)i, name) < 0) Py_CLEAR(out);
    }
    return out;
}

bool put(PyObject *dict, const char *name, PyObject *value)
{
    const bool good = dict && value && PyDict_SetItemString(dict, name, value) == 0;
    Py_XDECREF(value);
    return good;
}

PyObject *keep_if(bool good, PyObject *dict)
{
    if (!good) Py_CLEAR(dict);
    return dict;
}

// ---- errors --------------------------------------------------------------------------------

static PyObject *maker; // trundle.errors.make

bool set_errors(PyObject *module)
{
    (void)module;
    PyObject *errors = PyImport_ImportModule("trundle.errors");
    maker = errors ? PyObject_GetAttrString(errors, "make") : NULL;
    Py_XDECREF(errors);
    return maker != NULL;
}

PyObject *make_error(const tr_error *err, PyObject *file)
{
    PyObject *in = err->file[0]
                       ? PyUnicode_DecodeUTF8(err->file, (Py_ssize_t)strlen(err->file), "replace")
                       : Py_NewRef(file ? file : Py_None);
    PyObject *text = PyUnicode_DecodeUTF8(err->text, (Py_ssize_t)strlen(err->text), "replace");
    PyObject *made = in && text ? PyObject_CallFunction(maker, "iOOii", (int)err->status, text, in,
                                                        err->line, err->column)
                                : NULL;
    Py_XDECREF(in);
    Py_XDECREF(text);
    return made;
}

PyObject *raise_error(const tr_error *err, PyObject *file)
{
    if (PyErr_Occurred()) return NULL;
    if (err->status == TR_NO_MEMORY) return PyErr_NoMemory();
    PyObject *error = make_error(err, file);
    if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    return NULL;
}

PyObject *taken_error(const tr_error *err, PyObject *file)
{
    if (!PyErr_Occurred() && !err->status) return Py_NewRef(Py_None);
    raise_error(err, file);
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace) PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
}
