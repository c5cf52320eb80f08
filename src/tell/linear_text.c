// SPDX-License-Identifier: Apache-2.0
// What `linearise` says: the linear model, its eigenvalues and modes, what can be steered and seen,
// as words, JSON, CSV or a .mat file.
#include "base/arena.h"
#include "base/json.h"
#include "base/mat.h"
#include "base/number.h"
#include "base/options.h"
#include "linear/modes.h"
#include "num/dense.h"
#include "tell/eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// All that is said about a linear model
typedef struct Study {
    const System *system;
    Linear *linear;
    Modes *modes;
    uint32_t removed; // displacements, as symmetries
    int controllable, observable;
    double acceleration; // the largest at the state: 0 where it is steady
    double step, *Ad, *Bd;
    Linear *loop;       // that controllers and sensors close from one instant to the next; or NULL
    double (*roots)[2]; // its eigenvalues
} Study;

void tr_linearise_fill(tr_linearise_options *options, size_t size)
{
    const tr_linearise_options plain = {0};
    tr_give_options(options, size, &plain, sizeof plain);
}

// ---- taking it -----------------------------------------------------------------------------

static Linear *take(const System *system, const tr_linearise_options *o, Study *study,
                    tr_error *err)
{
    Lineariser *l = tr_lineariser_new(system, err);
    Linear *linear = l ? tr_lineariser_take(l, err) : NULL;
    if (linear && study) study->acceleration = tr_lineariser_unsteadiness(l);
    tr_lineariser_free(l);
    if (!linear || !o->reduce) return linear;
    Linear *reduced = tr_linear_reduced(linear, 0, err);
    if (reduced && study) study->removed = linear->states - reduced->states;
    tr_linear_free(linear);
    return reduced;
}

static bool take_options(tr_linearise_options *own, const System *system,
                         const tr_linearise_options *given, tr_error *err)
{
    *own = tr_linearise_defaults();
    return system && tr_take_options(own, sizeof *own, given, "tr_linearise_defaults", err);
}

tr_linear *tr_linearise(const tr_system *system, const tr_linearise_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_linearise_options o;
    return take_options(&o, system, options, err) ? take(system, &o, NULL, err) : NULL;
}

static bool take_loop(Study *s, tr_error *err)
{
    if (s->step == 0 || !s->system->clocked_count) return true;
    s->loop = tr_linearise_loop(s->system, s->step, NULL, err);
    s->roots = s->loop ? calloc(s->loop->states + 1u, sizeof *s->roots) : NULL;
    if (s->loop && !s->roots) tr_fail_memory(err);
    return s->roots && tr_linear_eigenvalues(s->loop, s->roots, err);
}

static bool take_study(Study *s, const System *system, const tr_linearise_options *o, tr_error *err)
{
    s->system = system;
    s->step = o->step;
    s->linear = take(system, o, s, err);
    s->modes = tr_modes_new(s->linear, err);
    if (!s->modes) return false;
    s->controllable = tr_controllable(s->linear);
    s->observable = tr_observable(s->linear);
    const size_t n = s->linear->states, m = s->linear->inputs;
    s->Ad = calloc(n * n + n * m + 1, sizeof *s->Ad);
    if (!s->Ad || s->controllable < 0 || s->observable < 0) return tr_fail_memory(err), false;
    s->Bd = s->Ad + n * n;
    return s->step == 0 ||
           (tr_linear_discretise(s->linear, s->step, s->Ad, s->Bd, err) && take_loop(s, err));
}

static void release_study(Study *s)
{
    tr_linear_free(s->linear);
    tr_modes_free(s->modes);
    tr_linear_free(s->loop);
    free(s->roots);
    free(s->Ad);
}

// ---- names ---------------------------------------------------------------------------------

// Along or about an axis of a body. Inner velocities are along axes that are turned to fit an
// oblique hinge, such as that of a fork.
static void describe_motion(const Input *velocity, bool is_displacement, char *out, size_t size)
{
    const Port *port = &velocity->port;
    const bool turns = port->quantity == QUANTITY_ANGULAR_SPEED;
    static const char *const words[2][2] = {{"velocity along", "angular velocity about"},
                                            {"displacement along", "rotation about"}};
    const Quantity displacement = turns ? QUANTITY_ANGLE : QUANTITY_LENGTH;
    snprintf(out, size, "%s %s %s axis [%s]", words[is_displacement][turns],
             velocity->kind == TR_INNER ? "a tilted" : "the body's own", port->component + 1,
             tr_quantity_unit(is_displacement ? displacement : port->quantity));
}

static void describe_state(const Study *s, uint32_t k, char *out, size_t size)
{
    const char *name = s->linear->state[k];
    const uint32_t of = s->linear->state_of[k];
    const Input *input = &s->system->inputs[of];
    const bool is_displacement = k < s->linear->displacements;
    const bool is_rate = input->port.rate_of != NO_INPUT;
    if (is_displacement && is_rate)
        snprintf(out, size, "change of the coordinate %.100s", name);
    else if (input->kind == TR_POSITION)
        snprintf(out, size, "change of %.100s, a state of its own", name);
    else if (is_rate)
        snprintf(out, size, "rate of %.100s", tr_system_joint_name(s->system, of));
    else if (input->kind != TR_SPEED && input->port.component[0])
        describe_motion(input, is_displacement, out, size);
    else
        snprintf(out, size, is_displacement ? "displacement %.100s" : "the speed %.100s", name);
}

// ---- warnings ------------------------------------------------------------------------------

// To so many digits, as short as that can be written; 0: all
static const char *rounded(double value, int digits, char out[TR_NUMBER_SIZE])
{
    tr_number_print((digits ? tr_number_rounded(value, digits) : value) + 0, out); // -0 is 0
    return out;
}

static bool is_steady(const Study *s) { return s->acceleration <= 1e-9; }

static void say_unsteady(const Study *s, char *out, size_t size)
{
    char number[TR_NUMBER_SIZE];
    snprintf(out, size, "the state is not steady: accelerations up to %s",
             rounded(s->acceleration, 3, number));
}

static void say_kink(const char *output, char *out, size_t size)
{
    snprintf(out, size,
             "the derivative of the output '%.100s' is not finite at this state: it has no rows in "
             "C and D",
             output);
}

static const char held_words[] =
    "controllers and sensors hold what they say: --step shows the loop that they close";
static bool holds(const Study *s) { return s->system->clocked_count && !s->loop; }

// To who asked for them: what files of numbers alone do not say
static void warn(const Study *s, const tr_linearise_options *o)
{
    char words[300];
    if (o->say && holds(s)) o->say(o->owner, held_words);
    for (uint32_t i = 0; o->say && i < s->linear->outputs; i++) {
        if (tr_linear_has_output(s->linear, i)) continue;
        say_kink(s->linear->output[i], words, sizeof words);
        o->say(o->owner, words);
    }
}

// ---- JSON ----------------------------------------------------------------------------------

static void add_warnings(Json *j, const Study *s)
{
    char words[300];
    tr_json_open(j, "warnings", '[');
    if (holds(s)) tr_json_text(j, NULL, held_words);
    if (!is_steady(s)) {
        say_unsteady(s, words, sizeof words);
        tr_json_text(j, NULL, words);
    }
    for (uint32_t i = 0; i < s->linear->outputs; i++) {
        if (tr_linear_has_output(s->linear, i)) continue;
        say_kink(s->linear->output[i], words, sizeof words);
        tr_json_text(j, NULL, words);
    }
    tr_json_close(j, ']');
}

// The eigenvector of each eigenvalue, and the states' shares in it
static void add_modes(Json *j, const Modes *m)
{
    tr_json_open(j, "modes", '[');
    for (uint32_t k = 0; k < m->count; k++) {
        tr_json_open(j, NULL, '{');
        tr_json_open(j, "vector", '[');
        for (uint32_t i = 0; i < m->count; i++)
            tr_json_numbers(j, NULL, m->vectors + 2 * ((size_t)k * m->count + i), 2);
        tr_json_close(j, ']');
        tr_json_numbers(j, "shares", m->shares + (size_t)k * m->count, m->count);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

static void write_json(const Study *s, Json *j)
{
    const Linear *l = s->linear;
    tr_json_open(j, NULL, '{');
    tr_json_texts(j, "states", l->state, l->states);
    tr_json_texts(j, "inputs", l->input, l->inputs);
    tr_json_texts(j, "outputs", l->output, l->outputs);
    tr_json_matrix(j, "A", l->A, l->states, l->states);
    tr_json_matrix(j, "B", l->B, l->states, l->inputs);
    tr_json_matrix(j, "C", l->C, l->outputs, l->states);
    tr_json_matrix(j, "D", l->D, l->outputs, l->inputs);
    tr_json_matrix(j, "eigenvalues", s->modes->values, s->modes->count, 2);
    tr_json_numbers(j, "damping", s->modes->damping, s->modes->count);
    tr_json_numbers(j, "frequency", s->modes->frequency, s->modes->count);
    add_modes(j, s->modes);
    tr_json_number(j, "displacements", l->displacements);
    tr_json_number(j, "symmetries_removed", s->removed);
    tr_json_number(j, "controllable", s->controllable);
    tr_json_number(j, "observable", s->observable);
    tr_json_number(j, "largest_acceleration", s->acceleration);
    add_warnings(j, s);
    tr_json_open(j, "about", '{');
    for (uint32_t i = 0; i < l->states; i++) {
        char words[300];
        describe_state(s, i, words, sizeof words);
        tr_json_text(j, l->state[i], words);
    }
    tr_json_close(j, '}');
    if (s->step > 0) {
        tr_json_open(j, "discrete", '{');
        tr_json_number(j, "step", s->step);
        tr_json_matrix(j, "A", s->Ad, l->states, l->states);
        tr_json_matrix(j, "B", s->Bd, l->states, l->inputs);
        tr_json_close(j, '}');
    }
    if (s->loop) {
        const Linear *loop = s->loop;
        tr_json_open(j, "closed_loop", '{');
        tr_json_number(j, "step", s->step);
        tr_json_texts(j, "states", loop->state, loop->states);
        tr_json_texts(j, "inputs", loop->input, loop->inputs);
        tr_json_matrix(j, "A", loop->A, loop->states, loop->states);
        tr_json_matrix(j, "B", loop->B, loop->states, loop->inputs);
        tr_json_matrix(j, "eigenvalues", s->roots[0], loop->states, 2);
        tr_json_close(j, '}');
    }
    tr_json_close(j, '}');
}

// ---- words ---------------------------------------------------------------------------------

// Of those that are numbers
static double largest_number(const double *X, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(X[i])) most = larger(most, fabs(X[i]));
    return most;
}

static void write_matrix(const char *name, const double *X, uint32_t rows, uint32_t columns,
                         const char *const *labels, Buffer *text)
{
    char number[TR_NUMBER_SIZE];
    const int digits = text->digits;
    if (!rows || !columns) return;
    tr_buffer_print(text, "\n%s\n", name);
    const double noise = digits ? 1e-13 * largest_number(X, (size_t)rows * columns) : 0;
    for (uint32_t i = 0; i < rows; i++) {
        tr_buffer_print(text, "  %-18s", labels[i]);
        for (uint32_t k = 0; k < columns; k++) {
            const double x = X[(size_t)i * columns + k];
            tr_buffer_print(text, " %11s",
                            isnan(x) ? "-" : rounded(fabs(x) > noise ? x : 0, digits, number));
        }
        tr_buffer_add(text, "\n", 1);
    }
}

static void write_names(const char *title, const char *const *names, uint32_t count, Buffer *text)
{
    if (!count) return;
    tr_buffer_print(text, "\n%s\n ", title);
    for (uint32_t i = 0; i < count; i++) tr_buffer_print(text, " %s", names[i]);
    tr_buffer_add(text, "\n", 1);
}

// The states with the largest shares
static void write_shares(const Study *s, uint32_t mode, Buffer *text)
{
    const uint32_t n = s->modes->count;
    const double *shares = s->modes->shares + (size_t)mode * n;
    double below = (double)INFINITY;
    uint32_t last = n;
    for (int most = 0; most < 3; most++) {
        uint32_t best = n;
        for (uint32_t i = 0; i < n; i++) {
            const bool later = shares[i] < below || (shares[i] == below && i > last);
            if (later && last != i && (best == n || shares[i] > shares[best])) best = i;
        }
        if (best == n || shares[best] < 0.05) break;
        tr_buffer_print(text, "%s%s %.0f %%", most ? ", " : "", s->linear->state[best],
                        100 * shares[best]);
        below = shares[best], last = best;
    }
}

static void write_eigenvalues(const Study *s, Buffer *text)
{
    const Modes *m = s->modes;
    char re[TR_NUMBER_SIZE], im[TR_NUMBER_SIZE], zeta[TR_NUMBER_SIZE], omega[TR_NUMBER_SIZE];
    const int digits = text->digits;
    const double noise = tr_noise(m->values, 2 * (size_t)m->count, 1, text);
    tr_buffer_print(text, "\neigenvalues\n  %-12s %-12s %-10s %-12s %s\n", "real [1/s]",
                    "imaginary", "damping", "[rad/s]", "in");
    for (uint32_t k = 0; k < m->count; k++) {
        const double *l = m->values + 2 * (size_t)k;
        const bool pair = l[1] > 0;
        if (l[1] < 0) continue; // with its conjugate
        char part[TR_NUMBER_SIZE + 8];
        snprintf(part, sizeof part, "%s%s", pair ? "+-" : "", rounded(l[1], digits, im));
        tr_buffer_print(text, "  %-12s %-12s %-10s %-12s ",
                        rounded(fabs(l[0]) < noise ? 0 : l[0], digits, re), part,
                        isnan(m->damping[k]) ? "-" : rounded(m->damping[k], digits, zeta),
                        rounded(m->frequency[k], digits, omega));
        write_shares(s, k, text);
        tr_buffer_add(text, "\n", 1);
    }
}

static void write_count(Buffer *text, const char *before, uint32_t count, const char *one_thing,
                        const char *things)
{
    tr_buffer_print(text, "%s %u %s", before, count, count == 1 ? one_thing : things);
}

static void write_head(const Study *s, Buffer *text)
{
    const Linear *l = s->linear;
    char words[300];
    const char *title = s->system->title ? s->system->title : "";
    tr_buffer_print(text, "%s%slinear model", title, title[0] ? ", " : "");
    write_count(text, ":", l->states, "state", "states");
    write_count(text, ",", l->inputs, "input", "inputs");
    write_count(text, ",", l->outputs, "output", "outputs");
    if (s->removed) write_count(text, "; left out:", s->removed, "symmetry", "symmetries");
    tr_buffer_print(text, "\n");
    if (!is_steady(s)) {
        say_unsteady(s, words, sizeof words);
        tr_buffer_print(text, "%s\n", words);
    }
    for (uint32_t i = 0; i < l->outputs; i++) {
        if (tr_linear_has_output(l, i)) continue;
        say_kink(l->output[i], words, sizeof words);
        tr_buffer_print(text, "%s\n", words);
    }
    if (holds(s)) tr_buffer_print(text, "%s\n", held_words);
    tr_buffer_print(text, "\nstates\n");
    for (uint32_t i = 0; i < l->states; i++) {
        describe_state(s, i, words, sizeof words);
        tr_buffer_print(text, "  %-18s %s\n", l->state[i], words);
    }
}

// With the rates and frequencies that lead from one instant to the next
static void write_roots(const Study *s, Buffer *text)
{
    char number[4][TR_NUMBER_SIZE];
    tr_buffer_print(text, "\neigenvalues\n  %-12s %-12s %-12s %-12s %s\n", "real", "imaginary",
                    "size", "rate [1/s]", "[rad/s]");
    for (uint32_t k = 0; k < s->loop->states; k++) {
        const double re = s->roots[k][0], im = s->roots[k][1], size = hypot(re, im);
        const double rate = fabs(size - 1) < 1e-13 ? 0 : log(size) / s->step,
                     values[] = {re, im, size, rate};
        if (im < 0) continue; // with its conjugate
        for (int i = 0; i < 4; i++) rounded(values[i], text->digits, number[i]);
        tr_buffer_print(text, "  %-12s %s%-*s %-12s %-12s ", number[0], im > 0 ? "+-" : "",
                        im > 0 ? 10 : 12, number[1], number[2], size > 0 ? number[3] : "-");
        tr_buffer_print(text, "%s\n",
                        size > 0 ? rounded(atan2(im, re) / s->step, text->digits, number[0]) : "-");
    }
}

static void write_loop(const Study *s, Buffer *text)
{
    const Linear *l = s->loop;
    char number[TR_NUMBER_SIZE];
    if (!l) return;
    tr_buffer_print(text,
                    "\nthe loop that controllers and sensors close, from just before samples to "
                    "%s s later\n",
                    rounded(s->step, text->digits, number));
    write_names("states", l->state, l->states, text);
    write_names("inputs", l->input, l->inputs, text);
    write_roots(s, text);
    write_matrix("A", l->A, l->states, l->states, l->state, text);
    write_matrix("B", l->B, l->states, l->inputs, l->state, text);
}

static void write_words(const Study *s, Buffer *text)
{
    const Linear *l = s->linear;
    char number[TR_NUMBER_SIZE];
    text->digits = s->system->digits;
    write_head(s, text);
    write_names("inputs", l->input, l->inputs, text);
    write_names("outputs", l->output, l->outputs, text);
    write_eigenvalues(s, text);
    if (l->inputs)
        tr_buffer_print(text, "\ninputs reach %d of %u directions", s->controllable, l->states);
    if (l->outputs)
        tr_buffer_print(text, "\noutputs show %d of %u directions", s->observable, l->states);
    if (l->inputs || l->outputs) tr_buffer_add(text, "\n", 1);
    write_matrix("A", l->A, l->states, l->states, l->state, text);
    write_matrix("B", l->B, l->states, l->inputs, l->state, text);
    write_matrix("C", l->C, l->outputs, l->states, l->output, text);
    write_matrix("D", l->D, l->outputs, l->inputs, l->output, text);
    if (s->step == 0) return;
    tr_buffer_print(text, "\nfrom one instant to the next, %s s later",
                    rounded(s->step, text->digits, number));
    write_matrix("A", s->Ad, l->states, l->states, l->state, text);
    write_matrix("B", s->Bd, l->states, l->inputs, l->state, text);
    write_loop(s, text);
}

char *tr_linearise_text(const tr_system *system, const tr_linearise_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_linearise_options o;
    Study s = {0};
    Json j = {0};
    if (!take_options(&o, system, options, err)) return NULL;
    if (take_study(&s, system, &o, err)) {
        warn(&s, &o);
        if (o.json)
            write_json(&s, &j);
        else
            write_words(&s, &j.text);
    }
    release_study(&s);
    return tr_text_finish(&j.text, err);
}

// ---- CSV -----------------------------------------------------------------------------------

// A name with a comma or a quote in it stands in quotes.
static void add_field(Buffer *text, const char *name)
{
    if (!strpbrk(name, ",\"\n")) {
        tr_buffer_print(text, "%s,", name);
        return;
    }
    tr_buffer_add(text, "\"", 1);
    for (const char *c = name; *c; c++)
        tr_buffer_add(text, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    tr_buffer_add(text, "\",", 2);
}

static void add_cells(Buffer *text, const char *matrix, const double *X, uint32_t rows,
                      uint32_t columns, const char *const *row, const char *const *column)
{
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t k = 0; k < columns; k++) {
            tr_buffer_print(text, "%s,", matrix);
            add_field(text, row[i]);
            add_field(text, column[k]);
            tr_buffer_number(text, X[(size_t)i * columns + k]);
            tr_buffer_add(text, "\n", 1);
        }
}

static void write_csv(const Study *s, Buffer *text)
{
    const Linear *l = s->linear;
    static const char *const parts[] = {"re", "im"};
    tr_buffer_print(text, "matrix,row,column,value\n");
    add_cells(text, "A", l->A, l->states, l->states, l->state, l->state);
    add_cells(text, "B", l->B, l->states, l->inputs, l->state, l->input);
    add_cells(text, "C", l->C, l->outputs, l->states, l->output, l->state);
    add_cells(text, "D", l->D, l->outputs, l->inputs, l->output, l->input);
    if (s->step > 0) {
        add_cells(text, "Ad", s->Ad, l->states, l->states, l->state, l->state);
        add_cells(text, "Bd", s->Bd, l->states, l->inputs, l->state, l->input);
    }
    if (s->loop) {
        const Linear *loop = s->loop;
        add_cells(text, "Aloop", loop->A, loop->states, loop->states, loop->state, loop->state);
        add_cells(text, "Bloop", loop->B, loop->states, loop->inputs, loop->state, loop->input);
    }
    for (uint32_t k = 0; k < 2 * s->modes->count; k++) {
        tr_buffer_print(text, "eigenvalues,%u,%s,", k / 2 + 1, parts[k % 2]);
        tr_buffer_number(text, s->modes->values[k]);
        tr_buffer_add(text, "\n", 1);
    }
}

// ---- .mat ----------------------------------------------------------------------------------

static bool put_matrix(Mat *mat, const char *name, const double *X, size_t rows, size_t columns)
{
    double *by_columns = calloc(rows * columns + 1, sizeof *by_columns);
    if (!by_columns) return false;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++) by_columns[k * rows + i] = X[i * columns + k];
    const bool good = tr_mat_matrix(mat, name, by_columns, rows, columns);
    free(by_columns);
    return good;
}

static bool fill_mat(Mat *mat, void *owner)
{
    const Study *s = owner;
    const Linear *l = s->linear;
    bool good = put_matrix(mat, "A", l->A, l->states, l->states) &&
                put_matrix(mat, "B", l->B, l->states, l->inputs) &&
                put_matrix(mat, "C", l->C, l->outputs, l->states) &&
                put_matrix(mat, "D", l->D, l->outputs, l->inputs) &&
                put_matrix(mat, "eigenvalues", s->modes->values, s->modes->count, 2) &&
                tr_mat_names(mat, "states", l->state, l->states) &&
                tr_mat_names(mat, "inputs", l->input, l->inputs) &&
                tr_mat_names(mat, "outputs", l->output, l->outputs);
    if (good && s->step > 0)
        good = put_matrix(mat, "Ad", s->Ad, l->states, l->states) &&
               put_matrix(mat, "Bd", s->Bd, l->states, l->inputs) &&
               put_matrix(mat, "step", &s->step, 1, 1);
    if (good && s->loop)
        good = put_matrix(mat, "Aloop", s->loop->A, s->loop->states, s->loop->states) &&
               put_matrix(mat, "Bloop", s->loop->B, s->loop->states, s->loop->inputs) &&
               tr_mat_names(mat, "loop_states", s->loop->state, s->loop->states);
    return good;
}

bool tr_linearise_write(const tr_system *system, const tr_linearise_options *options,
                        const char *path, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_linearise_options o;
    Study s = {0};
    Json j = {0};
    if (!take_options(&o, system, options, err)) return false;
    const bool is_mat = ends_with(path, ".mat"), is_csv = ends_with(path, ".csv");
    if (is_mat && !tr_mat_is_there(err)) return false;
    if (take_study(&s, system, &o, err)) {
        warn(&s, &o);
        OutFile *file = tr_file_create(path, err);
        if (file && is_mat)
            tr_mat_write(path, file, fill_mat, &s, NULL, err);
        else if (is_csv)
            write_csv(&s, &j.text);
        else if (o.json || ends_with(path, ".json"))
            write_json(&s, &j);
        else
            write_words(&s, &j.text);
        if (j.text.failed) tr_fail_memory(err);
        if (file && !is_mat)
            fwrite(j.text.at ? j.text.at : "", 1, j.text.length, tr_file_stream(file));
        if (file) tr_file_commit(file, err);
    }
    tr_buffer_free(&j.text);
    release_study(&s);
    return !has_failed(err);
}
