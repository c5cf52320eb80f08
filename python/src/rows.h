// SPDX-License-Identifier: Apache-2.0
#ifndef TRUNDLE_PYTHON_ROWS_H
#define TRUNDLE_PYTHON_ROWS_H

#include "own.h"

typedef struct RowsObject {
    PyObject_HEAD
    double *data; // by rows
    size_t count, room, columns;
    PyObject *names, *units; // tuples
    char *certificate;
    Py_ssize_t shape[2], strides[2]; // of views
} RowsObject;

// Rows that a call fills
typedef struct Recorder {
    RowsObject *rows;
    Call *call;
} Recorder;
tr_sink rows_sink(Recorder *recorder);
RowsObject *rows_new(void);

#endif
