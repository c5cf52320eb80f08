// SPDX-License-Identifier: Apache-2.0
// Linear models, steady motions, feedback, poses on the ground, parameters from recordings.
#include "own.h"

#include <math.h>
#include <string.h>

// ---- linear models, steady motions, feedback -------------------------------------------------

static mxArray *eigenvalues_out(const tr_linear *linear, tr_error *err)
{
    double(*values)[2] = mxCalloc(linear->states + 1, sizeof *values);
    tr_linear_eigenvalues(linear, values, err);
    return matrix_out(&values[0][0], linear->states, 2);
}

void linearise(Call *c)
{
    c->o = take_options(c->in, c->in_count, "reduce step");
    tr_linearise_options how = tr_linearise_defaults();
    how.reduce = c->o.reduce;
    if (c->o.step <= 0) give_up("'step' is to be above 0");
    tr_linear *l = tr_linearise(c->handle->model->system, &how, &c->err);
    if (!l) return;
    const size_t n = l->states, m = l->inputs, k = l->outputs;
    mxArray *out = mxCreateStructMatrix(1, 1, 0, NULL);
    put(out, "A", matrix_out(l->A, n, n));
    put(out, "B", matrix_out(l->B, n, m));
    put(out, "C", matrix_out(l->C, k, n));
    put(out, "D", matrix_out(l->D, k, m));
    put(out, "state", names_out(l->state, n));
    put(out, "input", names_out(l->input, m));
    put(out, "output", names_out(l->output, k));
    put(out, "eigenvalues", eigenvalues_out(l, &c->err));
    if (!isnan(c->o.step)) {
        double *A = mxCalloc(n * n + 1, sizeof *A), *B = mxCalloc(n * m + 1, sizeof *B);
        tr_linear_discretise(l, c->o.step, A, B, &c->err);
        put(out, "Ad", matrix_out(A, n, n));
        put(out, "Bd", matrix_out(B, n, m));
    }
    tr_linear_free(l);
    c->out[0] = out;
}

// [values, names] of all inputs of programs at a state
static mxArray *state_out(const tr_system *system, const double *x)
{
    mxArray *out = mxCreateStructMatrix(1, 1, 0, NULL);
    for (size_t i = 0; i < tr_input_count(system); i++) {
        const tr_kind kind = tr_input_kind(system, i);
        char field[64];
        as_field(tr_input_name(system, i), field, sizeof field);
        if (kind == TR_POSITION || kind == TR_VELOCITY || kind == TR_INPUT || kind == TR_PARAMETER)
            put(out, field, number_out(x[i]));
    }
    return out;
}

void steady(Call *c)
{
    c->o = take_options(c->in, c->in_count, "free hold trim");
    const tr_system *system = c->handle->model->system;
    tr_steady_options how = tr_steady_defaults();
    how.free = c->o.free, how.trim = c->o.trim;
    how.holds = c->o.hold.word, how.hold_count = c->o.hold.count;
    tr_steady *found = tr_steady_find(system, &how, &c->err);
    char *words = tr_steady_text(found, false, &c->err);
    char *fragment = tr_steady_fragment(found, &c->err);
    mxArray *out = mxCreateStructMatrix(1, 1, 0, NULL);
    if (found && fragment) {
        const size_t count = tr_steady_modes(found, NULL);
        double(*modes)[2] = mxCalloc(count + 1, sizeof *modes);
        tr_steady_modes(found, modes);
        put(out, "state", state_out(system, tr_steady_state(found)));
        put(out, "eigenvalues", matrix_out(&modes[0][0], count, 2));
    }
    put(out, "fragment", text_out(fragment));
    put(out, "text", text_out(words));
    tr_steady_free(found);
    c->out[0] = out;
}

static mxArray *locus_out(const tr_locus *l)
{
    mxArray *out = mxCreateStructMatrix(1, 1, 0, NULL);
    const size_t n = l->critical_count;
    mxArray *critical = mxCreateDoubleMatrix(n, 3, mxREAL);
    for (size_t i = 0; i < n; i++) {
        mxGetPr(critical)[i] = l->critical[i].value;
        mxGetPr(critical)[n + i] = l->critical[i].frequency;
        mxGetPr(critical)[2 * n + i] = l->critical[i].is_onset;
    }
    const char **modes = mxCalloc(l->count + 1, sizeof *modes);
    for (size_t i = 0; i < l->count; i++) modes[i] = l->mode_count ? l->names[l->mode[i]] : "";
    put(out, "values", matrix_out(l->values, l->rows, 1));
    put(out, "eigenvalues", matrix_out(l->eigenvalues, l->rows, 2 * l->count));
    put(out, "unsteadiness", matrix_out(l->unsteadiness, l->rows, 1));
    put(out, "modes", names_out(modes, l->count));
    put(out, "critical", critical);
    return out;
}

// locus(NAME, FROM, TO, STEP, ...): eigenvalues against a parameter or an input
void locus(Call *c)
{
    if (c->in_count < 4) give_up("locus(NAME, FROM, TO, STEP, ...): something is missing");
    const char *name = take_text(c->in[0], "the name");
    const double from = take_number(c->in[1], "where it begins"),
                 to = take_number(c->in[2], "where it ends"),
                 step = take_number(c->in[3], "the step");
    c->o = take_options(c->in + 4, c->in_count - 4, "free hold trim");
    tr_steady_options how = tr_steady_defaults();
    how.free = c->o.free, how.trim = c->o.trim;
    how.holds = c->o.hold.word, how.hold_count = c->o.hold.count;
    how.progress = go_on;
    listen();
    tr_locus *l = tr_locus_find(c->handle->model->system, name, from, to, step, &how, &c->err);
    stop_listening(c);
    if (l && !c->err.status) c->out[0] = locus_out(l);
    tr_locus_free(l);
}

void lqr(Call *c)
{
    c->o = take_options(c->in, c->in_count, "inputs q r step");
    tr_lqr_options how = tr_lqr_defaults();
    const char *list = "";
    for (size_t i = 0; i < c->o.inputs.count; i++)
        list = print("%s%s%s", list, i ? "," : "", c->o.inputs.word[i]);
    how.inputs = list, how.q = c->o.q, how.r = c->o.r;
    take_over(&how.step, c->o.step);
    const tr_lqr *l = tr_lqr_design(c->handle->model->system, &how, &c->err);
    if (!l) return;
    char *fragment = tr_lqr_fragment(l, &c->err), *words = tr_lqr_text(l, false, &c->err);
    const size_t n = l->states, m = l->inputs;
    mxArray *out = mxCreateStructMatrix(1, 1, 0, NULL);
    put(out, "K", matrix_out(l->K, m, n));
    put(out, "A", matrix_out(l->A, n, n));
    put(out, "B", matrix_out(l->B, n, m));
    put(out, "Q", matrix_out(l->Q, n, n));
    put(out, "R", matrix_out(l->R, m, m));
    put(out, "N", matrix_out(l->N, n, m));
    put(out, "state", names_out(l->state, n));
    put(out, "input", names_out(l->input, m));
    put(out, "law", names_out(l->law, m));
    put(out, "before", matrix_out(l->before, n, 2));
    put(out, "after", matrix_out(l->after, n, 2));
    put(out, "fragment", text_out(fragment));
    put(out, "text", text_out(words));
    tr_lqr_free(l);
    c->out[0] = out;
}

// ---- settling and fitting ------------------------------------------------------------------

// Rows of columns of poses at rows of `at`, or one; what failed raises its error.
static double *poses(Call *c, tr_settle *settle, size_t rows, size_t width)
{
    const size_t columns = tr_settle_column_count(settle);
    const double *at = c->o.at ? mxGetPr(c->o.at) : NULL;
    double *values = mxCalloc(rows * columns + 1, sizeof *values);
    double *held = mxCalloc(width + 1, sizeof *held);
    listen();
    for (size_t i = 0; i < rows && !c->err.status && go_on(NULL, 0, 0); i++) {
        for (size_t k = 0; k < width; k++) held[k] = at[k * rows + i];
        tr_settle_pose(settle, at ? held : NULL, values + i * columns, &c->err);
    }
    stop_listening(c);
    return values;
}

void settle(Call *c)
{
    c->o = take_options(c->in, c->in_count, "by hold gap weight at");
    const Options *o = &c->o;
    tr_settle_options how = tr_settle_defaults();
    how.by = o->by, how.gap = o->gap;
    how.holds = o->hold.word, how.hold_count = o->hold.count;
    how.weights = o->weight.word, how.weight_count = o->weight.count;
    const size_t rows = o->at ? mxGetM(o->at) : 1, width = o->at ? mxGetN(o->at) : 0;
    if (o->at && width != how.hold_count)
        give_up("'at' is to have a column for each of 'hold', %u in all", (unsigned)how.hold_count);
    tr_settle *s = tr_settle_new(plan_of(c), &how, &c->err);
    if (!s) return;
    const size_t columns = tr_settle_column_count(s);
    char **names = mxCalloc(columns + 1, sizeof *names);
    for (size_t i = 0; i < columns; i++) names[i] = (char *)tr_settle_column_name(s, i);
    const double *values = poses(c, s, rows, width);
    if (!c->err.status) c->out[0] = table_out(values, rows, names, columns);
    tr_settle_free(s);
}

static mxArray *fit_out(const tr_fit *fit)
{
    const size_t n = fit->count;
    mxArray *out = mxCreateStructMatrix(1, 1, 0, NULL), *names = mxCreateCellMatrix(n, 1);
    mxArray *values = mxCreateDoubleMatrix(n, 1, mxREAL), *sds = mxCreateDoubleMatrix(n, 1, mxREAL);
    for (size_t i = 0; i < n; i++) {
        mxSetCell(names, i, mxCreateString(fit->values[i].name));
        mxGetPr(values)[i] = fit->values[i].value;
        mxGetPr(sds)[i] = fit->values[i].sd;
    }
    put(out, "name", names);
    put(out, "value", values);
    put(out, "sd", sds);
    put(out, "covariance", matrix_out(fit->covariance, n, n));
    put(out, "chi_square", number_out(fit->chi_square));
    put(out, "freedom", number_out(fit->freedom));
    put(out, "untold", names_out(fit->untold, fit->untold_count));
    return out;
}

static bool go_on_with_fit(void *owner, size_t run, double t, double end)
{
    (void)run;
    return go_on(owner, t, end);
}

// fit(..., with the options of load, too): of the model as it was loaded
void fit(Call *c)
{
    c->o = take_options(c->in, c->in_count,
                        OF_LOAD " data free columns match sd prior time from to method step rtol "
                                "atol most_steps most_iterations");
    const Options *o = &c->o;
    const tr_derive_options derive = derive_options(c);
    tr_fit_options f = tr_fit_defaults();
    f.data = o->data.word, f.data_count = o->data.count;
    f.free = o->free, f.columns = o->columns;
    f.matches = o->match.word, f.match_count = o->match.count;
    f.sds = o->sd.word, f.sd_count = o->sd.count;
    f.priors = o->prior.word, f.prior_count = o->prior.count;
    if (o->time) f.time = o->time;
    if (o->method) f.method = o->method;
    f.from = o->from, f.to = o->to_time;
    take_over(&f.step, o->step);
    take_over(&f.rtol, o->rtol);
    take_over(&f.atol, o->atol);
    if (o->most_steps >= 0 && o->most_steps < 9e15) f.most_steps = (size_t)o->most_steps;
    if (o->most_iterations >= 1 && o->most_iterations < 1e6)
        f.most_iterations = (size_t)o->most_iterations;
    f.progress = go_on_with_fit;
    listen();
    const tr_fit *found = tr_fit_find(c->handle->model->model, &derive, &f, &c->err);
    if (was_interrupted()) memset(&c->err, 0, sizeof c->err);
    stop_listening(c);
    char *fragment = tr_fit_fragment(found, &c->err), *words = tr_fit_text(found, false, &c->err);
    mxArray *out = found ? fit_out(found) : mxCreateStructMatrix(1, 1, 0, NULL);
    put(out, "fragment", text_out(fragment));
    put(out, "text", text_out(words));
    tr_fit_free(found);
    c->out[0] = out;
}
