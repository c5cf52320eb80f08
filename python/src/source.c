// SPDX-License-Identifier: Apache-2.0
// Source(path=None, text=None): what a model file, or a text, says; a text as if it stood in the
// file, where both are given. Without both there is nothing yet.
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
    if (!self || !lock_new(&self->lock) || !take_text(path, true, &kept, &file) ||
        !take_text(text, true, &kept, &words)) {
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
    lock_free(&self->lock);
    Py_XDECREF(self->file);
    free_object(object);
}

static PyObject *source_set(PyObject *object, PyObject *args)
{
    SourceObject *self = (SourceObject *)object;
    const char *path, *value;
    tr_error err = {0};
    if (!PyArg_ParseTuple(args, "ss", &path, &value) || !lock_take(&self->lock)) return NULL;
    tr_model_set(self->model, path, value, &err);
    lock_give(&self->lock);
    return err.status ? raise_error(&err, self->file) : Py_NewRef(Py_None);
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
    if (take_options(options, fields, &o, &kept) && lock_take(&self->lock)) {
        Py_BEGIN_ALLOW_THREADS
        text = tr_model_expand(self->model, &o, &err);
        Py_END_ALLOW_THREADS
        lock_give(&self->lock);
    }
    kept_free(&kept);
    return text ? text_out(text) : raise_error(&err, self->file);
}

static PyMethodDef methods[] = {
    {"set", source_set, METH_VARARGS, "set(path, value): one field, in place of what it was."},
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
