// SPDX-License-Identifier: Apache-2.0
// Source(path=None, text=None): what a model file, or a text, says; a text as if it stood in the
// file, where both are given. It never changes, so any number of threads may use one.
#include "own.h"

#include <stddef.h>

PyTypeObject *source_type;

static PyObject *source_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "text", NULL};
    PyObject *path = Py_None, *text = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO", names, &path, &text)) return NULL;
    Kept kept = {0};
    const char *file, *words;
    tr_error err = {0};
    SourceObject *self = (SourceObject *)PyType_GenericAlloc(type, 0);
    if (!self || !take_text(path, true, &kept, &file) || !take_text(text, true, &kept, &words)) {
        kept_free(&kept);
        Py_XDECREF((PyObject *)self);
        return NULL;
    }
    if (file) self->file = PyUnicode_FromString(file);
    Py_BEGIN_ALLOW_THREADS
    self->model = words  ? tr_model_parse_as(words, file, &err)
                  : file ? tr_model_read(file, &err)
                         : tr_model_new(&err);
    Py_END_ALLOW_THREADS
    kept_free(&kept);
    if (self->model) return (PyObject *)self;
    raise_error(&err, self->file);
    Py_DECREF(self);
    return NULL;
}

static void source_dealloc(PyObject *object)
{
    SourceObject *self = (SourceObject *)object;
    tr_model_free(self->model);
    Py_XDECREF(self->file);
    free_object(object);
}

static const Field fields[] = {{"allowed", TEXTS, offsetof(tr_derive_options, allowed),
                                offsetof(tr_derive_options, allowed_count)},
                               {0}};

static PyObject *source_expand(PyObject *object, PyObject *options)
{
    SourceObject *self = (SourceObject *)object;
    tr_derive_options o = tr_derive_defaults();
    Kept kept = {0};
    tr_error err = {0};
    char *text = NULL;
    if (take_options(options, fields, &o, &kept)) {
        Py_BEGIN_ALLOW_THREADS
        text = tr_model_expand(self->model, &o, &err);
        Py_END_ALLOW_THREADS
    }
    kept_free(&kept);
    return text ? text_out(text) : raise_error(&err, self->file);
}

static PyMethodDef methods[] = {
    {"expand", source_expand, METH_O, "expand(options) -> str\n\nAll that it says, as one file."},
    {0}};
static PyType_Slot slots[] = {{Py_tp_doc, "Source(path=None, text=None): what a model says."},
                              {Py_tp_new, source_new},
                              {Py_tp_dealloc, source_dealloc},
                              {Py_tp_methods, methods},
                              {0}};
static PyType_Spec spec = {.name = "trundle._trundle.Source",
                           .basicsize = sizeof(SourceObject),
                           .flags = Py_TPFLAGS_DEFAULT,
                           .slots = slots};

bool add_source(PyObject *module) { return (source_type = add_type(module, &spec)) != NULL; }
