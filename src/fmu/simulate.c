// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/options.h"
#include "fmu/run.h"
#include "fmu/schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const Place nowhere = {0};

void tr_fmu_fill(tr_fmu_options *options, size_t size)
{
    const tr_fmu_options own = {
        .size = sizeof own, .start = (double)NAN, .end = (double)NAN, .method = "bdf"};
    tr_give_options(options, size, &own, sizeof own);
}

// ---- columns -------------------------------------------------------------------------------

// What changes and can be shown as a number
static bool is_shown(const Variable *v)
{
    return is_number(v) && !v->is_alias && v->causality != INDEPENDENT &&
           v->variability >= DISCRETE &&
           (v->causality == OUTPUT || v->causality == LOCAL || v->causality == INPUT);
}

// A name as a column's: commas part columns.
static char *label_of(const Variable *v, uint32_t element)
{
    char at[20] = "";
    if (v->is_array) snprintf(at, sizeof at, "[%u]", element + 1);
    const size_t size = strlen(v->name) + strlen(at) + 1;
    char *label = malloc(size);
    if (!label) return NULL;
    snprintf(label, size, "%s%s", v->name, at);
    for (char *c = label; *c; c++)
        if (*c == ',') *c = ';';
    return label;
}

// Outputs come first, then the rest, each in the order of the file.
static bool choose_columns(FmuRun *run, tr_error *err)
{
    const Description *d = &run->fmu.description;
    size_t most = 1;
    for (uint32_t k = 0; k < d->count; k++)
        most += is_shown(&d->variables[k]) ? d->variables[k].size : 0;
    run->shown = calloc(d->count + 1u, sizeof *run->shown);
    run->labels = calloc(most, sizeof *run->labels);
    run->units = calloc(most, sizeof *run->units);
    run->row = calloc(most, sizeof *run->row);
    if (!run->shown || !run->labels || !run->units || !run->row) return tr_fail_memory(err), false;
    run->labels[0] = strdup("t"), run->units[0] = "s", run->columns = 1;
    if (!run->labels[0]) return tr_fail_memory(err), false;
    for (int outputs = 1; outputs >= 0; outputs--)
        for (uint32_t k = 0; k < d->count; k++) {
            const Variable *v = &d->variables[k];
            if (!is_shown(v) || (v->causality == OUTPUT) != outputs) continue;
            run->shown[run->shown_count++] = k;
            for (uint32_t e = 0; e < v->size; e++) {
                run->units[run->columns] = v->unit ? v->unit : "";
                run->labels[run->columns] = label_of(v, e);
                if (!run->labels[run->columns++]) return tr_fail_memory(err), false;
            }
        }
    return true;
}

// ---- rows ----------------------------------------------------------------------------------

double tr_fmu_next_row(const FmuRun *run)
{
    const double last = floor((run->end - run->start) / run->every * (1 + 1e-12));
    if ((double)run->next <= last)
        return fmin(run->start + (double)run->next * run->every, run->end);
    const bool is_end_due = (double)run->next <= last + 1 &&
                            run->end - run->start - last * run->every > 1e-9 * run->every;
    return is_end_due ? run->end : (double)INFINITY;
}

static bool begin_sinks(FmuRun *run, tr_error *err)
{
    const tr_fmu_options *o = run->options;
    if (o->output)
        run->record = tr_record_open(o->output, (const char *const *)run->labels,
                                     (uint32_t)run->columns, err);
    for (size_t i = 0; i < o->sink_count && !has_failed(err); i++)
        if (o->sinks[i].begin)
            o->sinks[i].begin(o->sinks[i].owner, (const char *const *)run->labels, run->units,
                              run->columns, err);
    return !has_failed(err);
}

bool tr_fmu_row(FmuRun *run, double t, tr_error *err)
{
    const tr_fmu_options *o = run->options;
    run->row[0] = t;
    if (!tr_instance_get(&run->instance, run->shown, run->shown_count, run->row + 1, err))
        return false;
    if (run->record) tr_record_row(run->record, run->row, err);
    for (size_t i = 0; i < o->sink_count && !has_failed(err); i++)
        if (o->sinks[i].row) o->sinks[i].row(o->sinks[i].owner, run->row, err);
    run->summary->rows++;
    while (tr_fmu_next_row(run) <= t + 1e-9 * run->every) run->next++;
    if (o->most_numbers && run->summary->rows * run->columns > o->most_numbers)
        tr_fail(err, TR_FAILED, nowhere,
                "the run needs more than %zu numbers: fewer rows, or a higher limit",
                o->most_numbers);
    return !has_failed(err);
}

static void end_sinks(FmuRun *run, tr_error *err)
{
    const tr_fmu_options *o = run->options;
    char certificate[100];
    snprintf(certificate, sizeof certificate, "{\"rows\": %zu, \"steps\": %zu}\n",
             run->summary->rows, run->summary->steps);
    if (run->record && run->summary->rows)
        tr_record_close(run->record, err);
    else
        tr_record_discard(run->record);
    for (size_t i = 0; i < o->sink_count; i++)
        if (o->sinks[i].end) o->sinks[i].end(o->sinks[i].owner, certificate, err);
}

bool tr_fmu_stepped(FmuRun *run, double t, tr_error *err)
{
    const tr_fmu_options *o = run->options;
    run->summary->steps++;
    if (o->most_steps && run->summary->steps > o->most_steps)
        tr_fail(err, TR_FAILED, nowhere, "the run needs more than %zu steps, at t = %.9g",
                o->most_steps, t);
    if (!has_failed(err) && o->progress && !o->progress(o->owner, t, run->end))
        run->is_over = run->summary->interrupted = true;
    return !has_failed(err);
}

// ---- inputs over time ----------------------------------------------------------------------

static bool open_inputs(FmuRun *run, tr_error *err)
{
    const Description *d = &run->fmu.description;
    if (!run->options->inputs) return true;
    run->sheet = tr_sheet_read(run->options->inputs, err);
    if (!run->sheet) return false;
    run->times = tr_sheet_column(run->sheet, "t");
    run->signals = calloc(run->sheet->columns + 1, sizeof *run->signals);
    if (!run->signals) return tr_fail_memory(err), false;
    if (!run->times || !run->sheet->rows)
        return tr_fail(err, TR_INVALID, nowhere,
                       "%.200s: inputs over time need a column 't', and rows",
                       run->options->inputs),
               false;
    for (size_t r = 0; r < run->sheet->rows; r++)
        if (!isfinite(run->times[r]) || (r && !(run->times[r] > run->times[r - 1])))
            return tr_fail(err, TR_INVALID, nowhere, "%.200s: line %d: times must increase",
                           run->options->inputs, tr_sheet_line(run->sheet, r)),
                   false;
    for (size_t c = 0; c < run->sheet->columns; c++) {
        const char *name = run->sheet->names[c];
        const uint32_t k = tr_variable_named(d, name);
        if (strcmp(name, "t") == 0) continue;
        const Variable *v = k == NO_VARIABLE ? NULL : &d->variables[k];
        if (!v || v->causality != INPUT || !is_number(v) || v->size != 1)
            return tr_fail(err, TR_INVALID, nowhere,
                           "%.200s: '%.60s' is no input of the FMU that is one number",
                           run->options->inputs, name),
                   false;
        run->signals[run->signal_count++] =
            (Signal){k, tr_sheet_column(run->sheet, name), (double)NAN};
    }
    return true;
}

// The row at t or the last before it; the first where there is none
static size_t row_at(const FmuRun *run, double t)
{
    size_t low = 0, high = run->sheet->rows;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (run->times[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool varies_continuously(const FmuRun *run, const Signal *s)
{
    return run->fmu.description.variables[s->variable].variability == CONTINUOUS;
}

bool tr_fmu_set_inputs(FmuRun *run, double t, bool all, tr_error *err)
{
    if (!run->signal_count) return true;
    const size_t r = row_at(run, t);
    for (uint32_t i = 0; i < run->signal_count; i++) {
        Signal *s = &run->signals[i];
        const bool is_continuous = varies_continuously(run, s);
        if (!is_continuous && !all) continue;
        double value = s->values[r];
        if (is_continuous && r + 1 < run->sheet->rows && t > run->times[r])
            value += (s->values[r + 1] - value) * (t - run->times[r]) /
                     (run->times[r + 1] - run->times[r]);
        if (!tr_instance_set(&run->instance, &s->variable, 1, &value, err)) return false;
        s->last = value;
    }
    return true;
}

bool tr_fmu_inputs_jump(const FmuRun *run, double t)
{
    if (!run->signal_count) return false;
    const size_t r = row_at(run, t);
    for (uint32_t i = 0; i < run->signal_count; i++) {
        const Signal *s = &run->signals[i];
        if (!varies_continuously(run, s) && s->values[r] != s->last) return true;
    }
    return false;
}

double tr_fmu_next_knot(const FmuRun *run, double t)
{
    if (!run->signal_count) return (double)INFINITY;
    size_t r = row_at(run, t);
    while (r < run->sheet->rows && run->times[r] <= t) r++;
    return r < run->sheet->rows ? run->times[r] : (double)INFINITY;
}

// ---- settings ------------------------------------------------------------------------------

static void fail_unknown(const FmuRun *run, const char *name, tr_error *err)
{
    const Description *d = &run->fmu.description;
    char hint[TR_HINT_SIZE];
    Suggestion suggestion = {.wanted = text_of(name)};
    for (uint32_t k = 0; k < d->count; k++)
        if (d->variables[k].start && d->variables[k].variability != CONSTANT)
            tr_suggest(&suggestion, text_of(d->variables[k].name));
    tr_fail(err, TR_USAGE, nowhere, "--set: the FMU has no variable '%.60s'%s", name,
            tr_hint(&suggestion, hint));
}

// Whether a number can be a value of the type
static bool fits(const Variable *v, double value)
{
    if (is_real(v)) return isfinite(value);
    return value == floor(value) && value >= v->least && value <= v->most;
}

static bool set_one(FmuRun *run, const tr_setting *setting, tr_error *err)
{
    const Description *d = &run->fmu.description;
    const uint32_t k = tr_variable_named(d, setting->name);
    if (k == NO_VARIABLE) return fail_unknown(run, setting->name, err), false;
    const Variable *v = &d->variables[k];
    const bool can_be_set = v->start && v->variability != CONSTANT &&
                            v->causality != STRUCTURAL_PARAMETER &&
                            (v->initial == EXACT || v->initial == APPROX || v->causality == INPUT);
    if (!can_be_set)
        return tr_fail(err, TR_USAGE, nowhere, "--set: '%.60s' cannot be set: it is %s", v->name,
                       v->variability == CONSTANT             ? "constant"
                       : v->causality == STRUCTURAL_PARAMETER ? "structural: sizes stay as they are"
                                                              : "calculated"),
               false;
    if (v->type == TYPE_STRING)
        return tr_instance_set_text(&run->instance, k, setting->formula, err);
    double value;
    bool flag;
    const bool is_flag = v->type == TYPE_BOOLEAN && tr_read_flag(setting->formula, &flag);
    if (is_flag) value = flag;
    if (!is_number(v) || (!is_flag && !tr_read_number(setting->formula, &value)) || !fits(v, value))
        return tr_fail(err, TR_USAGE, nowhere, "--set: '%.60s' is %s, and cannot be '%.60s'",
                       v->name, tr_variable_types[v->type], setting->formula),
               false;
    if (value < v->least || value > v->most)
        return tr_fail(err, TR_INVALID, nowhere,
                       "--set: '%.60s' = %.9g is not between %.9g and %.9g", v->name, value,
                       v->least, v->most),
               false;
    double *values = calloc(v->size + 1u, sizeof *values); // all elements of an array
    if (!values) return tr_fail_memory(err), false;
    for (uint32_t e = 0; e < v->size; e++) values[e] = value;
    const bool good = tr_instance_set(&run->instance, &k, 1, values, err);
    free(values);
    return good;
}

bool tr_fmu_set_start(FmuRun *run, tr_error *err)
{
    for (size_t i = 0; i < run->options->setting_count; i++)
        if (!set_one(run, &run->options->settings[i], err)) return false;
    return true;
}

// ---- the run -------------------------------------------------------------------------------

static bool choose_kind(FmuRun *run, tr_error *err)
{
    const Description *d = &run->fmu.description;
    const char *kind = run->options->kind;
    if (!kind) kind = d->me.xml || !d->cs.xml ? "me" : "cs";
    if (strcmp(kind, "me") != 0 && strcmp(kind, "cs") != 0)
        return tr_fail(err, TR_USAGE, nowhere, "an FMU is of kind me or cs, not '%.20s'", kind),
               false;
    run->kind = kind[0] == 'm' ? FMI_ME : FMI_CS;
    if (run->kind == FMI_ME ? !d->me.xml : !d->cs.xml)
        return tr_fail(err, TR_FAILED, nowhere, "this FMU is not for %s: it has no <%s>",
                       run->kind == FMI_ME ? "model exchange" : "co-simulation",
                       run->kind == FMI_ME ? "ModelExchange" : "CoSimulation"),
               false;
    return true;
}

static bool choose_times(FmuRun *run, tr_error *err)
{
    const Description *d = &run->fmu.description;
    const tr_fmu_options *o = run->options;
    run->start = !isnan(o->start) ? o->start : !isnan(d->start_time) ? d->start_time : 0;
    run->end = !isnan(o->end) ? o->end : d->stop_time > run->start ? d->stop_time : run->start + 10;
    run->every = o->every != 0 ? o->every : (run->end - run->start) / 500;
    run->step = o->step != 0 ? o->step : d->step > 0 ? d->step : run->every;
    run->rtol = o->rtol != 0 ? o->rtol : d->tolerance > 0 ? d->tolerance : 1e-6;
    run->atol = o->atol != 0 ? o->atol : run->rtol / 100;
    const struct {
        const char *what;
        bool good;
    } facts[] = {{"the end must be after the start",
                  isfinite(run->start) && isfinite(run->end) && run->end > run->start},
                 {"rows must be apart: --every", isfinite(run->every) && run->every > 0},
                 {"steps must be positive: --step", isfinite(run->step) && run->step > 0},
                 {"tolerances must be positive: --rtol, --atol",
                  isfinite(run->rtol) && run->rtol > 0 && isfinite(run->atol) && run->atol > 0}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (!facts[i].good) return tr_fail(err, TR_USAGE, nowhere, "%s", facts[i].what), false;
    if ((run->end - run->start) / fmin(run->every, run->step) > 1e12)
        return tr_fail(err, TR_USAGE, nowhere, "so many rows or steps never end"), false;
    return true;
}

// What is against the standard is told, and does not stop a run that can be made.
static bool tell_findings(const FmuRun *run, tr_error *err)
{
    const Findings *f = &run->fmu.findings;
    tr_fmu_findings_fail(f, WRECK, err);
    if (has_failed(err)) return false;
    if (run->options->found && f->of[MISTAKE])
        run->options->found(run->options->owner, true,
                            "the FMU is not as the standard asks for: see trundle check");
    return true;
}

static bool prepare(FmuRun *run, tr_error *err)
{
    const tr_fmu_options *o = run->options;
    const Description *d = &run->fmu.description;
    return tell_findings(run, err) && choose_kind(run, err) && choose_times(run, err) &&
           open_inputs(run, err) && choose_columns(run, err) &&
           tr_binary_load(&run->binary, &run->fmu, run->kind, o->build, err) &&
           tr_instance_new(&run->instance, &run->binary, d->token,
                           (Listener){o->say, o->owner, o->all_messages}, err);
}

static void close_run(FmuRun *run)
{
    tr_instance_free(&run->instance);
    tr_binary_unload(&run->binary);
    for (size_t i = 0; run->labels && i < run->columns; i++) free(run->labels[i]);
    free(run->labels), free(run->units), free(run->row), free(run->shown), free(run->signals);
    tr_sheet_free(run->sheet);
    tr_fmu_close(&run->fmu);
}

bool tr_fmu_simulate(const char *path, const tr_fmu_options *given, tr_summary *summary,
                     tr_error *err)
{
    tr_fmu_options options = tr_fmu_defaults();
    tr_summary own = {0};
    if (!path || !tr_take_options(&options, sizeof options, given, "tr_fmu_defaults", err))
        return false;
    FmuRun run = {.options = &options, .summary = &own};
    const double began = seconds_now();
    bool good = tr_fmu_open(&run.fmu, path, err) && prepare(&run, err);
    if (good) {
        good = begin_sinks(&run, err) &&
               (run.kind == FMI_ME ? tr_fmu_me(&run, err) : tr_fmu_cs(&run, err));
        end_sinks(&run, err);
    }
    close_run(&run);
    own.seconds = seconds_now() - began;
    if (summary) *summary = own;
    return !has_failed(err);
}
