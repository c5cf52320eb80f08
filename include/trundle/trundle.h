// SPDX-License-Identifier: Apache-2.0
// trundle: the equations of motion of things that roll, slide, fold and flex while they move about.
//
// A model says what there is; a system holds its equations as named outputs of named inputs in one
// expression graph; a program computes chosen outputs from all inputs. Systems can also be made by
// hand, from formulas. examples/ has programs to begin with.
//
// Errors. A call that can fail takes a tr_error last, which may be NULL, and gives NULL, false or
// the failed expression when it did. The first error wins: once it has a status, calls do nothing
// and leave it alone, so a pipeline of calls is checked once at its end. A handle that is NULL does
// the same, silently: it comes from a call that failed. The library never prints
// (unless "-" is where a result goes), never exits, and has no global state but the names of files
// that are being written. What only a programmer can do wrong (a workspace of another program) is
// asserted.
//
// Ownership. What a function called ..._new, _read, _parse, _derive, _compile, _find, _design or
// tr_linearise gives belongs to the caller, who frees it with the function beside it; freeing NULL
// is fine. So does a text that comes out as `char *`: it is freed with tr_text_free. Strings and
// arrays that go in are copied where they are needed longer than the call. Names that come out
// (`const char *`) belong to what they were asked from.
//
// Options. A structure of options begins with its size, and is made by the function of its name:
// tr_x_options o = tr_x_defaults(), and then what should be otherwise. So a library that knows more
// options than the header which a program was compiled with has its own defaults for them; one that
// knows less says so, when they are used (TR_USAGE). The functions ..._fill are for these, and for
// other languages: they write as many bytes of the defaults as the caller has.
//
// Threads. A handle must not be changed by one thread while another uses it; calls that take it as
// const do not change it, and a derived system is never changed at all. A plan may be used by any
// number of threads at once, and so may a program, each with a workspace of its own. Callbacks are
// called by the thread that simulates.
#ifndef TRUNDLE_H
#define TRUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default) // the library hides everything else
#endif

// ---- errors --------------------------------------------------------------------------------

// What kind of thing went wrong.
typedef enum tr_status {
    TR_OK = 0,
    TR_FAILED = 1,    // the work could not be done (no convergence, singular, ...)
    TR_USAGE = 2,     // called with arguments that make no sense
    TR_INVALID = 3,   // the model or a formula is wrong; line and column say where
    TR_IO = 4,        // a file could not be read or written
    TR_NO_MEMORY = 5, // any call may say so
} tr_status;

// An error, by value: start from {0}. There is nothing to free.
typedef struct tr_error {
    tr_status status; // TR_OK: none yet
    int line, column; // from 1; 0 where they mean nothing; line -k is the k-th setting of
                      // tr_derive, then of its outputs; those of its k-th file `with` count from
                      // k TR_WITH_LINES on
    char text[500];   // one sentence for the person who wrote the input, without a newline, as
                      // tr_shown would have it
    char file[200];   // the file that line and column are in, where that is one that the model
                      // includes; "" where it is the model's own, or another that was given
} tr_error;

// ---- small things --------------------------------------------------------------------------

// "0.1.0"
const char *tr_version(void);
// A decimal number, whatever the locale; false when the text is anything else or too large, and
// then the value stays.
bool tr_read_number(const char *text, double *value);
// The candidate that was probably meant, one of the pointers given; NULL when none is near.
const char *tr_nearest(const char *wanted, const char *const *candidates, size_t count);
// Where a name stands in a list: its index, or `count` when it is not there.
size_t tr_find_name(const char *const *names, size_t count, const char *name);
// A text as it can be shown anywhere, as messages are: control characters, marks that change the
// direction of writing and bytes that are not UTF-8 are written out, \x1b or \u202e. As much of it
// as fits into `size` bytes with a terminating zero; gives `out`.
const char *tr_shown(const char *text, char *out, size_t size);
// Writes a text. A new or regular file appears complete or not at all; "-" is standard output.
// TR_IO when it cannot be written.
bool tr_write_text(const char *path, const char *text, tr_error *err);
void tr_text_free(char *text); // one that came out as `char *`
// Whether two paths lead to one file, or would if it were made.
bool tr_is_same_file(const char *a, const char *b);
// For handlers of signals that end the process: removes the temporary files under whose names
// results are being written. It may be called whatever the process is doing.
void tr_remove_temporaries(void);

// ---- expressions ---------------------------------------------------------------------------

typedef struct tr_graph tr_graph; // belongs to a system

// An expression, by value: there is nothing to free. It lives as long as the system it was made in,
// and is simplified as it is made. Operations on expressions of two systems, or on a failed one,
// give the failed expression; when memory runs out, all that follow are failed. tr_output and
// tr_compile report what happened.
typedef struct tr_expr {
    tr_graph *graph;
    uint32_t id; // 0 is the failed expression; equal expressions of a graph have equal ids
} tr_expr;

tr_expr tr_add(tr_expr a, tr_expr b);    // a + b
tr_expr tr_sub(tr_expr a, tr_expr b);    // a - b
tr_expr tr_mul(tr_expr a, tr_expr b);    // a b
tr_expr tr_div(tr_expr a, tr_expr b);    // a / b
tr_expr tr_neg(tr_expr a);               // -a
tr_expr tr_pow(tr_expr a, int exponent); // a^exponent; |exponent| <= 1000, else failed

// A function by the name formulas use: "sin", "atan2", "if", "min", ...; the failed expression when
// there is none of that name with that many arguments.
tr_expr tr_call(const char *function, const tr_expr *arguments, size_t count);

// Whether it is a constant; its number, where `value` is not NULL.
bool tr_is_constant(tr_expr x, double *value);

// ---- systems -------------------------------------------------------------------------------

// Named inputs, and named outputs as expressions of them. Made by tr_derive, or by hand.
typedef struct tr_system tr_system;

// What an input is; decides its rate along a motion. Those from TR_SPEED on are made by the
// library.
typedef enum tr_kind {
    TR_TIME,      // rate 1
    TR_POSITION,  // q: its rate is given by tr_rate_set
    TR_VELOCITY,  // v: likewise, once accelerations are known
    TR_INPUT,     // u: constant along the motion unless a rate is given
    TR_PARAMETER, // constant
    TR_SPEED,     // w: a formula of velocities that the model describes its motion by
    TR_SOLVED,    // an acceleration, reaction or motor force; programs compute it
    TR_INNER, // a velocity of a base along other axes than its own; reduced programs may take it
    TR_DIRECTION, // how another input changes; programs of sensitivities take it
    TR_MODE,      // what a contact that may open or slip does, or whether an input follows its
                  // formula of t: runs set it, formulas may read it
    TR_START,     // a number of `initial` or `guess`, called initial.KEY or guess.KEY
    TR_TOUCH, // where a contact touches a surface that is not flat: part of the state, see touchdot
    TR_NOISE, // what disturbs a command, a force or an input: 0 in every program
    TR_HELD,  // a number that a controller or a sensor holds between samples; runs set it
} tr_kind;

tr_system *tr_system_new(tr_error *err); // an empty one
// With all its expressions. Programs made from it live on.
void tr_system_free(tr_system *system);

// A new named input; TR_INVALID when the name is taken or is not a name. `value` is what programs
// use when they are compiled with parameters fixed.
tr_expr tr_input(tr_system *system, const char *name, tr_kind kind, double value, tr_error *err);
size_t tr_input_count(const tr_system *system); // as many numbers go into programs compiled now
// In order of creation, from 0; NULL beyond the last.
const char *tr_input_name(const tr_system *system, size_t index);
tr_kind tr_input_kind(const tr_system *system, size_t index); // TR_PARAMETER beyond the last
double tr_input_value(const tr_system *system, size_t index); // its value, or the guess for it
// What it is, "angular speed", and its unit, "rad/s"; "" where the library does not know, as of
// inputs made by tr_input. Units of parameters and of a model's inputs are those that the model
// file gives. NULL beyond the last.
const char *tr_input_quantity(const tr_system *system, size_t index);
const char *tr_input_unit(const tr_system *system, size_t index);
// What a model file says a parameter or an input is, in words; "" when it does not. NULL beyond the
// last.
const char *tr_input_doc(const tr_system *system, size_t index);
// The range that a model file gives a parameter or an input, with the model's own numbers; false
// when it gives none. A side without a bound is infinite. Runs refuse values beyond it.
bool tr_input_range(const tr_system *system, size_t index, double *min, double *max);

tr_expr tr_constant(tr_system *system, double value); // a number as an expression

// The rate of an input along the motion; TR_USAGE for a parameter or what is no input.
void tr_rate_set(tr_system *system, tr_expr input, tr_expr rate, tr_error *err);

// The expression of a formula over the inputs, definitions and functions of the system; TR_INVALID
// with the column where it is wrong.
tr_expr tr_formula(tr_system *system, const char *formula, tr_error *err);

// Defines a name ("energy") or a function ("ramp(t, a, b)") for later formulas; TR_INVALID when the
// name is taken or the formula is wrong. A function's body is read where it is called.
void tr_define(tr_system *system, const char *head, const char *formula, tr_error *err);

// Defines a function of one or two variables through given points: value[i * ny + j] at
// (x[i], y[j]); for one variable y is NULL and ny is 1. Degree 0: each value until the next point;
// 1: straight lines; 3: a spline with continuous second derivatives. `hold`: beyond the ends it
// keeps the end value, else it goes on as the last piece does. The numbers are copied. TR_INVALID
// when x or y do not ascend, when there are too few points, or when the name is taken.
void tr_define_table(tr_system *system, const char *name, const double *x, size_t nx,
                     const double *y, size_t ny, const double *value, int degree, bool hold,
                     tr_error *err);

// A named output: rows * columns expressions, by rows, which are copied. Outputs have names of
// their own: an input may be called the same. TR_INVALID when the name is taken; TR_USAGE, with the
// reason, when one of the expressions has failed.
void tr_output(tr_system *system, const char *name, const tr_expr *values, size_t rows,
               size_t columns, tr_error *err);

// The outputs there are, by index from 0, with their sizes; rows and columns may be NULL. NULL
// beyond the last.
//
// Those of a derived model are M c Q (the free dynamics M v' + c = Q), vdot (the accelerations, as
// the roles have them), qdot (the rates of positions), kinetic, potential, power, and more. Rows of
// the first four follow the TR_VELOCITY inputs in order, those of qdot the TR_POSITION inputs. A
// constrained model, M v' + c = Q + G^T lambda with G v + g = 0, also has G, g, gamma (the rates of
// G v + g while v stays) and phi (the positions that stay zero); once it is reduced, H J k h with
// v = H w + J v_driven + k, their blocks H_ee H_ep H_pe D J_ext J_int, momentum (H^T M v), lambda
// and tau (tr_compile_in); and sdot, where it has inputs of the kinds TR_SPEED or TR_INNER: their
// rates, in order, or 0 of those that programs do not take; and touchdot, those of inputs of the
// kind TR_TOUCH. Who integrates on his own needs "qdot vdot", and "sdot" and "touchdot" where they
// are there; dependent velocities among the inputs do not matter.
size_t tr_output_count(const tr_system *system);
const char *tr_output_name(const tr_system *system, size_t index, size_t *rows, size_t *columns);
// What its numbers are, as of inputs; "" where they differ, too. NULL beyond the last.
const char *tr_output_quantity(const tr_system *system, size_t index);
const char *tr_output_unit(const tr_system *system, size_t index);

// The expression as a formula, in memory of the system. Parts that are used more than once come
// first, as lines "t1 = ...". Derivatives of tables are written f{1}(x). NULL when memory runs out,
// or when it is an expression of another system.
const char *tr_text(tr_system *system, tr_expr x);

// ---- derivatives ---------------------------------------------------------------------------

// They are exact, and expressions again; the failed one where `inputs` holds anything but inputs.

// d(of)/d(input)
tr_expr tr_derivative(tr_expr of, tr_expr input);

// out[k] = d(of)/d(inputs[k]) of `count` inputs, all at once
void tr_gradient(tr_expr of, const tr_expr *inputs, size_t count, tr_expr *out);

// The change of `of` when inputs[k] changes at rate changes[k].
tr_expr tr_directional(tr_expr of, const tr_expr *inputs, const tr_expr *changes, size_t count);

// The time derivative along the motion: the directional derivative with the rates of all inputs.
// TR_INVALID when it depends on one whose rate is not known.
tr_expr tr_time_derivative(tr_system *system, tr_expr of, tr_error *err);

// An entry of a sparse matrix
typedef struct tr_entry {
    uint32_t row, column; // from 0
    tr_expr value;
} tr_entry;

// The entries of d(of)/d(inputs) that are not structurally zero, `count` of them, by rows. They
// belong to the system. NULL, and no entries, when memory runs out or `inputs` holds anything but
// inputs.
const tr_entry *tr_jacobian(tr_system *system, const tr_expr *of, size_t rows,
                            const tr_expr *inputs, size_t columns, size_t *count);

// `of` with each from[i] replaced by to[i], all at the same time.
tr_expr tr_replace(tr_expr of, const tr_expr *from, const tr_expr *to, size_t count);

// ---- programs ------------------------------------------------------------------------------

// Immutable; may be shared between threads, each with its own workspace. It outlives its system,
// and gives the same bits on every machine.
typedef struct tr_program tr_program;
// What an evaluation writes on. For one thread at a time.
typedef struct tr_workspace tr_workspace;

typedef struct tr_compile_options {
    size_t size;         // of this structure, as the defaults have it
    bool fix_parameters; // replace TR_PARAMETER inputs by their values: shorter; they then do not
                         // matter among the inputs
    const char *parameters; // of wdot_p, "m0 theta"; NULL for none
    // What runs it: "native", machine code where the processor and the system permit it, or
    // "interpreter". Both give the same bits, but for signs and payloads of what is no number.
    // NULL: as the system was derived with.
    const char *evaluate;
} tr_compile_options;
void tr_compile_fill(tr_compile_options *options, size_t size);
// Parameters are inputs.
static inline tr_compile_options tr_compile_defaults(void)
{
    tr_compile_options o;
    tr_compile_fill(&o, sizeof o);
    return o;
}

// A program for the outputs named in a list separated by spaces ("M c G"). It takes all inputs that
// the system has now, in order of creation, and gives the outputs one after the other, each by
// rows. `options` may be NULL. TR_USAGE when there is no such output, or when it depends on what
// only a reduction gives: see tr_compile_in.
tr_program *tr_compile(const tr_system *system, const char *outputs,
                       const tr_compile_options *options, tr_error *err);
void tr_program_free(tr_program *program);

typedef struct tr_program_size {
    size_t inputs, outputs; // numbers in and out
    size_t operations;      // + - * / neg sqrt and each function count 1, a fused multiply-add 2
    size_t instructions;    // that the interpreter executes
    size_t state_operations, state_instructions; // without what parameters alone decide
} tr_program_size;
// All zero for NULL.
tr_program_size tr_program_sizes(const tr_program *program);

// Room to evaluate this one program in; the program must outlive it.
tr_workspace *tr_workspace_new(const tr_program *program, tr_error *err);
void tr_workspace_free(tr_workspace *workspace);

// Computes the outputs, as many as tr_program_sizes says, from as many inputs. Never allocates,
// never fails: what is not defined comes out as NaN or infinite.
void tr_evaluate(const tr_program *program, tr_workspace *workspace, const double *inputs,
                 double *outputs);

// `count` evaluations, several at a time: rows of inputs and of outputs, each so many numbers from
// the next. Each gives what tr_evaluate does. The first call takes memory, which the workspace
// keeps; where there is none, evaluations are done one by one.
void tr_evaluate_many(const tr_program *program, tr_workspace *workspace, size_t count,
                      const double *inputs, size_t input_stride, double *outputs,
                      size_t output_stride);

// ---- models --------------------------------------------------------------------------------

// What a model file says, before any of it is understood. docs/format.md has the fields.
typedef struct tr_model tr_model;

// A file, or the text of one. TR_INVALID with line and column where it is wrong, TR_IO when it
// cannot be read.
tr_model *tr_model_read(const char *path, tr_error *err);
tr_model *tr_model_parse(const char *text, tr_error *err);
// A text as if it stood in a file, which need not be there: what it names is looked for beside
// that.
tr_model *tr_model_parse_as(const char *text, const char *path, tr_error *err);
tr_model *tr_model_new(tr_error *err); // nothing yet
void tr_model_free(tr_model *model);

// Sets one field, in place of what it was: "bodies/frame/joint/type", "parameters/w",
// "initial/d(roll)", "roles/steer/torque". Bodies and other things that are not there yet are made.
// Both texts are copied. TR_INVALID when there is no such field.
void tr_model_set(tr_model *model, const char *path, const char *value, tr_error *err);

// The JSON Schema (draft 7) of model files, for editors and other programs that check YAML.
char *tr_model_schema(tr_error *err);

// A parameter or input that is given another formula: {"speed0", "18/3.6"}
typedef struct tr_setting {
    const char *name, *formula;
} tr_setting;

typedef struct tr_derive_options {
    size_t size;                // of this structure, as the defaults have it
    const char *case_name;      // NULL: the first case, if there is one
    const tr_setting *settings; // they win over the case, and the case over the model; TR_USAGE,
                                // and a line below 0, when there is no such name
    size_t setting_count;
    // Inputs of the model, or joints with one coordinate: the torque of such a joint becomes an
    // input `torque.JOINT`, and what was its formula an output `law.JOINT`.
    const char *const *controls;
    size_t control_count;
    // Folders whose files the model may name (tables of modes), beside those inside its own. It may
    // read no others, so that it may come from anyone.
    const char *const *allowed;
    size_t allowed_count;
    const char *evaluate; // what runs the programs of it, as of tr_compile_options; NULL: "native"
    // 1: velocities are found from roles, constraints and commands; 2: accelerations from forces;
    // 0: as the case says
    size_t order;
    // Bodies, "arm,hand", or "*" for all that are rigid and have mass: mass, first moments and
    // moments of inertia about the body's origin become parameters arm.inertia.m, .mx .my .mz,
    // .Ixx .Iyy .Izz .Ixy .Ixz .Iyz, as tr_inverse_find needs them. NULL: of none
    const char *inertias;
    // More outputs, of the model's names: they are recorded like its own
    const tr_setting *outputs;
    size_t output_count;
    // Files with keys of a case, as tr_steady_fragment, tr_lqr_fragment and tr_fit_fragment write
    // them: they win over the case, later ones over earlier ones, and the settings over them
    const char *const *with;
    const char *const *with_texts; // what stands in them; NULL, also for one of them: it is read
    size_t with_count;             // at most TR_MOST_WITH
    // That numbers have in texts for people, of this system and of what is found of it; noise below
    // 1e-13 of the largest is 0 there, too. 0: all digits. JSON, CSV and YAML have all of them
    size_t digits;
    // 1: a gravity that is numbers becomes a parameter g, or what begins so, as equations for
    // people have it; 0: it stays
    size_t name_gravity;
} tr_derive_options;
enum { TR_WITH_LINES = 1 << 24, TR_MOST_WITH = 64 };
void tr_derive_fill(tr_derive_options *options, size_t size);
// The first case, as it stands; texts have 5 digits.
static inline tr_derive_options tr_derive_defaults(void)
{
    tr_derive_options o;
    tr_derive_fill(&o, sizeof o);
    return o;
}

// The text of one model file that says what the model and all the files that it includes say; of
// the options folders count alone, in which these may be (`allowed`). It is the caller's:
// tr_text_free.
char *tr_model_expand(const tr_model *model, const tr_derive_options *options, tr_error *err);
// The equations of motion of a model, which stays as it is and may be freed afterwards. `options`
// may be NULL. TR_INVALID with the place in the model file where something cannot be.
tr_system *tr_derive(const tr_model *model, const tr_derive_options *options, tr_error *err);
// The files that a system was made from, by index from 0: the model's, where it was one, those of
// `with`, then those that the model includes and names. NULL beyond the last.
const char *tr_system_file(const tr_system *system, size_t index);

// ---- running -------------------------------------------------------------------------------

// What can be known of a derived model before it runs, and programs for every way in which it has
// been met so far: which contacts are open, which velocities depend on others. Any number of
// threads may use one plan. The system must outlive it, and stays as it is.
typedef struct tr_plan tr_plan;
tr_plan *tr_plan_new(const tr_system *system, tr_error *err);
void tr_plan_free(tr_plan *plan);

// The initial state of the model, solved, as inputs for its programs: `size` numbers, which is
// tr_input_count. Coordinates that are driven by a motion are inputs that do not matter: programs
// use their formulas. TR_INVALID or TR_FAILED, with the reason, when there is no such state.
bool tr_initial(tr_plan *plan, double *inputs, size_t size, tr_error *err);

// As tr_compile, of the model reduced at its initial state: constraints are solved for as many
// velocities as they determine there. Programs take the others and know vdot, lambda, tau, H and
// what else tr_output_name lists; and wdot, the accelerations of the independent velocities, with
// their derivatives wdot_q (along unit values of the velocities that no motion drives), wdot_w (by
// the independent velocities), wdot_u (by inputs) and wdot_p (by the parameters of the options).
// Compile them together: they share most of the work.
tr_program *tr_compile_in(tr_plan *plan, const char *outputs, const tr_compile_options *options,
                          tr_error *err);
// The derivatives of such outputs, by rows: of each of their numbers, one after the other, by each
// of the inputs in a list, "roll m0"; where no input is called so, q, v, u and p are all positions,
// velocities, inputs and parameters. They are exact. By what programs do not take, as dependent
// velocities, they are zero.
tr_program *tr_compile_slopes(tr_plan *plan, const char *outputs, const char *by,
                              const tr_compile_options *options, tr_error *err);

// How a run goes on.
typedef struct tr_run_options {
    size_t size;        // of this structure, as the defaults have it
    const char *method; // erk, bdf, rk4, pece, lie, rosenbrock, euler
    double step;        // of methods with a fixed step [s]
    double rtol, atol;  // of adaptive methods: tolerances of the whole run, about
    bool dense;         // erk: interpolate where it is asked for instead of stopping there
    bool no_project;    // leave positions as they are: constraints then hold for velocities alone
    // That it is known to have [s], or 0: for progress, and switches that cross again and again
    // rest for a part of it
    double end;
    // As of tr_simulate_options; may be NULL.
    bool (*progress)(void *owner, double t, double end);
    void (*say)(void *owner, const char *words);
    void *owner;
    const char *on; // of a batch: "gpu", or NULL for the CPU alone
    bool single;    // there in single precision, without a promise on bits; the CPU stays as it is
    bool unused[7]; // false: room for more
} tr_run_options;
void tr_run_fill(tr_run_options *options, size_t size, const tr_plan *plan);
// What the model's case says.
static inline tr_run_options tr_run_defaults(const tr_plan *plan)
{
    tr_run_options o;
    tr_run_fill(&o, sizeof o, plan);
    return o;
}

// A system on its way: time, state, inputs and parameters. For one thread at a time; any number of
// runs share a plan, which must outlive them. It begins at t = 0. `options` may be NULL.
typedef struct tr_run tr_run;
tr_run *tr_run_new(tr_plan *plan, const tr_run_options *options, tr_error *err);
void tr_run_free(tr_run *run);

// Sets an input, a parameter, or a number of the start ("initial.d(roll)", "guess.steer"), by name
// or by its index among the inputs of the system. An input changes at once, and follows no formula
// of t any more; the others when the run is reset. What controllers of the model set is theirs
// alone, and sampled on the way; at a time that a run has come to, its samples are taken. None of
// it compiles anything. TR_USAGE when there is no such name; TR_FAILED, and it stays what it was,
// when an input would move a coordinate or a constraint at once.
void tr_run_set(tr_run *run, const char *name, double value, tr_error *err);
void tr_run_set_at(tr_run *run, size_t index, double value, tr_error *err);
// What may be set: what an input is now, NaN while it follows a formula of t; of others what they
// will be from a reset on. False, and TR_USAGE, where there is no such name.
bool tr_run_get(const tr_run *run, const char *name, double *value, tr_error *err);

// Starts anew at t = 0 with all that was set; also a run that failed. TR_INVALID when a parameter
// breaks what was decided when the model was derived, or when there is no such start: then the run
// stays where it was.
bool tr_run_reset(tr_run *run, tr_error *err);

// Goes on to a time. Fixed steps end at t0 + k step, t0 where the rates jumped last, however calls
// divide the time; a time between takes a shorter step, and the next ones count from there.
// TR_USAGE for a time before now; TR_FAILED with the reason when it cannot go on, and from then on.
// False without an error when a callback stopped it: it may go on. At the times of rows of
// tr_simulate its bits are those rows', where that stops there, too (not by bdf, nor with `dense`),
// with no deviations that choose its steps, the same fixed steps and, beside switches that rest,
// the same end.
bool tr_run_advance(tr_run *run, double until, tr_error *err);
double tr_run_time(const tr_run *run); // [s]
// What tr_simulate records, now: as many numbers as the plan has columns, which belong to the run
// until the next call. NULL when the run has failed.
const double *tr_run_row(tr_run *run);
// Whether it cannot go on, and why.
bool tr_run_failed(const tr_run *run, tr_error *err);

size_t tr_plan_column_count(const tr_plan *plan);
const char *tr_plan_column_name(const tr_plan *plan, size_t index); // NULL beyond the last
const char *tr_plan_column_unit(const tr_plan *plan, size_t index); // "" when it is not known
// What tr_simulate records behind these where something is uncertain, sd(NAME) and cov(A:B), one to
// a line; else "". Those of one thing are in its unit. For tr_text_free.
char *tr_plan_deviations(const tr_plan *plan, tr_error *err);

// A snapshot of a run in memory of the caller's: all that later numbers depend on. Gives the bytes
// that it takes, which stay the same for a run; where `memory` is NULL, nothing else. Adaptive
// methods start anew there, in this run and in one that is restored; fixed steps go on undisturbed.
// 0, and TR_USAGE, when `size` is too small.
size_t tr_run_save(tr_run *run, void *memory, size_t size, tr_error *err);
// Back to a snapshot of a run of the same method, and of a plan of the same equations, also in
// another process with the same library; TR_USAGE when it is not, or damaged, and the run stays
// where it was. The bytes may be anybody's: what they cannot be is refused.
bool tr_run_restore(tr_run *run, const void *memory, size_t size, tr_error *err);

// Many runs of one plan that go on together, side by side as far as they do the same: with their
// own inputs, parameters and starts, each with the bits of a tr_run of its own. By rk4 or lie;
// TR_USAGE for other methods. Runs are numbered from 0 on; a batch is for one thread at a time, and
// its plan must outlive it. The calls are those of a run, and so are their words: all runs are at t
// = 0 as tr_run_new would have them. `options` may be NULL: then by rk4.
typedef struct tr_batch tr_batch;
tr_batch *tr_batch_new(tr_plan *plan, size_t n, const tr_run_options *options, tr_error *err);
void tr_batch_free(tr_batch *batch);
void tr_batch_set(tr_batch *batch, size_t run, const char *name, double value, tr_error *err);
// The same in many runs at once, much faster: run i gets values[i * stride], so that 0 gives all of
// them one number, where mask[i] is not 0; NULL means all. All that is wrong with the numbers
// themselves (finite, in range) is found before any is set. False with an error, which names the
// run; where that was one that an input would move at once, those before it are set.
bool tr_batch_write(tr_batch *batch, const char *name, const double *values, size_t stride,
                    const uint8_t *mask, tr_error *err);
bool tr_batch_reset(tr_batch *batch, size_t run, tr_error *err);
// Every run that has not failed goes on to a time. One that fails on the way stays behind, and the
// others go on: tr_batch_status tells. False for TR_USAGE, when the time is before that of a run,
// and nothing moves; when memory runs out; and, without an error, when `progress` stopped it: then
// each run is where it came to, and may go on. That is called when runs have arrived, and now and
// then between, with the time that would be theirs if all were as far.
bool tr_batch_advance(tr_batch *batch, double until, tr_error *err);
// The same, each run to a time of its own: as many times as there are runs.
bool tr_batch_advance_each(tr_batch *batch, const double *until, tr_error *err);
// The row of a run, as tr_run_row: it belongs to the batch until the next call. NULL when the run
// has failed, there is no such run, or memory runs out.
const double *tr_batch_row(tr_batch *batch, size_t run);
// Columns of all rows at once, by their indices in a row: runs by columns, the same numbers, side
// by side and much faster. NaN where a run has failed. False when memory runs out, or, with
// TR_USAGE, when there is no such column.
bool tr_batch_read(tr_batch *batch, const size_t *columns, size_t count, double *numbers,
                   tr_error *err);
// The time that a run has come to [s]: where it failed, if it did. NaN when there is no such run.
double tr_batch_time(const tr_batch *batch, size_t run);
// TR_OK, or why a run cannot go on until it is reset, with words.
tr_status tr_batch_status(const tr_batch *batch, size_t run, tr_error *err);
// A snapshot of one of them, and back to one: as tr_run_save and tr_run_restore, with the same
// bytes, so that a run of a batch goes on as a run of its own, or as another of a batch, and the
// other way. One that failed may be restored, but has nothing to save.
size_t tr_batch_save(tr_batch *batch, size_t run, void *memory, size_t size, tr_error *err);
bool tr_batch_restore(tr_batch *batch, size_t run, const void *memory, size_t size, tr_error *err);
// Where its steps are made so far: "the CPU", "the CPU: no GPU can be used: ...", or the names of
// GPUs. With `on` "gpu" plain steps are made there, where a GPU is and the model allows it, and all
// else by the CPU as ever: the numbers are the same to the bit.
const char *tr_batch_on(const tr_batch *batch);

// Steps of a batch whose states are in the memory of a GPU, the first that can be used: for loops
// that live there. State i of run k is state[i * n + k]; input i of the system is inputs[i * n +
// k], NULL for those that the batch has. All runs must have the same contacts and the same chart.
// Each makes as many steps as are plain; `fates` tells of the others, which stopped before one that
// is not (where something happens: 2). With no steps the runs of the batch become what they are
// there, and the next call begins anew; so it does from what they are when they were moved or
// changed in another way meanwhile. Steps are launched on the default stream, and made when it
// returns: it waits for work on streams that block, but not on others (cudaStreamNonBlocking):
// those that write states or inputs must be synchronised before. The thread keeps its current
// context. False with words where there is no GPU, or it fails.
bool tr_gpu_step(tr_batch *batch, void *device_state, const void *device_inputs, size_t steps,
                 tr_error *err);
// How many numbers a state has, 0 where runs differ; all of them as they are in the batch, to be
// brought to the GPU, into n times as many; what each is called; the fate of each run.
size_t tr_gpu_states(tr_batch *batch);
void tr_gpu_state(tr_batch *batch, double *state);
const char *tr_gpu_state_name(tr_batch *batch, size_t index);
const double *tr_gpu_fates(const tr_batch *batch);
// How many inputs there are, those of the system first; and all of them as they are in the batch,
// into n times as many, where they are wanted.
size_t tr_gpu_inputs(tr_batch *batch, double *inputs);

// What `trundle check`, `derive` and `eval` print, as text or as JSON. The first two may give both
// a text and an error: what they found, and that the model cannot run so.
char *tr_check_text(const tr_system *system, bool json, tr_error *err);
char *tr_derive_text(const tr_system *system, bool json, tr_error *err);
char *tr_eval_text(const tr_system *system, bool json, tr_error *err); // at the initial instant

// Equations in closed form, as people write them.
typedef struct tr_equations_options {
    size_t size;
    const char *show;     // which, with commas: M c Q G H J reduced lambda tau energy
    const char *language; // text, markdown, latex, html
    const char *title;
    // Entries with more operations are counted, not written, and so are those beyond so many; 0:
    // any
    size_t most_operations, most_entries;
    // "": short entries in closed form, long ones by named quantities that all of them share;
    // "closed": all in closed form; "staged": all by shared quantities
    const char *style;
    double
        effort; // how much work may be spent, counted in terms, not in seconds: 2 is twice as much
} tr_equations_options;
void tr_equations_fill(tr_equations_options *options, size_t size);
static inline tr_equations_options tr_equations_defaults(void)
{
    tr_equations_options o;
    tr_equations_fill(&o, sizeof o);
    return o;
}
// What `trundle equations` prints. Motions and parameters stay symbols; texts that are NULL are
// those of the defaults. Needs FLINT: TR_FAILED where it is not there.
char *tr_equations_text(const tr_system *system, const tr_equations_options *options,
                        tr_error *err);
// How the equations were derived, in words and short formulas: what `trundle equations --explain`
// prints. Behind it equations as above, if `show` names any; NULL and "" for none. Without FLINT
// there are no formulas.
char *tr_explain(const tr_system *system, const tr_equations_options *options, tr_error *err);

// Code that can be taken elsewhere: functions of a model in another language.
typedef struct tr_export_options {
    size_t size;
    bool single; // numbers of single precision, where the language has them
    bool open; // parameters that are exactly 0, 1 or -1 stay parameters; else they are numbers, and
               // what multiplies by them is left out
    const char *language; // c, octave, matlab, python, sympy, casadi, fmu, ptx, cuda
    const char *folder;  // that files are written into; it is made when it is not there. Of an FMU:
                         // the file
    const char *name;    // of files and functions; NULL: as the model's file
    const char *fix;     // parameters that are to be numbers, "m,l"; "all"; NULL: none
    const char *outputs; // those that are wanted, by their columns; NULL: all
    // reduced: by the velocities that are independent at the start, and with contacts as they are
    // there; unreduced: both change as in a run, which is for c and fmu; auto, NULL:
    // reduced, unless contacts may change or other velocities become independent in a run of its
    // case
    const char *form;
    // Of an FMU:
    const char *kind; // "me,cs": model exchange, co-simulation; NULL: both
    double step;      // of co-simulation inside [s]; 0: the case's, 0.001, or what is stable
    int fmi;          // 2 or 3; 0: 3
    int sources_only; // not 0: no binary. Else the compiler `cc`, or what CC says, makes one
    // Called, unless NULL, where a run of the case, or of ten seconds, has other velocities
    // independent in the end, and the form is the reduced one, which does not follow that
    void (*warn)(void *owner, const char *words);
    void *owner; // goes to `warn`
} tr_export_options;
void tr_export_fill(tr_export_options *options, size_t size);
static inline tr_export_options tr_export_defaults(void)
{
    tr_export_options o;
    tr_export_fill(&o, sizeof o);
    return o;
}
// Writes the files of a language, all or none. TR_USAGE for what there is not, and for models that
// one such form cannot follow.
bool tr_export(const tr_system *system, const tr_export_options *options, tr_error *err);

// An instant of a run, as a controller sees it. All of it belongs to the run.
typedef struct tr_instant {
    double t;                  // [s]
    size_t columns;            // as many as a recorded row has, the same at every instant
    const char *const *column; // their names: "t", "roll", "lambda.rear.normal", ...
    const double *value;       // of each column, with the inputs as they were until now
    size_t inputs;             // of the model, with those of tr_derive's `controls`
    const char *const *input;  // their names: "steer_torque", "torque.steer", ...
    double *setting;           // of each input: what it is, and may be changed; NaN while it is
                               // a formula of t, which a number replaces from here on
} tr_instant;

// Where the rows of a run go, one after the other. Each call may be NULL; false, and an error, ends
// the run. The `owner` is the sink's own.
typedef struct tr_sink {
    // As many columns as rows will have: names and units ("" when one is not known), which live
    // until the end.
    bool (*begin)(void *owner, const char *const *names, const char *const *units, size_t count,
                  tr_error *err);
    bool (*row)(void *owner, const double *row, tr_error *err);
    // How it went, as the JSON that stands beside recorded files; also when the run failed.
    bool (*end)(void *owner, const char *certificate, tr_error *err);
    void *owner;
} tr_sink;

// How to simulate.
typedef struct tr_simulate_options {
    size_t size;        // of this structure, as the defaults have it
    double end, every;  // rows at 0, every, 2 every, ..., end [s]
    const char *method; // erk, bdf, rk4, pece, lie, rosenbrock, euler
    double step;        // of methods with a fixed step: the longest [s]
    double rtol, atol;  // of adaptive methods: tolerances of the whole run, about
    bool dense;         // erk: interpolate rows instead of stopping at each, as bdf always does
    bool no_project;    // leave positions as they are: constraints then hold for velocities alone
    const char *output; // .csv, .mat or .npy file; "-" is standard output; NULL records nothing
    const char *sensitivity; // "m0,theta": also columns d(NAME)/d(m0), ...; NULL for none
    // Called after every step with the time reached; false stops the run, which is then
    // interrupted. May be NULL.
    bool (*progress)(void *owner, double t, double end);
    // Called, once, when another method would cost far less in all; the words are the `advice` of
    // the summary. May be NULL.
    void (*say)(void *owner, const char *words);
    // A controller, or NULL: called at 0, sample, 2 sample, ... up to the end. It sees the instant
    // and may change inputs, which then stay what they are until it changes them again; where one
    // changes, methods that remember steps start anew. A row at the same time is recorded after
    // the call. Inputs may change forces and energies; TR_FAILED when one moves a coordinate or a
    // constraint at once, or is not finite. Controllers of the model come before it, and what they
    // set is not among its inputs. Jumps of formulas of t are looked for beforehand, with
    // the inputs of the model. False stops the run, as above. Not with sensitivities.
    bool (*control)(void *owner, const tr_instant *now);
    double sample;        // [s]; 0 calls the controller at every row
    void *owner;          // goes to the callbacks, and means nothing to the library
    const tr_sink *sinks; // that get the same rows as the file
    size_t sink_count;
    // Options that were asked for, "step,dense": the certificate warns of those that the method has
    // no use for. The defaults have those of the model's case; NULL for none.
    const char *given;
    // Called for each warning of the certificate that has a time, or is about these options, when
    // it comes up. May be NULL.
    void (*warn)(void *owner, const char *words);
    // For models of strangers; 0: no limit. Steps, with those that are tried in vain; and numbers
    // recorded, rows times columns. TR_FAILED where a run needs more.
    size_t most_steps, most_numbers;
    // The model's `fixes` correct the state, as an extended Kalman filter does; the rows also have
    // innovations and how consistent they are. TR_USAGE when there is nothing to do.
    bool filter;
    // Without standard deviations, whatever the model says of noise: they end where contacts switch
    bool no_deviations;
    bool unused[6]; // false: room for more
} tr_simulate_options;
void tr_simulate_fill(tr_simulate_options *options, size_t size, const tr_system *system);
// What the model's case says; for NULL, what there is without one: 10 s with erk, a row every 10 ms
static inline tr_simulate_options tr_simulate_defaults(const tr_system *system)
{
    tr_simulate_options o;
    tr_simulate_fill(&o, sizeof o, system);
    return o;
}

// How a run went; the certificate beside the recorded file says more.
typedef struct tr_summary {
    double t;              // of the last row [s]
    size_t rows;           // recorded, or that would have been
    size_t steps;          // of the method
    size_t failed_steps;   // tried, and done again with shorter ones
    size_t evaluations;    // of the rates
    size_t jacobians;      // times that the slopes of the rates were evaluated, too
    double energy_error;   // worst |E - E0 - work|, relative to the largest kinetic energy or work
    double position_error; // worst residual of the positions at a row
    double velocity_error; // and of the velocities
    double kkt_error;      // worst difference to accelerations found without reduction, in first
                           // order to velocities, relative; 0 when there are no constraints
    size_t chart_changes;  // times that other velocities were taken as independent
    size_t switches;       // times that a contact opened, closed, slipped or stuck
    size_t warnings;       // what would lift off, slip and the like, see the certificate
    char warning[200];     // the first of them
    char advice[200];      // on the method; "" when there is none
    double seconds;        // it took
    bool interrupted;      // a callback stopped it
    // Of any program on the way: rates, constraints, rows, ... All that is watched after a step,
    // and the rates that the next one begins with, are one.
    size_t all_evaluations;
    // In first order, of what is asked of velocities: the worst weighted norm of what is left, 0
    // where nothing is asked; negative in second order.
    double command_error;
    // Of a filter: fixes that corrected the state, outliers among all, and the mean square of
    // innovations against what they should be: about 1 where the model is right
    size_t fixes, fix_outliers;
    double fix_consistency;
} tr_summary;

// Simulates from the initial state. The recorded file is complete up to the time reached also when
// the run fails or is interrupted; beside it, a .json file says how it went, and which rows it is
// about: both get their names when both are on the disk. `options` and
// `summary` may be NULL; the summary is filled in also when the run fails. An interrupted run has
// not failed. TR_USAGE for options that make no sense, TR_FAILED with the time when it cannot go
// on, TR_IO.
bool tr_simulate(const tr_system *system, const tr_simulate_options *options, tr_summary *summary,
                 tr_error *err);

// ---- many runs -----------------------------------------------------------------------------

// Many runs of one model, on all processors: parameters, inputs and numbers of the start vary, and
// what is kept of each run are numbers. They are the same, to the bit, whatever the number of
// threads and lanes, and however often it was interrupted.
enum { TR_SAMPLES = 100 }; // where something is drawn, unless options say otherwise

// A run that is over
typedef struct tr_sweep_run {
    size_t number;        // from 0
    tr_status status;     // TR_OK, or why it could not go on
    bool is_stopped;      // `stop` ended it
    const char *words;    // of what went wrong; "" when nothing did
    const double *values; // of the columns; NaN where there is none
    double seconds;       // it took, its share of what was done beside it
    const double *rows;   // all that it recorded, where that is kept; else NULL
    size_t row_count;
    const char *const *row_names, *const *row_units; // of the columns of rows
    size_t row_columns;
} tr_sweep_run;

// Where runs go as they come, in any order. Calls are made by the thread that called tr_sweep; each
// may be NULL; false, and an error, ends it.
typedef struct tr_sweep_sink {
    // How many runs there are, and the columns of each: what is varied, what is kept, and how it
    // went: t, rows, steps, energy_error, position_error, velocity_error, chart_changes, switches,
    // warnings. Names and units live until the end.
    bool (*begin)(void *owner, size_t runs, const char *const *names, const char *const *units,
                  size_t count, tr_error *err);
    bool (*run)(void *owner, const tr_sweep_run *run, tr_error *err);
    void *owner;
} tr_sweep_sink;

typedef struct tr_sweep_options {
    size_t size; // of this structure, as the defaults have it
    // "m0=60:110:10", "m0=60,70", "m0~uniform(60,110)", "m0~normal(85,2)". Lists and ranges form a
    // grid; what is drawn is a Latin hypercube of so many samples in each of its cells.
    const char *const *vary;
    size_t vary_count;
    size_t samples; // 0: TR_SAMPLES where something is drawn
    size_t seed;
    const char *table; // in place of all that: a .csv file whose columns are varied, a run a row
    // "final(x), max(abs(roll)), top=max(speed)": formulas of columns, reduced over the rows of a
    // run by final, max, min, mean, rms, time (the first at which a condition holds), at(T, x).
    // NULL: final of each output of the model, or of each coordinate where there is none
    const char *keep;
    const char *stop; // ends a run at the first row where it holds; NULL: nothing does
    size_t record;    // all rows of every so many-th run are kept; 0: of none
    // "simulate" (NULL is that); or "steady", "settle": then a run is one row of what is found, and
    // "linearise", of eigenvalues re1, im1, ... at the steady motion near the start
    const char *what;
    const char *free;         // of steady and linearise, as of tr_steady_options
    const char *const *holds; // and of settle
    size_t hold_count;
    const char *by; // of settle
    // How runs go on, as of tr_simulate_options; NaN and NULL: as the case says
    double end, every;
    const char *method; // erk, bdf, rk4, pece, lie, rosenbrock, euler
    double step, rtol, atol;
    size_t most_steps;  // of a run; 0: no limit
    size_t jobs;        // threads; 0: as many as there are processors
    const char *output; // .db (SQLite), which can be gone on with; or .csv; "-" is standard output
    const tr_sweep_sink *sinks;
    size_t sink_count;
    // Called ten times a second with runs that are over, with those that were there before, and
    // those of them that failed; false interrupts. May be NULL.
    bool (*progress)(void *owner, size_t done, size_t failed, size_t all);
    void *owner;
    size_t shard, shards; // of so many shards the one of this number, from 0; 0 shards: all
    // Not 0: with the processes that mpirun started beside this one, all of which make the same
    // call. The first of them writes; only its summary says anything.
    size_t shares;
    // "gpu": steps of rk4 and lie are made on GPUs, as of tr_run_options; NULL and "cpu": they are
    // not
    const char *on;
} tr_sweep_options;
void tr_sweep_fill(tr_sweep_options *options, size_t size);
// All processors, as the case says; what is varied must be given.
static inline tr_sweep_options tr_sweep_defaults(void)
{
    tr_sweep_options o;
    tr_sweep_fill(&o, sizeof o);
    return o;
}

typedef struct tr_sweep_summary {
    size_t runs, before; // all of them; those that were there before
    size_t done, failed; // over by now; those of them that could not go on
    size_t first_failed; // the number of the first of these,
    char words[200];     // and why
    double seconds;
    bool interrupted;
    bool follows; // another process has all that
    char on[520]; // where steps were made that were to be made on a GPU, and why
    size_t steps_on_gpu;
} tr_sweep_summary;

// TR_USAGE for options that make no sense, and for a file that was begun with another model or
// other settings; a run that fails is no error. `derive` and `summary` may be NULL; the summary is
// filled in also when it fails.
bool tr_sweep(const tr_model *model, const tr_derive_options *derive,
              const tr_sweep_options *options, tr_sweep_summary *summary, tr_error *err);
// Runs of a database whose rows are kept: how many there are, and the numbers of the first `most`.
// Steady motions, eigenvalues and poses are no runs.
// "sweep.db:17" stands for a recorded file wherever runs are read.
bool tr_sweep_recorded(const char *path, size_t *runs, size_t most, size_t *count, tr_error *err);
// Databases of one sweep as one, which is made, or gone on with: its shards, say. The summary tells
// what it has then, whoever made it.
bool tr_sweep_merge(const char *const *parts, size_t count, const char *output,
                    tr_sweep_summary *summary, tr_error *err);

// ---- linear models -------------------------------------------------------------------------

// How a motion beside the initial one differs from it, to first order: x' = A x + B u,
// y = C x + D u. Matrices are by rows. States are first displacements that the constraints allow
// (B.dx ... B.rz of a base, along and about its own axes), then independent velocities, then what
// else has a state. Names live as long as the system, the rest as long as this.
typedef struct tr_linear {
    uint32_t states, inputs, outputs;
    uint32_t displacements;                // of the states: the first so many
    const char **state, **input, **output; // their names
    double *A, *B;                         // states x states, states x inputs
    double *C, *D;                         // outputs x states, outputs x inputs
    // By state, an input of the system: the velocity or position that it is, or the velocity whose
    // displacement it is
    uint32_t *state_of;
    uint32_t *input_of; // by input, that of the system
} tr_linear;

typedef struct tr_linearise_options {
    size_t size; // of this structure, as the defaults have it
    bool reduce; // leave out displacements that change nothing: place, heading, angles of wheels
    bool json;   // texts are JSON
    double step; // of the model from one instant to the next [s]; 0 when it is not wanted
    // Called with warnings that files of numbers do not show, unless NULL; `owner` is its own
    void (*say)(void *owner, const char *words);
    void *owner;
} tr_linearise_options;
void tr_linearise_fill(tr_linearise_options *options, size_t size);
// All states, continuous, words.
static inline tr_linearise_options tr_linearise_defaults(void)
{
    tr_linearise_options o;
    tr_linearise_fill(&o, sizeof o);
    return o;
}

// At the initial state, which need not be a steady one. `options` may be NULL. An output whose
// derivative is not finite there has rows of C and D that are not numbers.
tr_linear *tr_linearise(const tr_system *system, const tr_linearise_options *options,
                        tr_error *err);
void tr_linear_free(tr_linear *linear);
// values[k] = real and imaginary part, as many as states, the least stable first. Those that are
// zero are exactly so.
bool tr_linear_eigenvalues(const tr_linear *linear, double (*values)[2], tr_error *err);
// x(t + step) = A x(t) + B u while u is held: into A and B, of the sizes that the model's have.
bool tr_linear_discretise(const tr_linear *linear, double step, double *A, double *B,
                          tr_error *err);

// The loop that controllers and sensors of the model close, from one time to the next, `step`
// later, just before the samples there: x(t + step) = A x(t) + B u. Its states are those of the
// model, without symmetries left out, and of what is held what matters then; its inputs those that
// no controller sets; outputs there are none, and noise is left out. At the state and after the
// samples at t = 0. `acceleration`, where it is not NULL, is the largest there. TR_USAGE, with the
// step to take, where the step is no multiple of all periods.
tr_linear *tr_linearise_loop(const tr_system *system, double step, double *acceleration,
                             tr_error *err);

// What `trundle linearise` prints. `options` may be NULL.
char *tr_linearise_text(const tr_system *system, const tr_linearise_options *options,
                        tr_error *err);
// The same into a .json, .csv (matrix, row, column, value) or .mat file, else as text.
bool tr_linearise_write(const tr_system *system, const tr_linearise_options *options,
                        const char *path, tr_error *err);

// Where an eigenvalue crosses the imaginary axis.
typedef struct tr_critical {
    double value;     // of the parameter
    double frequency; // [rad/s]; 0 where the motion diverges
    bool is_onset;    // stable before it, with respect to this eigenvalue
} tr_critical;

// Eigenvalues against a parameter or input. Symmetries are left out, and so are eigenvalues that
// are zero all along.
typedef struct tr_locus {
    const char *name;      // of the parameter; lives as long as the system
    size_t rows, count;    // values of the parameter, eigenvalues
    double *values;        // of the parameter
    double *eigenvalues;   // by rows: real and imaginary parts; each column is one, followed
    tr_critical *critical; // by value
    size_t critical_count;
    double *unsteadiness; // by row: the largest acceleration at the start, 0 where it is steady
    // Modes: one for each pair of eigenvalues that is complex somewhere, and for each real one
    size_t mode_count;
    size_t *mode;       // of each eigenvalue
    const char **names; // of each mode, by what moves: "weave", "travel and bounce"
} tr_locus;

// At from, from + step, ... to; at each value the initial conditions are solved again. The system
// keeps its own value. TR_USAGE when there is no such parameter or input.
tr_locus *tr_locus_new(const tr_system *system, const char *name, double from, double to,
                       double step, tr_error *err);
void tr_locus_free(tr_locus *locus);
// As CSV or JSON.
char *tr_locus_text(const tr_locus *locus, bool json, tr_error *err);
// Real and imaginary parts as SVG, into a file or "-"; the title may be NULL.
bool tr_locus_plot(const tr_locus *locus, const char *title, const char *path, tr_error *err);

// ---- steady motions ------------------------------------------------------------------------

// Straight running, circles, rest: velocities and shape stay what they are, while place, heading
// and angles of wheels may go on. The initial state is where the search starts.
typedef struct tr_steady_options {
    size_t size;              // of this structure, as the defaults have it
    const char *free;         // parameters and inputs to be found, "steer_torque,m0"; may be NULL
    const char *const *holds; // "roll=0.2"; or "speed": it stays what it is at the start
    size_t hold_count;
    const char *sweep;  // of a family: "roll=0.01:0.5:0.01", a formula or a parameter
    const char *output; // of a family: .csv, .json, .mat or .npy file; "-" is standard output
    const char *form;   // of a family: "json", or NULL: as the name of the file says
    // What else it takes is chosen: without `free` all inputs are free, and what is then left open
    // is held, as far as it takes, of what `initial` says what the swept parameter is in, rates and
    // formulas; then inputs, coordinates that it gives, and the state
    bool trim;
    bool unused[7]; // false: room for more
    // Along a family or a locus: called now and then with the value of what is swept, which may go
    // back and forth, and the last one; false stops it. May be NULL.
    bool (*progress)(void *owner, double value, double to);
    void *owner; // of the callback
} tr_steady_options;
void tr_steady_fill(tr_steady_options *options, size_t size);
// Nothing is free, held or swept.
static inline tr_steady_options tr_steady_defaults(void)
{
    tr_steady_options o;
    tr_steady_fill(&o, sizeof o);
    return o;
}

// A steady motion that was found. The system must outlive it.
typedef struct tr_steady tr_steady;
// Near the initial state; `options` may be NULL. TR_FAILED, with what is still off or left open,
// when there is none.
tr_steady *tr_steady_find(const tr_system *system, const tr_steady_options *options, tr_error *err);
void tr_steady_free(tr_steady *steady);
// All inputs of programs there: tr_input_count numbers, which belong to it.
const double *tr_steady_state(const tr_steady *steady);
// values[k]: real and imaginary part of an eigenvalue of the motion beside it, symmetries left
// out, the least stable first. Their number; `values` may be NULL.
size_t tr_steady_modes(const tr_steady *steady, double (*values)[2]);
// What `trundle steady` prints; and the state as `initial:`, with what was free as `set:`, of a
// case.
char *tr_steady_text(const tr_steady *steady, bool json, tr_error *err);
char *tr_steady_fragment(const tr_steady *steady, tr_error *err);

enum { TR_MOST_FOLDS = 32 };
typedef struct tr_family_summary {
    size_t rows;                // recorded
    double reached;             // the value of what is swept at the last row
    size_t folds;               // where the family turns back
    double fold[TR_MOST_FOLDS]; // the values of what is swept there, the first of them
} tr_family_summary;
// A family of steady motions along what is swept, followed past folds, recorded row by row. What
// was recorded stays when it cannot be followed further, and when `progress` stopped it: then it is
// false without an error. `summary` may be NULL.
bool tr_steady_sweep(const tr_system *system, const tr_steady_options *options,
                     tr_family_summary *summary, tr_error *err);

// As tr_locus_new, at steady motions: each is found from that of the value before, with what `trim`
// of the options chose at the first one. Their `sweep`, `output` and `form` are not used. TR_FAILED
// where there is none.
tr_locus *tr_locus_trimmed(const tr_system *system, const char *name, double from, double to,
                           double step, const tr_steady_options *options, tr_error *err);
// The one where `trim`, `free` or holds are given, as tr_locus_new where none of them is. NULL
// without an error when `progress` stopped it.
tr_locus *tr_locus_find(const tr_system *system, const char *name, double from, double to,
                        double step, const tr_steady_options *options, tr_error *err);

// ---- settling ------------------------------------------------------------------------------

// Poses on the ground without dynamics: with what is held held and loops closed.
//
//   basic       heights, roll and pitch by averages of the ground below four wheels
//   contact     all contacts touch: as many as there are unknowns
//   residual    the sum of squares of gaps is least, each times its weight
//   deflection  all touch; squares of spring travels are least, springs carry the weight
//   level       all touch; squares of the vehicle's roll and pitch are least
//   energy      potential energy is least and nothing is in the ground; what lifts off does
//
// Coordinates that none of this depends on, as angles of wheels, stay what they are at the start.
typedef struct tr_settle_options {
    size_t size;    // of this structure, as the defaults have it
    const char *by; // NULL: energy
    // "rover.x=0.3"; or "rover.x": what it is at the start, unless a pose says another
    const char *const *holds;
    size_t hold_count;
    const char *gap;            // of residual: "distance" or "vertical"; NULL: distance
    const char *const *weights; // of residual: "left=2", a contact and what its square counts; 1
    size_t weight_count;
    // Called with what happens along a path: rows that have no pose, jumps, what lifts off. May be
    // NULL.
    void (*tell)(void *owner, size_t row, const char *words);
    void *owner; // of the callback
} tr_settle_options;
void tr_settle_fill(tr_settle_options *options, size_t size);
// By energy, nothing held.
static inline tr_settle_options tr_settle_defaults(void)
{
    tr_settle_options o;
    tr_settle_fill(&o, sizeof o);
    return o;
}

// What is compiled once for many poses. The plan must outlive it; it is for one thread.
typedef struct tr_settle tr_settle;
// `options` may be NULL. TR_USAGE for options that make no sense; TR_INVALID for a model that the
// way cannot settle.
tr_settle *tr_settle_new(tr_plan *plan, const tr_settle_options *options, tr_error *err);
void tr_settle_free(tr_settle *settle);
// The columns of a pose: coordinates, attitude, and of each contact where it is, its gap and normal
// force, the friction that it needs and that there is; the margin against tipping over, energy.
size_t tr_settle_column_count(const tr_settle *settle);
const char *tr_settle_column_name(const tr_settle *settle, size_t index); // NULL beyond the last
const char *tr_settle_column_unit(const tr_settle *settle, size_t index); // "" when it has none
// A pose with these values of what is held, in the order of the options (NULL, or NaN: as there),
// found from the last one. `columns`, unless NULL, takes as many numbers as there are columns;
// without it nothing but the pose is found, which is quicker. It allocates nothing. TR_FAILED, with
// words, when there is none within reach: then the last pose stays.
bool tr_settle_pose(tr_settle *settle, const double *held, double *columns, tr_error *err);
// All inputs of programs there, tr_input_count numbers, which belong to it.
const double *tr_settle_state(const tr_settle *settle);
// The next pose is found from the start again.
void tr_settle_restart(tr_settle *settle);
// Whether the last pose is on another branch than the one before: a step to it, however small,
// would not have come there steadily. Looks for a pose between the two some ten times.
bool tr_settle_has_jumped(tr_settle *settle);
// Contacts that lifted off, by energy, as "'left', 'right'"; "" when none did.
const char *tr_settle_lifted(tr_settle *settle);
// What `trundle settle` prints of the last pose.
char *tr_settle_text(tr_settle *settle, bool json, tr_error *err);

typedef struct tr_settle_summary {
    size_t poses, failures, jumps; // rows, those without a pose, those on another branch
} tr_settle_summary;
// Poses along a path: a .csv file of values whose columns are formulas that are held besides
// those of the options. Rows go to a .csv, .json, .mat or .npy file, or "-" (as JSON where `form`
// is "json"), row by row; one without a pose has nan for numbers. TR_FAILED when there is such a
// row: the others are written all the same. `summary` may be NULL.
bool tr_settle_path(tr_plan *plan, const tr_settle_options *options, const char *path,
                    const char *output, const char *form, tr_settle_summary *summary,
                    tr_error *err);

// ---- inertias from recordings --------------------------------------------------------------

// Mass, first moments and moments of inertia of bodies enter the equations of motion linearly: they
// are found from recorded motions and torques by least squares, as bodies can have them.
typedef struct tr_inverse_options {
    size_t size;             // of this structure, as the defaults have it
    const char *const *logs; // .csv files with t, coordinates, velocities and the torques tau.JOINT
    size_t log_count;        // of all that is driven, under the names that runs are recorded with;
                             // accelerations d(VELOCITY) where there are such, else by splines
    double prior_weight; // of the model's own values beside the data; 0: they count only where the
                         // data say nothing
} tr_inverse_options;
void tr_inverse_fill(tr_inverse_options *options, size_t size);
// No prior; the recordings must be given.
static inline tr_inverse_options tr_inverse_defaults(void)
{
    tr_inverse_options o;
    tr_inverse_fill(&o, sizeof o);
    return o;
}

typedef struct tr_inverse tr_inverse;
// Of a system that was derived with `inertias`, which must outlive it. TR_INVALID, with file and
// line, for recordings that cannot be used; TR_USAGE for models whose equations need more than is
// recorded.
tr_inverse *tr_inverse_find(const tr_system *system, const tr_inverse_options *options,
                            tr_error *err);
void tr_inverse_free(tr_inverse *inverse);
// The ten numbers of a body, in the order of its parameters, by index from 0, and its name unless
// that is NULL. NULL beyond the last.
const double *tr_inverse_body(const tr_inverse *inverse, size_t index, const char **name);
// What `trundle fit --inverse` prints; and the bodies of a model file.
char *tr_inverse_text(const tr_inverse *inverse, bool json, tr_error *err);
char *tr_inverse_fragment(const tr_inverse *inverse, tr_error *err);

// ---- feedback ------------------------------------------------------------------------------

typedef struct tr_lqr_options {
    size_t size;        // of this structure, as the defaults have it
    const char *inputs; // "steer_torque,rear": inputs, or joints that tr_derive took as controls
    // Weights "steer=10,roll=2" of squares: of coordinates and velocities in place of the 1 that
    // all of the model have, of outputs besides; and of inputs, else 1. NULL: none is given
    const char *q, *r;
    double step; // of a controller that acts in steps [s]; 0: it acts all the time
} tr_lqr_options;
void tr_lqr_fill(tr_lqr_options *options, size_t size);
// All weights are 1, all the time; the inputs must be given.
static inline tr_lqr_options tr_lqr_defaults(void)
{
    tr_lqr_options o;
    tr_lqr_fill(&o, sizeof o);
    return o;
}

// The feedback u = -K x that is best for small motions about the initial state: it keeps the
// integral, or the sum over steps, of x^T Q x + u^T R u least. Displacements that change nothing
// are no states, unless something with a weight depends on them. Nothing here depends on which
// velocities a run would integrate.
typedef struct tr_lqr {
    size_t states, inputs;
    const char *const *state, *const *input; // their names
    const double *A, *B, *Q, *R, *K;         // by rows
    const double *before, *after; // eigenvalues without it and with it: real, imaginary, ...
    const char *const *law;       // of each input: a formula of the model's names
    double residual;              // of the Riccati equation, relative
    double unsteadiness;          // largest acceleration at the initial state
    size_t neutral;               // steady motions beside this one, which it leaves alone
    double step;                  // of the options
    const double *N; // states x inputs: outputs with a weight that inputs change at once ask for
                     // 2 x^T N u, too, and more R; else zero
} tr_lqr;

// The system must outlive it. TR_FAILED when the inputs cannot make every motion decay: it says
// which.
const tr_lqr *tr_lqr_design(const tr_system *system, const tr_lqr_options *options, tr_error *err);
void tr_lqr_free(const tr_lqr *lqr);
// What `trundle lqr` prints; the `roles` of a case; and these with the `set` that they are right
// for, as `trundle lqr -o gains.yaml` writes them: with a step a controller that acts in such
// steps, and the inputs that it sets.
char *tr_lqr_text(const tr_lqr *lqr, bool json, tr_error *err);
char *tr_lqr_roles(const tr_lqr *lqr, tr_error *err);
char *tr_lqr_fragment(const tr_lqr *lqr, tr_error *err);

// ---- fitting -------------------------------------------------------------------------------

// What recordings say of parameters, inputs and numbers of the start: the values with which a run
// from the start of the model, in first or second order, is nearest to what was recorded, by least
// squares, each measurement against its standard deviation. A recording is a .csv file with a
// column of times, from the start of the run on.
typedef struct tr_fit_options {
    size_t size;             // of this structure, as the defaults have it
    const char *const *data; // .csv files; each is of a run from the same start
    size_t data_count;
    const char *time; // the column of times; NULL is "t"
    // To be found, "wheel_radius,track,initial.body.x"; of numbers of the start the left side of
    // `initial` will do, too, where nothing else is called so
    const char *free;
    const char *columns; // of the recordings, to be used; NULL: all that the model has, too
    // "gps_x=body.x + 0.1": what else a column is, by names of the model
    const char *const *matches;
    size_t match_count;
    const char *const *sds; // "gps_x=0.02": the standard deviation of a column; else it is found
    size_t sd_count;
    const char *const *priors; // "track=0.3~0.01": what is known besides, and its deviation
    size_t prior_count;
    double from, to; // times that count [s]; NaN: all
    // How runs go on, as of tr_run_options; NULL and 0: as the case says
    const char *method; // erk, bdf, rk4, pece, lie, rosenbrock, euler
    double step, rtol, atol;
    size_t most_steps; // of a run; 0: no limit
    size_t most_iterations;
    // Called after every step of a run: which run it is, and the time reached; false stops it all.
    // May be NULL.
    bool (*progress)(void *owner, size_t run, double t, double end);
    void *owner; // of the callback
} tr_fit_options;
void tr_fit_fill(tr_fit_options *options, size_t size);
// All columns that the model has, 50 iterations; what is read and what is free must be given.
static inline tr_fit_options tr_fit_defaults(void)
{
    tr_fit_options o;
    tr_fit_fill(&o, sizeof o);
    return o;
}

typedef struct tr_fit_value {
    const char *name;       // as the system has it: "track", "initial.body.x"
    double value, start;    // found, and where the search began
    double sd;              // its standard deviation; infinite where the data cannot tell it
    double prior, prior_sd; // NaN without one
} tr_fit_value;

typedef struct tr_fit_column {
    const char *name, *of; // in the recordings, and the column or formula of the model
    const char *unit;      // "" when it is not known
    size_t count;          // measurements
    double sd;             // their standard deviation, given or found
    double rms;            // of what is left, the root of the mean square
    bool is_given;         // the standard deviation
} tr_fit_column;

// A measurement
typedef struct tr_fit_point {
    double t;                 // [s]
    double value, left;       // measured; measured less what the model says
    size_t column, recording; // from 0
} tr_fit_point;

// A fit that was found. All of it belongs to it.
typedef struct tr_fit {
    size_t count; // of what was free
    const tr_fit_value *values;
    // By rows, count * count. Where directions cannot be told it is that of the others, with
    // these left alone.
    const double *covariance;
    size_t column_count, point_count, recording_count;
    const tr_fit_column *columns;
    const tr_fit_point *points; // by time
    double chi_square;          // sum of squares of what is left, each against its deviation
    double freedom;             // degrees of freedom: measurements and priors less what was told
    size_t iterations, runs;
    // Directions that the data cannot tell: in words, and as changes of what was free, by rows
    size_t untold_count;
    const char *const *untold;
    const double *untold_changes;
    // Of each value: -1 when it is held at the least of its range, beyond which the data would have
    // it, 1 at the most, else 0. What is held has no deviation, 0; those of the others are with it
    // held there.
    const int *held;
} tr_fit;

// `options` of derive may be NULL. The model stays as it is, and may be freed afterwards. TR_USAGE
// for options that make no sense; TR_INVALID for data that are none, with words that begin with the
// file and the line, and as of tr_derive; TR_FAILED when a run cannot be made, when nothing that
// was recorded depends on one of the free, when it does not converge, and when it was stopped. Runs
// in which contacts open, close, slip or stick are refused.
const tr_fit *tr_fit_find(const tr_model *model, const tr_derive_options *derive,
                          const tr_fit_options *options, tr_error *err);
void tr_fit_free(const tr_fit *fit);
// What `trundle fit` prints; and what was found as `set:` and `initial:` of a case.
char *tr_fit_text(const tr_fit *fit, bool json, tr_error *err);
char *tr_fit_fragment(const tr_fit *fit, tr_error *err);
// What is left over time, a panel for each column, as SVG into a file or "-"; the title may be
// NULL.
bool tr_fit_plot(const tr_fit *fit, const char *title, const char *path, tr_error *err);

// ---- pictures ------------------------------------------------------------------------------

typedef struct tr_plot_options {
    size_t size;             // of this structure, as the defaults have it
    const char *const *runs; // .csv files; several are drawn over each other
    size_t run_count;
    const char *x;             // the column along the x axis; NULL is "t"
    const char *const *panels; // one list of columns each, "roll,steer"; one above the other
    size_t panel_count;        // 0: the outputs of the model
    bool track;                // the top view instead of columns
    const char *tracks;        // of these contacts, bodies or pairs NAME_x, NAME_y; NULL: all
    const char *title;         // NULL for none
    int width, height;         // [px]; both 0 for what suits
    double from, to;           // times to draw [s]; NaN where they begin and end
    bool log;                  // logarithmic y axes; what is not positive is left out
    const char *output;        // .svg file; "-" is standard output
    // Called with words when the certificate beside a run cannot be used, because it is not JSON or
    // is of another run: then it is left out. And when the model has changed since. May be NULL.
    void (*say)(void *owner, const char *words);
    void *owner;
    // Of the runs, for lines of equal height below a track where its ground is not flat; NULL: that
    // which the certificate names, beside the run or in the working folder, if it is the same still
    const char *model;
} tr_plot_options;
void tr_plot_fill(tr_plot_options *options, size_t size);
// All but the runs.
static inline tr_plot_options tr_plot_defaults(void)
{
    tr_plot_options o;
    tr_plot_fill(&o, sizeof o);
    return o;
}

// Draws recorded runs as SVG; or of one .db file, which a sweep wrote, what was kept of its runs: a
// line for each value of what else varies where these are few, else dots, and against two, x
// "m0,speed0", a map in colours. TR_USAGE for a column that is not there, TR_INVALID with line and
// column for a file that is no table, TR_IO.
bool tr_plot(const tr_plot_options *options, tr_error *err);

// ---- reports -------------------------------------------------------------------------------

// A recorded run, and the model with the case and the settings that it was made with
typedef struct tr_view_run {
    const tr_system *system;
    const char *run; // a .csv file, with or without its certificate beside it
} tr_view_run;

typedef struct tr_view_options {
    size_t size; // of this structure, as the defaults have it
    // A recorded .csv file, with or without its certificate beside it; with `sweep` NULL where no
    // run of it was recorded: the page then shows numbers of runs alone
    const char *run;
    const char *output;        // the .html file; "-" is standard output
    const char *page;          // a file in place of the page that the library has, or NULL
    const tr_view_run *others; // drawn over it, and plotted with it
    size_t other_count;
    // The equations of the first run's model, as tr_equations_text writes them in html, or words
    // that say why there are none; NULL: the page does not speak of them
    const char *equations;
    // A database of a sweep, of which the runs are: the page shows one of them at a time, and all
    // runs of the sweep as points and lines. NULL: none
    const char *sweep;
} tr_view_options;
void tr_view_fill(tr_view_options *options, size_t size);
// The page of the library; the run and the output must be given.
static inline tr_view_options tr_view_defaults(void)
{
    tr_view_options o;
    tr_view_fill(&o, sizeof o);
    return o;
}

typedef struct tr_view_summary {
    size_t rows;
    size_t bytes;         // of the report
    bool has_certificate; // the .json file is there; of several runs, all are
    bool is_other_model;  // and is about a model file that had another content; of any run
} tr_view_summary;

// Whether a report could be written: false, and an error, when the library was built without its
// page or the file cannot be made. Worth asking before a long run.
bool tr_view_check(const tr_view_options *options, tr_error *err);

// Writes one HTML file, which needs no other, to see a run of the model move. The run must have the
// columns of the model's coordinates; nothing is simulated. `summary` may be NULL. TR_INVALID when
// the certificate beside the run is that of another.
bool tr_view(const tr_system *system, const tr_view_options *options, tr_view_summary *summary,
             tr_error *err);

// A report of a run while it is made: its sink keeps the rows, and the report is written when they
// are all there, also of a run that failed. The run of the options does not matter.
typedef struct tr_report tr_report;
tr_report *tr_report_new(tr_error *err);
const tr_sink *tr_report_sink(const tr_report *report); // which belongs to it
bool tr_report_write(const tr_report *report, const tr_system *system,
                     const tr_view_options *options, tr_view_summary *summary, tr_error *err);
void tr_report_free(tr_report *report);

// Where the certificate of a recorded run stands: "a/run.csv" has "a/run.json".
char *tr_certificate_beside(const char *run, tr_error *err);

// The case, the files `with` and the settings that a run was made with, as the certificate beside
// it has them.
typedef struct tr_origin tr_origin;
tr_origin *tr_origin_read(const char *run, tr_error *err); // empty when there is no certificate
// Puts them into options that began with tr_derive_defaults; the texts belong to the origin.
void tr_origin_options(const tr_origin *origin, tr_derive_options *options);
// The path of the model's file, whose name the certificate has: beside the run, or else in the
// current folder; NULL when it is in neither. It belongs to the origin, and may have changed since.
const char *tr_origin_model(const tr_origin *origin);
void tr_origin_free(tr_origin *origin);

// ---- FMUs ----------------------------------------------------------------------------------

// FMUs of anybody, FMI 2.0 and 3.0, for model exchange ("me") and co-simulation ("cs"). Running one
// runs the code that is in it, in this process and with its rights; its files are in a temporary
// folder meanwhile, which tr_remove_temporaries removes, too.
typedef struct tr_fmu_options {
    size_t size;
    const char *kind;   // "me", "cs"; NULL: what there is, "me" of both (tr_fmu_check: both)
    double start, end;  // [s]; NaN: as its <DefaultExperiment> says, else 0 and 10
    double every;       // rows at start, start + every, ... and the end [s]; 0: a five-hundredth
    double step;        // of "cs", between which it is told inputs [s]; 0: as it says, else `every`
    const char *method; // of "me": bdf, erk
    double rtol, atol;  // of the whole run, about; 0: as it says, else 1e-6; `atol` is times each
                        // state's nominal value, 0: rtol / 100
    const tr_setting *settings; // parameters, inputs and start values: numbers, true, false, texts
    size_t setting_count;
    const char *inputs; // a .csv file with a column t: inputs by their names, by lines between rows
                        // where they are continuous; NULL without
    const char *output; // as of tr_simulate_options
    const tr_sink *sinks;
    size_t sink_count;
    bool (*progress)(void *owner, double t, double end); // as of tr_simulate_options
    void (*say)(void *owner, const char *words);         // what the FMU says; may be NULL
    // What is wrong with it, or odd, as it is found; may be NULL.
    void (*found)(void *owner, bool is_mistake, const char *words);
    void *owner;
    size_t most_steps, most_numbers; // as of tr_simulate_options
    bool build;        // compile its sources by cc where there is no binary for this machine
    bool no_run;       // tr_fmu_check: nothing of it is run
    bool all_messages; // it is asked to say all that it can
    bool unused[5];    // false: room for more
} tr_fmu_options;
void tr_fmu_fill(tr_fmu_options *options, size_t size);
static inline tr_fmu_options tr_fmu_defaults(void)
{
    tr_fmu_options o;
    tr_fmu_fill(&o, sizeof o);
    return o;
}

// Whether an FMU is as the standard asks for: its archive, modelDescription.xml and, unless
// `no_run`, what it does when it is called. What there is, in words or as JSON, to be freed with
// tr_text_free; `mistakes` of which there are so many have been told to `found`. Also of one that
// is no FMU at all. NULL on error: TR_IO when the file cannot be read, TR_FAILED when it cannot be
// run here.
char *tr_fmu_check(const char *path, const tr_fmu_options *options, bool json, size_t *mistakes,
                   tr_error *err);

// Simulates one, and records its outputs and what else changes. Of the summary times, rows, steps,
// evaluations, events (`switches`) and `interrupted` are filled in. TR_INVALID when it is no FMU,
// TR_FAILED with what it said when it cannot go on, TR_USAGE, TR_IO; rows stay as of tr_simulate.
bool tr_fmu_simulate(const char *path, const tr_fmu_options *options, tr_summary *summary,
                     tr_error *err);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
