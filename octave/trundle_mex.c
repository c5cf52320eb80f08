// SPDX-License-Identifier: Apache-2.0
// trundle for Octave and Matlab: trundle_mex(VERB, HANDLE, ...), which trundle.m and the classes
// beside it call. A handle is a number that is never used twice, so one that was freed is refused;
// a model lives until the last of what was made of it is freed. What is left is freed when the
// interpreter ends.
//
// Each verb reads its arguments first, then works, then frees all that it made; errors are raised
// at the end, by call(). mex.h of either program is all that is used, but for Ctrl-C.
#include "own.h"

#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- handles -------------------------------------------------------------------------------

static Handle *handles;
static size_t handle_count;
static uint64_t last_id;

static void leave(Model *model)
{
    if (!model || --model->users > 0) return;
    tr_plan_free(model->plan);
    tr_system_free(model->system);
    tr_model_free(model->model);
    free(model);
}

static void free_handle(Handle *h)
{
    tr_run_free(h->run);
    batch_free(h->batch);
    program_free(h->program);
    leave(h->model);
    memset(h, 0, sizeof *h);
}

static void free_all(void)
{
    for (size_t i = 0; i < handle_count; i++)
        if (handles[i].id) free_handle(&handles[i]);
    free(handles);
    handles = NULL, handle_count = 0;
}

static Handle *find_handle(const mxArray *array)
{
    if (!array || !mxIsUint64(array) || mxIsComplex(array) || mxGetNumberOfElements(array) != 1)
        return NULL;
    const uint64_t id = *(const uint64_t *)mxGetData(array);
    for (size_t i = 0; id && i < handle_count; i++)
        if (handles[i].id == id) return &handles[i];
    return NULL;
}

bool new_handle(Model *model, Handle of, mxArray **out)
{
    size_t i = 0;
    while (i < handle_count && handles[i].id) i++;
    if (i == handle_count) {
        Handle *more = realloc(handles, (2 * handle_count + 8) * sizeof *more);
        if (!more) return false;
        handles = more;
        memset(handles + handle_count, 0, (handle_count + 8) * sizeof *more);
        handle_count = 2 * handle_count + 8;
    }
    *out = mxCreateNumericMatrix(1, 1, mxUINT64_CLASS, mxREAL);
    handles[i] = of;
    handles[i].id = ++last_id;
    handles[i].model = model;
    model->users++;
    memcpy(mxGetData(*out), &handles[i].id, sizeof last_id);
    return true;
}

// ---- calls ---------------------------------------------------------------------------------

void ran_out(Call *c)
{
    if (c->err.status) return;
    c->err.status = TR_NO_MEMORY;
    snprintf(c->err.text, sizeof c->err.text, "out of memory");
}

void usage(Call *c, const char *text)
{
    if (c->err.status) return;
    c->err.status = TR_USAGE;
    snprintf(c->err.text, sizeof c->err.text, "%s", text);
}

// Of the call that is made now: what runs say belongs to nobody's call
static char warned[1500];

void warn(void *owner, const char *words)
{
    (void)owner;
    const size_t used = strlen(warned);
    snprintf(warned + used, sizeof warned - used, "%s%s", used ? "\n" : "", words);
}

// The place of a mistake, as the command line has it
static void place(const Call *c, char *text, size_t size)
{
    const tr_error *err = &c->err;
    const char *file = err->file[0] ? err->file : c->file;
    int line = err->line;
    const size_t with = line > 0 ? (size_t)(line / TR_WITH_LINES) : 0;
    text[0] = 0;
    if (line < 0 && (size_t)-line <= c->o.set.count) {
        const tr_setting *s = &c->o.set.pair[-line - 1];
        snprintf(text, size, "'set', %.60s = %.60s: ", s->name, s->formula);
        return;
    }
    if (with && with <= c->o.with.count) {
        file = strchr(c->o.with.word[with - 1], '\n') ? "'with'" : c->o.with.word[with - 1];
        line %= TR_WITH_LINES;
    }
    if (line > 0)
        snprintf(text, size, "%s:%d:%d: ", file ? file : "model", line, err->column);
    else if (file && err->status == TR_INVALID)
        snprintf(text, size, "%s: ", file);
}

static bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

// Options of the command line are names here: --hold is 'hold', --most-steps 'most_steps'.
static void leave_dashes_out(char *text)
{
    char *to = text;
    bool is_option = false;
    for (const char *from = text; *from; from++) {
        const bool begins = from == text || strchr(" (", from[-1]);
        if (begins && from[0] == '-' && from[1] == '-' && is_letter(from[2]))
            from += 2, is_option = true;
        is_option = is_option && (is_letter(*from) || *from == '-');
        *to++ = (char)(is_option && *from == '-' ? '_' : *from);
    }
    *to = 0;
}

static void raise_error(const Call *c)
{
    static const char *const ids[] = {"", "failed", "usage", "invalid", "io", "memory"};
    char where[500], id[40], text[1100];
    place(c, where, sizeof where);
    snprintf(id, sizeof id, "trundle:%s", c->err.status <= TR_NO_MEMORY ? ids[c->err.status] : "");
    snprintf(text, sizeof text, "%s%s", where, c->err.text);
    leave_dashes_out(text);
    mexErrMsgIdAndTxt(id, "%s", text);
}

mxArray *text_out(char *text)
{
    mxArray *array = mxCreateString(text ? text : "");
    tr_text_free(text);
    return array;
}

mxArray *number_out(double x) { return mxCreateDoubleScalar(x); }

// rows x columns, from an array by rows
mxArray *matrix_out(const double *by_rows, size_t rows, size_t columns)
{
    mxArray *array = mxCreateDoubleMatrix(rows, columns, mxREAL);
    double *x = mxGetPr(array);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++) x[k * rows + i] = by_rows[i * columns + k];
    return array;
}

mxArray *names_out(const char *const *names, size_t count)
{
    mxArray *cell = mxCreateCellMatrix(count, 1);
    for (size_t i = 0; i < count; i++) mxSetCell(cell, i, mxCreateString(names[i]));
    return cell;
}

void put(mxArray *into, const char *field, mxArray *value)
{
    const int i = mxAddField(into, field);
    mxSetFieldByNumber(into, 0, i, value);
}

mxArray *table_out(const double *by_rows, size_t rows, char *const *names, size_t columns)
{
    mxArray *table = mxCreateStructMatrix(1, 1, 0, NULL);
    for (size_t k = 0; k < columns; k++) {
        char field[64];
        as_field(names[k], field, sizeof field);
        if (mxGetFieldNumber(table, field) >= 0) // a.b and a_b are told apart by their column
            snprintf(field + (strlen(field) > 50 ? 50 : strlen(field)), 12, "_%u", (unsigned)k + 1);
        mxArray *column = mxCreateDoubleMatrix(rows, 1, mxREAL);
        double *x = mxGetPr(column);
        for (size_t i = 0; i < rows; i++) x[i] = by_rows[i * columns + k];
        put(table, field, column);
    }
    return table;
}

// ---- Ctrl-C --------------------------------------------------------------------------------

static bool interrupted;

#ifdef MATLAB_MEX_FILE
extern bool utIsInterruptPending(void); // of libut: there is no call in mex.h
static bool is_interrupted(void) { return utIsInterruptPending(); }
#else
// Octave has a thread that waits for signals, and asks what came between two statements. There is
// no call in its mex.h either; quit.h has these. Whoever is not there is not asked.
#define OF_OCTAVE __attribute__((weak))
extern volatile sig_atomic_t octave_signal_caught OF_OCTAVE;
extern sig_atomic_t octave_interrupt_state OF_OCTAVE; // above 0: interrupted
extern void (*octave_signal_hook)(void) OF_OCTAVE;    // sees to what came

static bool is_interrupted(void)
{
    if (!&octave_signal_caught || !&octave_interrupt_state || !&octave_signal_hook) return false;
    if (!octave_signal_caught || !octave_signal_hook) return false;
    octave_signal_caught = 0;
    octave_signal_hook();
    if (octave_interrupt_state <= 0) return false; // a child that ended, say
    octave_signal_caught = 1;                      // Octave stops, too, after the call
    return true;
}
#endif

bool go_on(void *owner, double t, double end)
{
    (void)owner, (void)t, (void)end;
    if (is_interrupted()) interrupted = true;
    return !interrupted;
}

void listen(void) { interrupted = false; }

void stop_listening(Call *c)
{
    if (interrupted) usage(c, "interrupted"), c->err.status = TR_FAILED;
}

bool was_interrupted(void) { return interrupted; }

// ---- models --------------------------------------------------------------------------------

tr_derive_options derive_options(Call *c)
{
    const Options *o = &c->o;
    tr_derive_options d = tr_derive_defaults();
    d.case_name = o->case_name;
    d.settings = o->set.pair, d.setting_count = o->set.count;
    d.outputs = o->outputs.pair, d.output_count = o->outputs.count;
    d.controls = o->controls.word, d.control_count = o->controls.count;
    d.allowed = o->allow_files.word, d.allowed_count = o->allow_files.count;
    d.evaluate = o->evaluate;
    if (!isnan(o->order)) d.order = o->order == 1 ? 1 : o->order == 2 ? 2 : 3;
    d.with = o->with.word, d.with_count = o->with.count;
    const char **texts = mxCalloc(o->with.count + 1, sizeof *texts);
    for (size_t i = 0; i < o->with.count; i++) // a text that a verb gave, or the name of a file
        if (strchr(o->with.word[i], '\n')) texts[i] = o->with.word[i];
    d.with_texts = texts;
    return d;
}

// load(FILE or the text of one, ...)
static void load(Call *c)
{
    const char *source = take_text(c->in_count ? c->in[0] : NULL, "the model");
    c->o = take_options(c->in + 1, c->in_count - 1, OF_LOAD);
    const tr_derive_options derive = derive_options(c);
    const bool is_text = strchr(source, '\n') != NULL;
    c->file = is_text ? "model" : source;
    Model *model = calloc(1, sizeof *model);
    if (!model) {
        ran_out(c);
        return;
    }
    model->model = is_text ? tr_model_parse(source, &c->err) : tr_model_read(source, &c->err);
    model->system = tr_derive(model->model, &derive, &c->err);
    model->users = 1; // this
    if (model->system && !c->err.status && !new_handle(model, (Handle){.kind = MODEL}, &c->out[0]))
        ran_out(c);
    leave(model);
}

tr_plan *plan_of(Call *c)
{
    Model *model = c->handle->model;
    if (!model->plan) model->plan = tr_plan_new(model->system, &c->err);
    return model->plan;
}

static void free_verb(Call *c)
{
    if (c->handle) free_handle(c->handle);
}

// Inputs of the kind KIND of a model, as a struct array: name, value, unit, quantity, doc, min, max
static void inputs(Call *c)
{
    static const char *const fields[] = {"name", "value", "unit", "doc", "min", "max"};
    const char *kind = take_text(c->in_count ? c->in[0] : NULL, "the kind");
    const bool is_parameter = strcmp(kind, "parameter") == 0;
    if (!is_parameter && strcmp(kind, "input") != 0) give_up("there are 'parameter' and 'input'");
    const tr_kind wanted = is_parameter ? TR_PARAMETER : TR_INPUT;
    const tr_system *system = c->handle->model->system;
    size_t count = 0;
    for (size_t i = 0; i < tr_input_count(system); i++) count += tr_input_kind(system, i) == wanted;
    mxArray *out = mxCreateStructMatrix(count, 1, 6, (const char **)fields);
    for (size_t i = 0, k = 0; i < tr_input_count(system); i++) {
        if (tr_input_kind(system, i) != wanted) continue;
        double min = -mxGetInf(), max = mxGetInf();
        tr_input_range(system, i, &min, &max);
        mxSetFieldByNumber(out, k, 0, mxCreateString(tr_input_name(system, i)));
        mxSetFieldByNumber(out, k, 1, number_out(tr_input_value(system, i)));
        mxSetFieldByNumber(out, k, 2, mxCreateString(tr_input_unit(system, i)));
        mxSetFieldByNumber(out, k, 3, mxCreateString(tr_input_doc(system, i)));
        mxSetFieldByNumber(out, k, 4, number_out(min));
        mxSetFieldByNumber(out, k++, 5, number_out(max));
    }
    c->out[0] = out;
}

// [names, units, deviations] of what a run records, and the names of what simulations do besides
static void columns(Call *c)
{
    const tr_plan *plan = plan_of(c);
    if (!plan) return;
    const size_t count = tr_plan_column_count(plan);
    mxArray *names = mxCreateCellMatrix(count, 1), *units = mxCreateCellMatrix(count, 1);
    char *deviations = tr_plan_deviations(plan, &c->err);
    for (size_t i = 0; i < count; i++) {
        mxSetCell(names, i, mxCreateString(tr_plan_column_name(plan, i)));
        mxSetCell(units, i, mxCreateString(tr_plan_column_unit(plan, i)));
    }
    c->out[0] = names, c->out[1] = units;
    c->out[2] = text_out(deviations);
}

// text(KIND, ...): what `trundle check`, `derive` or `eval` says
static void text(Call *c)
{
    const char *kind = take_text(c->in_count ? c->in[0] : NULL, "which text");
    c->o = take_options(c->in + 1, c->in_count - 1, "json");
    const tr_system *system = c->handle->model->system;
    char *told = NULL;
    if (strcmp(kind, "check") == 0)
        told = tr_check_text(system, c->o.json, &c->err);
    else if (strcmp(kind, "derive") == 0)
        told = tr_derive_text(system, c->o.json, &c->err);
    else if (strcmp(kind, "eval") == 0)
        told = tr_eval_text(system, c->o.json, &c->err);
    else
        usage(c, "there are the texts 'check', 'derive' and 'eval'");
    c->out[0] = text_out(told);
}

// equations(..., with the options of load, too): gravity has a name there, as on the command line
static void equations(Call *c)
{
    c->o = take_options(c->in, c->in_count, OF_LOAD " show language style explain title");
    tr_derive_options derive = derive_options(c);
    derive.name_gravity = 1;
    tr_equations_options e = tr_equations_defaults();
    if (c->o.show) e.show = c->o.show;
    if (c->o.explain && !c->o.show) e.show = NULL;
    if (c->o.language) e.language = c->o.language;
    if (c->o.style) e.style = c->o.style;
    if (c->o.title) e.title = c->o.title;
    tr_system *system = tr_derive(c->handle->model->model, &derive, &c->err);
    c->out[0] = text_out(c->o.explain ? tr_explain(system, &e, &c->err)
                                      : tr_equations_text(system, &e, &c->err));
    tr_system_free(system);
}

static void export_verb(Call *c)
{
    tr_export_options e = tr_export_defaults();
    e.language = take_text(c->in_count ? c->in[0] : NULL, "the language");
    e.folder = take_text(c->in_count > 1 ? c->in[1] : NULL, "the folder");
    c->o = take_options(c->in + 2, c->in_count - 2, "name fix columns");
    e.name = c->o.name, e.fix = c->o.fix, e.outputs = c->o.columns, e.warn = warn;
    tr_export(c->handle->model->system, &e, &c->err);
}

// ---- simulating ----------------------------------------------------------------------------

// What a run records, row by row
typedef struct Table {
    char **names;
    size_t columns, rows, room;
    double *values;
    char *certificate;
} Table;

static char *copy(const char *text)
{
    char *own = malloc(strlen(text) + 1);
    return own ? strcpy(own, text) : NULL;
}

static bool no_memory(tr_error *err)
{
    err->status = TR_NO_MEMORY;
    snprintf(err->text, sizeof err->text, "out of memory");
    return false;
}

static bool begin_table(void *owner, const char *const *names, const char *const *units,
                        size_t count, tr_error *err)
{
    (void)units;
    Table *table = owner;
    table->names = calloc(count + 1, sizeof *table->names);
    for (size_t i = 0; table->names && i < count; i++) {
        table->names[i] = copy(names[i]);
        if (!table->names[i]) return no_memory(err);
        table->columns++;
    }
    return table->names ? true : no_memory(err);
}

static bool add_row(void *owner, const double *row, tr_error *err)
{
    Table *table = owner;
    const size_t bytes = table->columns * sizeof *row;
    if (table->rows == table->room) {
        const size_t room = 2 * table->room + 256;
        double *more = realloc(table->values, room * bytes + 1);
        if (!more) return no_memory(err);
        table->values = more, table->room = room;
    }
    memcpy(table->values + table->rows++ * table->columns, row, bytes);
    return true;
}

static bool end_table(void *owner, const char *certificate, tr_error *err)
{
    Table *table = owner;
    table->certificate = copy(certificate);
    return table->certificate ? true : no_memory(err);
}

static void free_table(Table *table)
{
    for (size_t i = 0; i < table->columns; i++) free(table->names[i]);
    free(table->names);
    free(table->values);
    free(table->certificate);
}

void take_over(double *into, double given)
{
    if (!isnan(given)) *into = given;
}

static tr_simulate_options simulate_options(const Call *c)
{
    const Options *o = &c->o;
    tr_simulate_options s = tr_simulate_defaults(c->handle->model->system);
    take_over(&s.end, o->end);
    take_over(&s.every, o->every);
    take_over(&s.step, o->step);
    take_over(&s.rtol, o->rtol);
    take_over(&s.atol, o->atol);
    if (o->method) s.method = o->method;
    if (o->most_steps >= 0 && o->most_steps < 9e15) s.most_steps = (size_t)o->most_steps;
    s.dense = o->dense, s.no_project = o->no_project;
    s.filter = o->filter, s.no_deviations = o->no_deviations;
    s.sensitivity = o->sensitivity, s.output = o->output;
    s.progress = go_on, s.warn = s.say = warn;
    return s;
}

#define OF_SIMULATE                                                                     \
    "end every method step rtol atol most_steps dense no_project filter no_deviations " \
    "sensitivity output"

// A run whose rows go there
static void simulate_into(Call *c, const tr_sink *sink)
{
    tr_simulate_options s = simulate_options(c);
    s.sinks = sink, s.sink_count = 1;
    listen();
    tr_simulate(c->handle->model->system, &s, NULL, &c->err);
    stop_listening(c);
}

// [columns, certificate] = simulate(...)
static void simulate(Call *c)
{
    c->o = take_options(c->in, c->in_count, OF_SIMULATE);
    if (c->o.most_steps < 0) give_up("'most_steps' is to be 0 or more");
    Table table = {NULL, 0, 0, 0, NULL, NULL};
    const tr_sink sink = {begin_table, add_row, end_table, &table};
    simulate_into(c, &sink);
    if (!c->err.status) {
        c->out[0] = table_out(table.values, table.rows, table.names, table.columns);
        c->out[1] = mxCreateString(table.certificate ? table.certificate : "{}");
    }
    free_table(&table);
}

// report(PAGE.html, as of simulate, ...)
static void report(Call *c)
{
    tr_view_options v = tr_view_defaults();
    v.output = take_text(c->in_count ? c->in[0] : NULL, "the page");
    c->o = take_options(c->in + 1, c->in_count - 1, OF_SIMULATE);
    if (c->o.most_steps < 0) give_up("'most_steps' is to be 0 or more");
    tr_report *made = tr_report_new(&c->err);
    if (made) simulate_into(c, tr_report_sink(made));
    if (!c->err.status) tr_report_write(made, c->handle->model->system, &v, NULL, &c->err);
    tr_report_free(made);
}

// ---- runs ----------------------------------------------------------------------------------

tr_run_options run_options(const Call *c, const tr_plan *plan)
{
    const Options *o = &c->o;
    tr_run_options r = tr_run_defaults(plan);
    if (o->method) r.method = o->method;
    take_over(&r.step, o->step);
    take_over(&r.rtol, o->rtol);
    take_over(&r.atol, o->atol);
    r.dense = o->dense, r.no_project = o->no_project;
    r.progress = go_on, r.say = warn;
    return r;
}

static void open_run(Call *c)
{
    c->o = take_options(c->in, c->in_count, OF_RUN);
    tr_plan *plan = plan_of(c);
    if (!plan) return;
    const tr_run_options r = run_options(c, plan);
    tr_run *run = tr_run_new(plan, &r, &c->err);
    if (run && !new_handle(c->handle->model, (Handle){.kind = RUN, .run = run}, &c->out[0])) {
        tr_run_free(run);
        ran_out(c);
    }
}

// advance(T): goes on to a time
static void advance(Call *c)
{
    const double until = take_number(c->in_count ? c->in[0] : NULL, "the time");
    if (!isfinite(until)) give_up("the time is to be finite");
    listen();
    tr_run_advance(c->handle->run, until, &c->err);
    stop_listening(c);
}

static void set(Call *c)
{
    const Pairs pairs = take_pairs(c->in_count ? c->in[0] : NULL, "what is set");
    for (size_t i = 0; i < pairs.count && !c->err.status; i++) {
        double value = 0;
        if (tr_read_number(pairs.pair[i].formula, &value))
            tr_run_set(c->handle->run, pairs.pair[i].name, value, &c->err);
        else
            usage(c, "a run is given numbers, not formulas");
    }
}

static void reset(Call *c) { tr_run_reset(c->handle->run, &c->err); }

static void time_of(Call *c) { c->out[0] = number_out(tr_run_time(c->handle->run)); }

static void row(Call *c)
{
    const double *values = tr_run_row(c->handle->run);
    if (!values && !tr_run_failed(c->handle->run, &c->err)) ran_out(c);
    if (values) c->out[0] = matrix_out(values, 1, tr_plan_column_count(c->handle->model->plan));
}

// Bytes that were altered would be read as the run's: they are followed by their hash.
// FNV-1a, of words
static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
    const uint64_t prime = 1099511628211u;
    uint64_t hash = 14695981039346656037u, word;
    for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * prime;
    }
    word = 0;
    memcpy(&word, bytes, size);
    return (hash ^ word) * prime;
}

uint8_t *snapshot_new(size_t size, mxArray **out)
{
    *out = mxCreateNumericMatrix(1, size + 8, mxUINT8_CLASS, mxREAL);
    return mxGetData(*out);
}

void snapshot_seal(uint8_t *bytes, size_t size)
{
    const uint64_t hash = hash_of(bytes, size);
    memcpy(bytes + size, &hash, sizeof hash);
}

const uint8_t *snapshot_of(const mxArray *array, size_t *size)
{
    const size_t count = array ? mxGetNumberOfElements(array) : 0;
    if (!array || !mxIsUint8(array) || count < 8) give_up("a snapshot is what save gave");
    const uint8_t *bytes = mxGetData(array);
    *size = count - 8;
    const uint64_t hash = hash_of(bytes, *size);
    if (memcmp(bytes + *size, &hash, sizeof hash) != 0)
        give_up("this is no snapshot as save gave it: its bytes are others");
    return bytes;
}

static void save(Call *c)
{
    const size_t size = tr_run_save(c->handle->run, NULL, 0, &c->err);
    if (!size) return;
    uint8_t *bytes = snapshot_new(size, &c->out[0]);
    tr_run_save(c->handle->run, bytes, size, &c->err);
    snapshot_seal(bytes, size);
}

static void restore(Call *c)
{
    size_t size;
    const uint8_t *bytes = snapshot_of(c->in_count ? c->in[0] : NULL, &size);
    tr_run_restore(c->handle->run, bytes, size, &c->err);
}

// view(RUN.csv, PAGE.html)
static void view(Call *c)
{
    tr_view_options v = tr_view_defaults();
    v.run = take_text(c->in_count ? c->in[0] : NULL, "the run");
    v.output = take_text(c->in_count > 1 ? c->in[1] : NULL, "the page");
    tr_view(c->handle->model->system, &v, NULL, &c->err);
}

static void version(Call *c) { c->out[0] = mxCreateString(tr_version()); }

// ---- verbs ---------------------------------------------------------------------------------

static const struct Verb {
    const char *name;
    Kind needs; // which handle it takes
    void (*act)(Call *c);
    int most_outputs;
} verbs[] = {
    {"version", NOTHING, version, 1},
    {"load", NOTHING, load, 1},
    {"free", ANY, free_verb, 0},
    {"inputs", MODEL, inputs, 1},
    {"columns", MODEL, columns, 3},
    {"text", MODEL, text, 1},
    {"equations", MODEL, equations, 1},
    {"export", MODEL, export_verb, 0},
    {"eval", MODEL, eval, 1},
    {"simulate", MODEL, simulate, 2},
    {"report", MODEL, report, 0},
    {"open", MODEL, open_run, 1},
    {"linearise", MODEL, linearise, 1},
    {"locus", MODEL, locus, 1},
    {"steady", MODEL, steady, 1},
    {"lqr", MODEL, lqr, 1},
    {"settle", MODEL, settle, 1},
    {"fit", MODEL, fit, 1},
    {"view", MODEL, view, 0},
    {"advance", RUN, advance, 0},
    {"set", RUN, set, 0},
    {"reset", RUN, reset, 0},
    {"time", RUN, time_of, 1},
    {"row", RUN, row, 1},
    {"save", RUN, save, 1},
    {"restore", RUN, restore, 0},
    {"batch", MODEL, batch_new, 1},
    {"batch_set", BATCH, batch_set, 0},
    {"batch_reset", BATCH, batch_reset, 0},
    {"batch_advance", BATCH, batch_advance, 0},
    {"batch_step", BATCH, batch_step, 0},
    {"batch_times", BATCH, batch_times, 1},
    {"batch_rows", BATCH, batch_rows, 1},
    {"batch_failures", BATCH, batch_failures, 1},
    {"batch_save", BATCH, batch_save, 1},
    {"batch_restore", BATCH, batch_restore, 0},
    {"program", MODEL, program_new, 2},
    {"program_at", PROGRAM, program_at, 1},
    {"program_many", PROGRAM, program_many, 1},
};

static const struct Verb *verb_called(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].name, name) == 0) return &verbs[i];
    give_up("trundle_mex has no verb of that name");
    return NULL;
}

static Handle *handle_for(const struct Verb *verb, const mxArray *array)
{
    static const char *const kinds[] = {"", "", "model", "run", "batch", "program"};
    Handle *h = find_handle(array);
    if (!h && verb->needs != ANY)
        give_up("%s: this is no %s, or it was freed", verb->name, kinds[verb->needs]);
    if (h && verb->needs != ANY && h->kind != verb->needs)
        give_up("%s is for a %s, not for a %s", verb->name, kinds[verb->needs], kinds[h->kind]);
    return h;
}

static void keep_loaded(void)
{
    static bool is_first = true;
    if (is_first) {
        mexAtExit(free_all);
        mexLock(); // `clear all` would take the handles along
    }
    is_first = false;
}

TRUNDLE_SEEN void mexFunction(int out_count, mxArray *out[], int in_count, const mxArray *in[])
{
    const struct Verb *verb = verb_called(take_text(in_count ? in[0] : NULL, "the verb"));
    const int own = verb->needs == NOTHING ? 1 : 2;
    Call c;
    memset(&c, 0, sizeof c);
    keep_loaded();
    if (verb->needs != NOTHING) c.handle = handle_for(verb, in_count > 1 ? in[1] : NULL);
    c.in = in + own, c.in_count = in_count > own ? in_count - own : 0;
    if (c.in_count == 0 &&
        (verb->act == load || verb->act == export_verb || verb->act == text ||
         verb->act == report || verb->act == batch_new || verb->act == program_new))
        give_up("%s: something is missing", verb->name);
    mxArray *results[3] = {NULL, NULL, NULL};
    c.out = results, c.out_count = out_count;
    warned[0] = 0;
    verb->act(&c);
    if (warned[0]) mexWarnMsgIdAndTxt("trundle:warning", "%s", warned);
    if (c.err.status) raise_error(&c);
    if (out_count > verb->most_outputs && out_count > 1)
        give_up("%s gives %d at most", verb->name, verb->most_outputs);
    for (int i = 0; i < verb->most_outputs && (i == 0 || i < out_count); i++)
        if (results[i]) out[i] = results[i];
}
