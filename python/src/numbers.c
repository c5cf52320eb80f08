// SPDX-License-Identifier: Apache-2.0
#include "own.h"

#include <stdlib.h>
#include <string.h>

typedef struct NumbersObject {
    PyObject_HEAD
    double *data;
    PyObject *base; // that the data belong to; NULL: they are its own
    int dimensions;
    Py_ssize_t shape[2], strides[2];
} NumbersObject;

static PyTypeObject *numbers_type;

static NumbersObject *allocate(void)
{
    NumbersObject *self = (NumbersObject *)PyType_GenericAlloc(numbers_type, 0);
    if (self) self->data = NULL, self->base = NULL;
    return self;
}

PyObject *numbers_new(size_t rows, size_t columns, double **data)
{
    const size_t each = columns == VECTOR ? 1 : columns;
    NumbersObject *self = allocate();
    if (!self) return NULL;
    self->data = calloc(rows * each + 1, sizeof *self->data);
    if (!self->data) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    self->dimensions = columns == VECTOR ? 1 : 2;
    self->shape[0] = (Py_ssize_t)rows, self->shape[1] = (Py_ssize_t)each;
    self->strides[0] = (Py_ssize_t)(each * sizeof(double)), self->strides[1] = sizeof(double);
    *data = self->data;
    return (PyObject *)self;
}

PyObject *numbers_copy(const double *from, size_t rows, size_t columns)
{
    double *data;
    PyObject *self = numbers_new(rows, columns, &data);
    const size_t count = rows * (columns == VECTOR ? 1 : columns);
    if (self && count) memcpy(data, from, count * sizeof *data);
    return self;
}

PyObject *numbers_column(PyObject *base, const double *first, size_t rows, size_t stride)
{
    NumbersObject *self = allocate();
    if (!self) return NULL;
    self->data = (double *)first, self->base = Py_NewRef(base);
    self->dimensions = 1;
    self->shape[0] = (Py_ssize_t)rows, self->strides[0] = (Py_ssize_t)(stride * sizeof(double));
    return (PyObject *)self;
}

static void numbers_dealloc(PyObject *object)
{
    NumbersObject *self = (NumbersObject *)object;
    if (self->base)
        Py_DECREF(self->base);
    else
        free(self->data);
    free_object(object);
}

// Contiguous unless it is one of several columns
static int numbers_buffer(PyObject *object, Py_buffer *view, int flags)
{
    NumbersObject *self = (NumbersObject *)object;
    const bool is_dense = self->dimensions == 2 || self->strides[0] == sizeof(double);
    const Py_ssize_t count = self->shape[0] * (self->dimensions == 2 ? self->shape[1] : 1);
    view->obj = NULL;
    if (!is_dense && (flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
        PyErr_SetString(PyExc_BufferError, "the numbers of a column are not contiguous");
        return -1;
    }
    if (self->base && (flags & PyBUF_WRITABLE)) {
        PyErr_SetString(PyExc_BufferError, "these numbers are not to be written");
        return -1;
    }
    *view = (Py_buffer){.buf = self->data,
                        .obj = Py_NewRef(object),
                        .len = count * (Py_ssize_t)sizeof(double),
                        .itemsize = sizeof(double),
                        .readonly = self->base != NULL,
                        .ndim = self->dimensions,
                        .format = flags & PyBUF_FORMAT ? "d" : NULL,
                        .shape = flags & PyBUF_ND ? self->shape : NULL,
                        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL};
    return 0;
}

static PyType_Slot slots[] = {
    {Py_tp_doc, "Numbers of the library: memoryview() and numpy.asarray() show them uncopied."},
    {Py_tp_dealloc, numbers_dealloc},
    {Py_bf_getbuffer, numbers_buffer},
    {0}};
static PyType_Spec spec = {.name = "trundle._trundle.Numbers",
                           .basicsize = sizeof(NumbersObject),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           .slots = slots};

bool add_numbers(PyObject *module) { return (numbers_type = add_type(module, &spec)) != NULL; }
