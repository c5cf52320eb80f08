// SPDX-License-Identifier: Apache-2.0
// The extension trundle._trundle: the calls of trundle.h as Python types, and nothing that Python
// can do itself (trundle/*.py). It keeps to the stable ABI, so one file serves CPython 3.11 and all
// later ones.
//
//   own.h        what the files share
//   convert.c    from Python and back: texts, numbers, options, errors
//   numbers.c    numbers of the library as something with the buffer protocol
//   call.c       calls that take long: signals, the lock of Python, one thread at a time
//   source.c     what a model says, before it is understood
//   system.c     its equations, and what verbs say of them
//   rows.c       recorded runs; simulate.c makes them
//   run.c        a run, step by step; batch.c has many side by side
//   program.c    functions of numbers
//   study.c      linear models, steady motions, feedback; settle.c and fit.c
//   sweep.c      many runs, in which something varies
#ifndef TRUNDLE_PYTHON_OWN_H
#define TRUNDLE_PYTHON_OWN_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <trundle/trundle.h>

#include <stdatomic.h>

// ---- convert.c -----------------------------------------------------------------------------

// Memory of a call, for texts that must stay while other threads of Python go on
typedef struct Kept {
    void **blocks;
    size_t count;
} Kept;
void *keep(Kept *kept, size_t size); // NULL, and MemoryError
void kept_free(Kept *kept);

// A text without zeros in it; NULL, and an exception. None is NULL where `optional`. `from` may be
// NULL, with an exception.
bool take_text(PyObject *from, bool optional, Kept *kept, const char **text);

typedef enum FieldKind {
    NUMBER,   // double
    COUNT,    // size_t
    FLAG,     // bool
    TEXT,     // const char *; None is NULL
    TEXTS,    // const char *const *, with their count
    GAPS,     // the same, where None is NULL
    SETTINGS, // tr_setting *, with their count: a dict of names and formulas or numbers
} FieldKind;

// Members of a structure of options that keywords give
typedef struct Field {
    const char *name;
    FieldKind kind;
    size_t at, count_at; // offsets
} Field;
// A name in UTF-8, for as long as it lives; NULL, and an exception where it is no text.
const char *name_in(PyObject *name);
// What stands in a dict goes into the options; what does not stays. `fields` ends with {0}.
bool take_options(PyObject *from, const Field *fields, void *options, Kept *kept);

// Numbers that come in: a buffer of doubles as it stands, or any sequence of numbers
typedef struct Doubles {
    const double *at;
    size_t count;
    Py_buffer view;
    double *own;
} Doubles;
bool take_doubles(PyObject *from, Doubles *doubles);
// Rows of so many: all one after the other, or an array by rows
bool take_rows(PyObject *from, size_t columns, Doubles *doubles, size_t *rows);
// Room for so many in a writable buffer of doubles; then `at` may be written through.
bool take_room(PyObject *from, size_t rows, size_t columns, Doubles *doubles);
void doubles_free(Doubles *doubles);

PyObject *text_out(char *text);                              // which is freed
PyObject *names_out(const char *const *names, size_t count); // a tuple
// One thing more into a dict; whose reference it takes, NULL is an error that was raised.
bool put(PyObject *dict, const char *name, PyObject *value);
PyObject *keep_if(bool good, PyObject *dict);               // else NULL, and it is freed
PyObject *make_error(const tr_error *err, PyObject *file);  // an exception; `file`: or NULL
PyObject *raise_error(const tr_error *err, PyObject *file); // NULL
// What is raised, or went wrong, which is then raised no more; None where nothing did
PyObject *taken_error(const tr_error *err, PyObject *file);
bool set_errors(PyObject *module);

// ---- numbers.c -----------------------------------------------------------------------------

// New ones, zero, by rows; with one dimension where `columns` is SIZE_MAX.
PyObject *numbers_new(size_t rows, size_t columns, double **data);
PyObject *numbers_copy(const double *data, size_t rows, size_t columns);
// One of several columns of something that keeps them.
PyObject *numbers_column(PyObject *base, const double *first, size_t rows, size_t stride);
#define VECTOR SIZE_MAX

// ---- call.c --------------------------------------------------------------------------------

// One thread at a time, while others of Python go on.
typedef struct Lock {
    PyThread_type_lock lock;
    unsigned long owner; // the thread that has it, 0 for none
} Lock;
bool lock_new(Lock *lock);
void lock_free(Lock *lock);
// False, and an exception, where the same thread has it, or a signal came while it waited
bool lock_take(Lock *lock);
void lock_give(Lock *lock);

// A call that may take long. The lock of Python is let go at once, or once it has taken a while;
// then signals are looked at now and then, in the thread that made the call.
typedef struct Call {
    PyThreadState *away; // NULL: this thread has the lock of Python
    PyObject *progress;  // called with the time and the end; NULL for none
    unsigned count;      // of steps
    double looked;       // when signals were [s]
    bool raised;         // there is an exception: the call is to stop
} Call;
void call_begin(Call *call, bool let_go);
void call_end(Call *call);
void call_enter(Call *call); // Python may be used until
void call_leave(Call *call);
bool call_goes_on(Call *call, double t, double end);   // looks at signals, when it is time
bool call_looks(Call *call, double t, double end);     // at once
bool call_progress(void *owner, double t, double end); // the callback; the owner is a Call
double now_seconds(void);

// ---- types ---------------------------------------------------------------------------------

typedef struct SourceObject {
    PyObject_HEAD
    tr_model *model;
    PyObject *file; // its path, or NULL
} SourceObject;

typedef struct SystemObject {
    PyObject_HEAD
    tr_system *system;
    tr_plan *plan;
    PyObject *file;    // for errors
    PyObject *inputs;  // dict: index of each input by its name
    PyObject *columns; // dict: index of each column of a run
    size_t column_count;
} SystemObject;

extern PyTypeObject *source_type, *system_type, *rows_type;
// What it keeps is gone already; it may be of a type that Python derived from ours.
void free_object(PyObject *object);
// A type of Python from its parts, known to the module by its name.
PyTypeObject *add_type(PyObject *module, PyType_Spec *spec);

bool add_numbers(PyObject *module);
bool add_source(PyObject *module);
bool add_system(PyObject *module);
bool add_rows(PyObject *module);
bool add_instant(PyObject *module);
bool add_run(PyObject *module);
bool add_batch(PyObject *module);
bool add_program(PyObject *module);
bool add_settle(PyObject *module);
bool add_fit(PyObject *module);
bool add_sweep(PyObject *module);

extern const Field derive_fields[]; // of tr_derive_options
extern const Field run_fields[];    // of tr_run_options
extern const Field batch_fields[];  // likewise, where there are many

// Steps of equal length end at origin + count h, so that their ends are not rounded more and more.
typedef struct Pace {
    double origin, h, t, count; // t: where the last one ended
} Pace;

double end_of_step(Pace *pace, double t, double h); // run.c

// Snapshots of the library are for programs, which do not alter them. Those of Python are for
// anyone: behind the bytes stand the pace and a hash of all.
typedef struct Tail {
    Pace pace;
    uint64_t hash;
} Tail;
void put_tail(const Pace *pace, char *bytes, size_t size); // behind as many bytes of the library
#define NO_SNAPSHOT "this is no snapshot of a run, or it was altered"
// Of as many bytes of the library; false where they are no such snapshot.
bool take_tail(const Py_buffer *view, size_t *size, Tail *tail);

// What a system keeps by name: its index, or -1 without an exception
Py_ssize_t index_of(PyObject *indices, PyObject *name);

PyObject *system_simulate(PyObject *self, PyObject *const *args, Py_ssize_t count);
// Methods of a system whose results are numbers (study.c)
PyObject *system_linearise(PyObject *self, PyObject *args);
PyObject *system_linear_text(PyObject *self, PyObject *options);
PyObject *system_locus(PyObject *self, PyObject *args);
PyObject *system_steady(PyObject *self, PyObject *options);
PyObject *system_steady_sweep(PyObject *self, PyObject *options);
PyObject *system_lqr(PyObject *self, PyObject *options);

#endif
