// SPDX-License-Identifier: Apache-2.0
// Program(system, outputs, by, options): outputs of a system as functions of all its inputs.
#include "own.h"

#include <stddef.h>

typedef struct ProgramObject {
    PyObject_HEAD
    SystemObject *system;
    tr_program *program;
    tr_workspace *workspace;
    tr_program_size size;
    Lock lock;
} ProgramObject;

#define AT(member) offsetof(tr_compile_options, member)
static const Field fields[] = {{"fix_parameters", FLAG, AT(fix_parameters)},
                               {"parameters", TEXT, AT(parameters)},
                               {"evaluate", TEXT, AT(evaluate)},
                               {0}};
#undef AT

static bool compile(ProgramObject *self, const char *outputs, const char *by, PyObject *options)
{
    tr_compile_options o = tr_compile_defaults();
    Kept kept = {0};
    tr_error err = {0};
    if (!lock_new(&self->lock) || !take_options(options, fields, &o, &kept))
        return kept_free(&kept), false;
    Py_BEGIN_ALLOW_THREADS
    self->program = by ? tr_compile_slopes(self->system->plan, outputs, by, &o, &err)
                       : tr_compile_in(self->system->plan, outputs, &o, &err);
    self->workspace = tr_workspace_new(self->program, &err);
    Py_END_ALLOW_THREADS
    kept_free(&kept);
    if (!self->workspace) raise_error(&err, self->system->file);
    self->size = tr_program_sizes(self->program);
    return self->workspace != NULL;
}

static PyObject *program_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"system", "outputs", "by", "options", NULL};
    PyObject *system, *options = NULL;
    const char *outputs, *by = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!s|zO!", names, system_type, &system,
                                     &outputs, &by, &PyDict_Type, &options))
        return NULL;
    ProgramObject *self = (ProgramObject *)PyType_GenericAlloc(type, 0);
    if (!self) return NULL;
    self->system = (SystemObject *)Py_NewRef(system);
    if (compile(self, outputs, by, options)) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void program_dealloc(PyObject *object)
{
    ProgramObject *self = (ProgramObject *)object;
    tr_workspace_free(self->workspace);
    tr_program_free(self->program);
    lock_free(&self->lock);
    Py_XDECREF((PyObject *)self->system);
    free_object(object);
}

static bool evaluate(ProgramObject *self, const Doubles *in, size_t count, double *out)
{
    if (!lock_take(&self->lock)) return false;
    if (count == 1) {
        tr_evaluate(self->program, self->workspace, in->at, out);
    } else {
        Py_BEGIN_ALLOW_THREADS
        tr_evaluate_many(self->program, self->workspace, count, in->at, self->size.inputs, out,
                         self->size.outputs);
        Py_END_ALLOW_THREADS
    }
    lock_give(&self->lock);
    return true;
}

static PyObject *program_call(PyObject *object, PyObject *args)
{
    ProgramObject *self = (ProgramObject *)object;
    PyObject *from, *room = Py_None, *out = NULL;
    Doubles in, into = {0};
    double *data = NULL;
    size_t count;
    if (!PyArg_ParseTuple(args, "O|O", &from, &room) ||
        !take_rows(from, self->size.inputs, &in, &count))
        return NULL;
    if (room == Py_None)
        out = numbers_new(count, self->size.outputs, &data);
    else if (take_room(room, count, self->size.outputs, &into))
        out = Py_NewRef(room), data = (double *)into.at;
    if (out && !evaluate(self, &in, count, data)) Py_CLEAR(out);
    doubles_free(&in);
    doubles_free(&into);
    return out;
}

static PyObject *program_sizes(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    const tr_program_size s = ((ProgramObject *)object)->size;
    return Py_BuildValue("{sn sn sn sn sn sn}", "inputs", (Py_ssize_t)s.inputs, "outputs",
                         (Py_ssize_t)s.outputs, "operations", (Py_ssize_t)s.operations,
                         "instructions", (Py_ssize_t)s.instructions, "state_operations",
                         (Py_ssize_t)s.state_operations, "state_instructions",
                         (Py_ssize_t)s.state_instructions);
}

static PyMethodDef methods[] = {
    {"evaluate", program_call, METH_VARARGS,
     "evaluate(inputs, out=None) -> Numbers: rows of outputs for rows of inputs"},
    {"sizes", program_sizes, METH_NOARGS, "sizes() -> dict"},
    {0}};
static PyType_Slot slots[] = {{Py_tp_doc, "Program(system, outputs, by=None, options={})"},
                              {Py_tp_new, program_new},
                              {Py_tp_dealloc, program_dealloc},
                              {Py_tp_methods, methods},
                              {0}};
static PyType_Spec spec = {.name = "trundle._trundle.Program",
                           .basicsize = sizeof(ProgramObject),
                           .flags = Py_TPFLAGS_DEFAULT,
                           .slots = slots};

bool add_program(PyObject *module) { return add_type(module, &spec) != NULL; }
