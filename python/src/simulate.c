// SPDX-License-Identifier: Apache-2.0
// Simulating, with controllers and callbacks of Python.
#include "rows.h"

#include <stddef.h>
#include <string.h>

// ---- an instant ----------------------------------------------------------------------------

// What a controller sees and sets, for as long as it is called
typedef struct InstantObject {
    PyObject_HEAD
    const tr_instant *now; // NULL: it is over
} InstantObject;

static PyTypeObject *instant_type;

static const tr_instant *instant_of(PyObject *self)
{
    const tr_instant *now = ((InstantObject *)self)->now;
    if (!now) PyErr_SetString(PyExc_RuntimeError, "this instant is over");
    return now;
}

static size_t find(const char *text, const char *const *names, size_t count, const char *what)
{
    const size_t at = tr_find_name(names, count, text);
    if (at < count) return at;
    const char *near = tr_nearest(text, names, count);
    PyErr_Format(PyExc_KeyError, "there is no %s '%s'%s%s%s", what, text,
                 near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
    return count;
}

// What is given is looked at before the instant is: it may run code of Python, and let other
// threads go on, until the instant is over.
static PyObject *instant_item(PyObject *self, PyObject *name)
{
    const char *text = name_in(name);
    const tr_instant *now = text ? instant_of(self) : NULL;
    const size_t at = now ? find(text, now->column, now->columns, "column") : 0;
    return now && at < now->columns ? PyFloat_FromDouble(now->value[at]) : NULL;
}

static PyObject *instant_get(PyObject *self, PyObject *name)
{
    const char *text = name_in(name);
    const tr_instant *now = text ? instant_of(self) : NULL;
    const size_t at = now ? find(text, now->input, now->inputs, "input") : 0;
    return now && at < now->inputs ? PyFloat_FromDouble(now->setting[at]) : NULL;
}

static PyObject *instant_set(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "set(name, value)");
        return NULL;
    }
    const double value = PyFloat_AsDouble(args[1]);
    const char *text = value == -1 && PyErr_Occurred() ? NULL : name_in(args[0]);
    const tr_instant *now = text ? instant_of(self) : NULL;
    const size_t at = now ? find(text, now->input, now->inputs, "input") : 0;
    if (!now || at == now->inputs) return NULL;
    now->setting[at] = value;
    return Py_NewRef(Py_None);
}

static PyObject *instant_t(PyObject *self, void *nothing)
{
    (void)nothing;
    const tr_instant *now = instant_of(self);
    return now ? PyFloat_FromDouble(now->t) : NULL;
}

static PyObject *instant_names(PyObject *self, void *nothing)
{
    (void)nothing;
    const tr_instant *now = instant_of(self);
    return now ? names_out(now->input, now->inputs) : NULL;
}

static PyObject *instant_columns(PyObject *self, void *nothing)
{
    (void)nothing;
    const tr_instant *now = instant_of(self);
    return now ? names_out(now->column, now->columns) : NULL;
}

static void instant_dealloc(PyObject *self) { free_object(self); }

static PyGetSetDef instant_members[] = {{"t", instant_t, NULL, "[s]", NULL},
                                        {"columns", instant_columns, NULL, "their names", NULL},
                                        {"input_names", instant_names, NULL, "", NULL},
                                        {0}};
static PyMethodDef instant_methods[] = {
    {"get", instant_get, METH_O, "get(input) -> float"},
    {"set", (PyCFunction)(void (*)(void))instant_set, METH_FASTCALL, "set(input, value)"},
    {0}};
static PyType_Slot instant_slots[] = {
    {Py_tp_doc, "An instant of a run, as its controller sees it."},
    {Py_tp_dealloc, instant_dealloc},
    {Py_tp_getset, instant_members},
    {Py_tp_methods, instant_methods},
    {Py_mp_subscript, instant_item},
    {0}};
static PyType_Spec instant_spec = {.name = "trundle._trundle.Instant",
                                   .basicsize = sizeof(InstantObject),
                                   .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   .slots = instant_slots};

bool add_instant(PyObject *module)
{
    return (instant_type = add_type(module, &instant_spec)) != NULL;
}

// ---- simulating ----------------------------------------------------------------------------

typedef struct Simulation {
    Call call; // first: it is the owner of callbacks
    PyObject *control, *say;
} Simulation;

static bool control(void *owner, const tr_instant *now)
{
    Simulation *s = owner;
    const bool was_away = s->call.away != NULL;
    call_enter(&s->call);
    InstantObject *instant = (InstantObject *)PyType_GenericAlloc(instant_type, 0);
    if (instant) instant->now = now;
    PyObject *said =
        instant ? PyObject_CallFunctionObjArgs(s->control, (PyObject *)instant, NULL) : NULL;
    if (instant) instant->now = NULL;
    if (!said || said == Py_False) s->call.raised = true;
    Py_XDECREF(said);
    Py_XDECREF((PyObject *)instant);
    if (was_away) call_leave(&s->call);
    return !s->call.raised;
}

static void say(void *owner, const char *words)
{
    Simulation *s = owner;
    const bool was_away = s->call.away != NULL;
    call_enter(&s->call);
    PyObject *said = s->call.raised ? NULL : PyObject_CallFunction(s->say, "s", words);
    if (!said) s->call.raised = true;
    Py_XDECREF(said);
    if (was_away) call_leave(&s->call);
}

#define AT(member) offsetof(tr_simulate_options, member)
static const Field fields[] = {{"end", NUMBER, AT(end)},
                               {"every", NUMBER, AT(every)},
                               {"method", TEXT, AT(method)},
                               {"step", NUMBER, AT(step)},
                               {"rtol", NUMBER, AT(rtol)},
                               {"atol", NUMBER, AT(atol)},
                               {"dense", FLAG, AT(dense)},
                               {"no_project", FLAG, AT(no_project)},
                               {"output", TEXT, AT(output)},
                               {"sensitivity", TEXT, AT(sensitivity)},
                               {"sample", NUMBER, AT(sample)},
                               {"given", TEXT, AT(given)},
                               {"most_steps", COUNT, AT(most_steps)},
                               {"most_numbers", COUNT, AT(most_numbers)},
                               {"filter", FLAG, AT(filter)},
                               {"no_deviations", FLAG, AT(no_deviations)},
                               {0}};
#undef AT

static PyObject *summary_out(const tr_summary *s)
{
    return Py_BuildValue(
        "{sd sn sn sn sn sn sn sd sd sd sd sn sn sn ss ss sd sO sd sn sn sd}", "t", s->t, "rows",
        (Py_ssize_t)s->rows, "steps", (Py_ssize_t)s->steps, "failed_steps",
        (Py_ssize_t)s->failed_steps, "evaluations", (Py_ssize_t)s->evaluations, "jacobians",
        (Py_ssize_t)s->jacobians, "all_evaluations", (Py_ssize_t)s->all_evaluations, "energy_error",
        s->energy_error, "position_error", s->position_error, "velocity_error", s->velocity_error,
        "kkt_error", s->kkt_error, "chart_changes", (Py_ssize_t)s->chart_changes, "switches",
        (Py_ssize_t)s->switches, "warnings", (Py_ssize_t)s->warnings, "warning", s->warning,
        "advice", s->advice, "seconds", s->seconds, "interrupted",
        s->interrupted ? Py_True : Py_False, "command_error", s->command_error, "fixes",
        (Py_ssize_t)s->fixes, "fix_outliers", (Py_ssize_t)s->fix_outliers, "fix_consistency",
        s->fix_consistency);
}

PyObject *system_simulate(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    SystemObject *self = (SystemObject *)object;
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "simulate(options, progress, control, say)");
        return NULL;
    }
    tr_simulate_options o = tr_simulate_defaults(self->system);
    Kept kept = {0};
    RowsObject *rows = take_options(args[0], fields, &o, &kept) ? rows_new() : NULL;
    if (!rows) return kept_free(&kept), NULL;
    Simulation s = {
        .call.progress = args[1] == Py_None ? NULL : args[1], .control = args[2], .say = args[3]};
    Recorder recorder = {rows, &s.call};
    const tr_sink sink = rows_sink(&recorder);
    tr_summary summary = {0};
    tr_error err = {0};
    o.sinks = &sink, o.sink_count = 1, o.owner = &s, o.progress = call_progress;
    if (s.control != Py_None) o.control = control;
    if (s.say != Py_None) o.say = o.warn = say;
    call_begin(&s.call, true);
    tr_simulate(self->system, &o, &summary, &err);
    call_end(&s.call);
    kept_free(&kept);
    PyObject *error = taken_error(&err, self->file), *numbers = summary_out(&summary);
    if (!rows->names) Py_CLEAR(rows);
    if (error && numbers)
        return Py_BuildValue("(NNN)", rows ? (PyObject *)rows : Py_NewRef(Py_None), numbers, error);
    Py_XDECREF((PyObject *)rows);
    Py_XDECREF(error);
    Py_XDECREF(numbers);
    return NULL;
}
