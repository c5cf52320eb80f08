// SPDX-License-Identifier: Apache-2.0
// The waist of the hourglass: one expression graph with named inputs and named outputs. Physics
// makes systems; everything else consumes them.
#ifndef TR_EXPR_SYSTEM_H
#define TR_EXPR_SYSTEM_H

#include "base/sha256.h"
#include "expr/condition.h"
#include "expr/formula.h"
#include "expr/list.h"
#include "expr/port.h"
#include "expr/scene.h"

typedef enum Drive { DRIVE_NONE, DRIVE_TORQUE, DRIVE_MOTION } Drive;

typedef struct Input {
    const char *name;
    tr_kind kind;
    Expr symbol;
    Expr rate;       // id 0: not known (yet)
    Expr change;     // in first order, of what is found in place of its rate: how fast it changes
    Expr definition; // of other inputs, for one that is driven, dependent or solved; else id 0.
                     // Programs use it
    Expr motor;      // of a driven velocity of a constrained system: its force, a solved input
    double value;    // where programs fix it
    Expr guess;      // what `value` comes from, id 0 where it is just a number: of an input or a
                     // number of the start, a formula of parameters; of a position or velocity, the
                     // symbol of a number of the start
    // Of an input that is a formula of t until a number replaces it:
    Expr follows;        // the symbol that is 1 until then; else id 0
    Expr signal;         // choose(follows, formula, symbol): what formulas mean by its name
    bool rate_known;     // also where the model had a formula, and has a number instead
    const char *felt_by; // in first order, of a driven position: what depends on how fast it goes
    bool is_controlled;  // an input that a controller sets
    bool is_change;      // of what is solved: how fast a velocity changes, in first order
    bool is_base;        // a velocity of a base
    bool is_extra;       // a position that no velocity moves: it has a rate of its own
    bool is_given;       // `initial` gives it by name, so there is nothing to solve
    bool preferred;      // a velocity that the model wants to be independent
    uint8_t drive;       // of a velocity: what drives it, see Drive
    Port port;           // what it is
    Expr least, most;    // its range, of parameters; id 0: none
} Input;

typedef struct Output {
    const char *name;
    uint32_t rows, columns;
    const Expr *values;       // by rows
    const char *label;        // of the column it is recorded under; NULL when it is not recorded
    const char *const *notes; // what each row is about, for messages; may be NULL
    Port port;                // what its numbers are
} Output;

#define NO_LINK UINT32_MAX // of the forest: the world, or none

// A constraint on the velocities, G v + g = 0 [B 2]; or the formula N v + n of a speed that the
// model describes its motion by [B Remark 4].
typedef struct Row {
    const char *name;   // "front.lateral"
    Port port;          // of its reaction: owner "front", component "lateral"
    Place place;        // of its element in the model file
    const Expr *slopes; // G, by velocity; NULL of many, where it follows from `base` alone
    Expr rest;          // g
    Expr rate;          // G v + g
    Expr bias;          // G' v + g': its time derivative while velocities stay the same
    Expr position;      // phi, whose rate it is; id 0 when there is none
    Expr symbol;        // its reaction lambda, or the speed itself
    Expr uneven;        // the rate on ground that slopes another way here; id 0: the same
    // As it is eliminated: by inner velocity where there are such. The three rows of a contact may
    // be components in the axes of its tree's root; then a row's own reaction is mix . those of the
    // three.
    const Expr *inner_slopes;
    Expr inner_rest, inner_bias, mix[3];
    bool is_mixed;
    uint32_t inner_first; // the first of the three rows
    // The same along the tree: on . (V, W) of a link of the forest, and slopes of velocities behind
    // it, by their places. NO_LINK: the inner slopes are all. The drift is the bias where the link
    // neither accelerates, as seen from the world, nor begins to turn.
    uint32_t base;
    Expr on[6], drift;
    Expr mix_along[3]; // mix, as it is shorter there
    struct SlopeBehind {
        uint32_t place;
        Expr slope;
    } * behind;
    uint32_t behind_count;
    bool is_behind; // on is nothing: what is behind the link decides alone, as of a loop
    double unit;    // the model's length where the reaction is a moment, else 1 [m]
    Expr arm;       // the same, as it depends on parameters
    Expr weight;    // of the reaction in the norm that is least
    Expr tension;   // the reaction as the model gives it; id 0 when it does not
    bool leads;     // bears all it can
    bool is_speed;
    bool is_open; // it constrains nothing: at the start, or in the modes of a copy
    Expr pivot;   // what it is divided by where it is solved for a velocity; id 0 when it is not
} Row;

// Three velocities of a base, and the same along other axes, in which the equations are shorter:
// v = C u. Reduction takes u for unknowns; until then it is defined by v.
typedef struct Turned {
    uint32_t outer, inner; // inputs: the first of three each
    Expr C[9];
} Turned;

// What happens when an alarm goes off. The last five are about a latch, in the state that they end.
typedef enum AlarmKind {
    ALARM_WARNS,
    ALARM_SATURATES, // told at the end, with how long it lasted
    ALARM_STOPS,
    ALARM_HOLLOW, // stops, too, unless that contact is open
    ALARM_OPENS,
    ALARM_TOUCHES,
    ALARM_SLIPS,
    ALARM_STICKS,
    ALARM_RETURNS // it began to slip, but turns back
} AlarmKind;

#define NO_LATCH UINT32_MAX

// What a run watches: a number that should not become negative.
typedef struct Alarm {
    const char *words; // what it means when it does
    Expr margin;
    AlarmKind kind;
    uint32_t latch;
    uint32_t touching; // of a hollow
    Expr place[2];     // of a table that is left: where
    uint32_t place_count, table;
} Alarm;

// What lets go: a contact, a stop of a joint, or dry friction in one. Impacts of contacts have
// friction; dry friction in joints bears no impulse (T344), and has its limits as `load` 1.
typedef enum LatchKind { LATCH_CONTACT, LATCH_STOP, LATCH_GRIP } LatchKind;

// A contact that may let go: open when its normal force would pull, until it touches again; and
// slipping when it would exceed the available friction, until it stands still.
typedef struct Latch {
    const char *name;
    LatchKind kind;
    uint32_t rows[3], row_count;  // its constraints
    bool is_normal[3], sticks[3]; // of each: the one that keeps it apart, those that may slip
    Expr gap;                     // how far it is from touching
    Expr restitution;             // of an impact, before it
    Expr friction;                // coefficient
    Expr first, stiction;         // the same of slip that only just begins, and of what sticks
    Expr load;                    // what presses, where that is no reaction; else id 0
    Expr closed, slipping;        // symbols that are 1 or 0
    Expr heading[3];              // symbols, by row: which way it began to slip, a unit vector or 0
    bool opens, slips;            // what it can do
    bool starts_open;
} Latch;

// What a latch does.
typedef struct LatchMode {
    bool is_open, is_slipping;
    double heads[3]; // by row: which way it began to slip
} LatchMode;

// Where a contact touches a surface that is not flat: x and y in the surface's axes are two inputs
// of the kind TR_TOUCH, whose rates are known, and two residuals that stay zero (T186, T188).
#define NO_TOUCHING_ROW UINT32_MAX
typedef struct Touching {
    const char *name; // of the contact
    uint32_t input;   // the first of the two
    uint32_t row;     // along its normal; or none, where that is only asked for
    Expr tangency[2]; // the residuals
    Expr slopes[4];   // of these by x and y
    Expr gap, margin; // how far it is from touching; how much flatter the surface is
    Expr hollow[2];   // the radii that the surface is curved with, upwards: along, across
    Expr height;      // of the surface, by x and y
    Expr middle[3];   // of the wheel or the ball, in the surface's axes
    Expr axle[3];     // likewise; nothing of a ball
    Expr ring, tube;  // its radii: a ball is all tube
} Touching;

// A coordinate or velocity that is not known exactly at the start (T261), or the turn of a base
// about an axis of its own: then its angular velocity there
typedef struct Deviant {
    uint32_t input;
    bool turns;
} Deviant;

// What acts at samples alone, from t = 0 on: a controller or a sensor (T321). Periods, seeds and
// what is held after a sample are the output "samples": first two numbers for each of these.
typedef struct Clocked {
    const char *name;
    bool is_sensor;
    Place place;
    double period;       // [s], with the parameters of the model
    uint32_t due, first; // inputs that are 1 at its samples, and at the first of them; else 0
    uint32_t noise;      // of a sensor: an input with a normal number for each sample, or NO_INPUT
} Clocked;

// A number that one of these holds between samples
typedef struct Held {
    uint32_t input, clocked;
    bool is_felt; // by what moves, and not only by other samples and outputs
} Held;

// What was measured now and then (T263): its formulas are the output "fix.NAME", their standard
// deviations "fix_sd.NAME".
typedef struct FixSeries {
    const char *name;
    uint32_t count, rows;
    const char *const *of; // the formulas in words
    const bool *turns;     // angles, of which whole turns do not count
    const double *t;       // by row
    const double *values;  // by row, `count` each; NaN where nothing was measured
    bool drops;            // outliers
} FixSeries;

// What the derivation found on its way, for those who write equations: of a body a velocity, a
// spin, their changes, force and moment by inertia, these with all that comes behind the body,
// mass, first moments and inertia of all that, momenta at unit speeds. Components are in axes that
// move with the body.
typedef enum CalledKind {
    CALLED_V,
    CALLED_W,
    CALLED_A,
    CALLED_ALPHA,
    CALLED_FORCE,
    CALLED_MOMENT_OF_FORCE,
    CALLED_FORCE_BEHIND,
    CALLED_MOMENT_BEHIND,
    CALLED_MASS,
    CALLED_MOMENT,
    CALLED_INERTIA,
    CALLED_P,
    CALLED_L
} CalledKind;
typedef struct Called {
    const struct Called *next;
    const char *body, *component;
    uint32_t node;
    CalledKind kind;
} Called;

// A name that formulas know: an input's symbol, a definition, or a function.
typedef struct Named {
    Text name;
    Expr meaning;             // id 0 for a function
    const Function *function; // NULL for a value
} Named;

// A formula of the user's of what moves, and where it stands; or something in one that has no value
// where something else is zero.
typedef struct Formula {
    const char *path; // "roles.hip.torque"
    const char *text; // in the model, while it is derived
    Place place;
    Expr value;
    Expr divisor;      // that; id 0: it is a formula as it was written
    const char *words; // and what it means
} Formula;

typedef tr_system System;
// What runs programs: machine code where that can be had, or an interpreter.
typedef enum Evaluation { EVALUATE_NATIVE, EVALUATE_INTERPRETER } Evaluation;

// What expressions are with definitions in place, as far as somebody asked; by their ids, 0 when it
// is not known. It holds for the definitions that it was found with.
typedef struct Resolution {
    uint32_t *map, *definitions;
    uint32_t capacity, inputs;
} Resolution;
void tr_resolution_free(Resolution *resolution);

// A form of the equations that was made and counted, and how: what explains them tells of it.
enum { MOST_FORMS = 24 };
typedef enum FormKind { FORM_ARTICULATED, FORM_FACTORISED, FORM_GLOBAL, FORM_LOCAL } FormKind;
enum { // of the first two, then of the last
    FORM_ALONG = 1,
    FORM_LOADED = 2,
    FORM_GROUNDS = 1,
    FORM_LATE = 2,
    FORM_ARTICULATES = 4,
    FORM_PROJECTS = 8,
    FORM_AT_ONCE = 16
};
typedef struct MadeForm {
    FormKind kind;
    unsigned ways;
    size_t count; // instructions of the first two, operations of the others; 0: not counted
} MadeForm;

struct tr_system {
    Graph *graph;
    Input *inputs;
    uint32_t input_count, input_capacity;
    Output *outputs; // a name space of their own: a parameter may be called M
    uint32_t output_count, output_capacity;
    Hash output_hash;
    Named *names;
    uint32_t name_count, name_capacity;
    Hash name_hash;
    // Positions that are unit quaternions: input of the scalar part, and of the first of the three
    // angular velocities, in the body's axes.
    struct Quaternion {
        uint32_t position, velocity;
    } * quaternions;
    uint32_t quaternion_count, quaternion_capacity;
    Row *rows; // those of speeds come last
    uint32_t row_count, row_capacity;
    bool least_torques; // where reactions are not unique: before they are least themselves
    struct Dropped {    // rows that hold whatever moves
        const char *name;
        bool is_loop;
    } * dropped;
    uint32_t dropped_count, dropped_capacity;
    const char **cuts; // names of joints that became loops
    uint32_t cut_count;
    struct Forest *forest; // see forest.h; NULL where bodies bend or fluid moves along
    Turned *turned;
    uint32_t turned_count, turned_capacity;
    Alarm *alarms;
    uint32_t alarm_count, alarm_capacity;
    Latch *latches;
    uint32_t latch_count, latch_capacity;
    Touching *touchings;
    uint32_t touching_count, touching_capacity;
    Condition *conditions; // what was decided by the values of parameters
    uint32_t condition_count, condition_capacity;
    Hash condition_hash; // empty in copies, which keep no more
    Formula *formulas;   // those that others use first; none in copies
    uint32_t formula_count, formula_capacity;
    uint32_t body_count;
    bool keeps_called;    // what follows is wanted
    const Called *called; // in the graph's memory; copies share it
    // Bodies whose inertias are parameters of their own (T270): the first of ten inputs
    struct OpenInertia {
        const char *body;
        uint32_t input;
    } * opened; // in the graph's memory; copies share it
    uint32_t opened_count;
    Resolution resolution;    // see resolve.c
    Evaluation evaluation;    // of programs that are made from it
    tr_simulate_options plan; // what the case says about running; no method when there is no case
    bool allows_singular;     // a start where rows are dependent that are not nearby
    bool allows_second_touch; // of a wheel on a surface that is not flat
    const char *title;        // the model's name
    Scene scene;              // what it looks like
    struct Source {           // what it was derived from
        const char *file;     // "" when it was no file
        const char **files;   // that it named, where they are
        uint32_t file_count;
        size_t file_bytes; // of all of these
        Sha256 content;    // of these, one after the other
        const char *text;  // the file, as it was; NULL when calls made the model, or changed it
        char sha256[TR_SHA256_SIZE]; // of the text, and where it named files of their hash behind
                                     // it; "" when there is none
        const char *case_name;       // "" when there is none
        const tr_setting *settings;
        uint32_t setting_count;
        const char *const *with, *const *with_texts; // files with keys of a case
        uint32_t with_count;
        const tr_setting *torques; // of roles with one formula: the joint, and the formula
        const char **limits;       // of these torques; NULL where there is none
        uint32_t torque_count;
        const char *included; // files, and what their names begin with, in one line; NULL: none
        Arena origins;        // what places in these point to
    } source;
    MadeForm forms[MOST_FORMS]; // of the accelerations
    uint32_t form_count, form_kept;
    double seconds; // that deriving it took
    int digits;     // of numbers in texts for people; 0: all
    bool has_commands;
    const Clocked *clocked;
    const Held *held;
    uint32_t clocked_count, held_count;
    const Deviant *deviants; // whose standard deviations are the output "deviations"
    const FixSeries *fixes;
    uint32_t deviant_count, fix_count;
    Place asked;          // where velocities are asked for in first order: commands, or the case
    const char *left_out; // in first order: outputs that take forces, "'a', 'b'"; NULL: none
    const char *missing;  // files of meshes that cannot be read, "'a', 'b' (why)"; NULL: none
    int order;            // 1: velocities are found in place of accelerations (T257); else 2
};

// Its number; the last one stands for those that there is no room for.
static inline uint32_t tr_system_note_form(System *s, MadeForm form)
{
    if (s->form_count < MOST_FORMS) s->form_count++;
    s->forms[s->form_count - 1] = form;
    return s->form_count - 1;
}

// A system of one's own with the same equations, to add to. The original must outlive it: names
// are shared.
System *tr_system_copy(const System *system, tr_error *err);

// ---- names and inputs ----------------------------------------------------------------------

const Named *tr_system_find(const System *system, Text name);
// The table of an operation by the name that the model gave it, with how often it is
// differentiated: "hill{1}"
void tr_table_called(const System *system, const Node *node, Buffer *text);
Scope tr_system_scope(System *system);

// Defines a name for formulas; its text is kept. An error when it is taken.
void tr_system_name(System *system, Text name, Expr meaning, tr_error *err);
void tr_system_function(System *system, Text head, Text body, Place place, tr_error *err);
// Defines a table, which is taken over; `holds`: formulas find its ends beyond them. The table
// itself goes on there: what holds is a min and a max, and these jump like others.
void tr_system_table(System *system, Text name, const Table *table, bool holds, tr_error *err);

// A number of `initial` or `guess` that a formula of parameters gives, and that is its definition:
// an input of the kind TR_START. It is found by its name, which formulas do not know: it may be
// "initial.d(roll)". An error when it is taken.
Expr tr_system_start(System *system, Text name, Expr formula, double value, tr_error *err);

// Makes an input follow a formula of t, until a number replaces it (T240). It is an input of the
// kind TR_MODE, "steer.follows", that says so.
void tr_system_follow(System *system, Expr symbol, Expr formula, tr_error *err);
// The input that is 1 while another one follows its formula; NO_INPUT when it has none.
uint32_t tr_system_follower(const System *system, uint32_t input);
// In a system of one's own: what follows a formula is a number, and an input like others.
void tr_system_unfollow(System *system);

// The input that a symbol is, or NULL.
Input *tr_system_input(const System *system, Expr symbol);
// Indices of the inputs of a kind, in order; returns their number. `list` may be NULL.
uint32_t tr_system_inputs(const System *system, tr_kind kind, uint32_t *list);
// A velocity by its name, a speed by that of its formula.
const char *tr_system_speed_name(const System *system, uint32_t input);
// A velocity's coordinate by its name, "steer"; where it is no rate of one, its own, "frame.vx".
const char *tr_system_joint_name(const System *system, uint32_t velocity);
// The input of this kind that is this part of a body, joint or contact; NO_INPUT when there is
// none.
uint32_t tr_system_part(const System *system, tr_kind kind, const char *owner,
                        const char *component);

// What users may set and vary: a parameter or an input that nothing defines and no controller sets.
static inline bool is_setting(const Input *input)
{
    return (input->kind == TR_PARAMETER || input->kind == TR_INPUT) && !input->definition.id &&
           !input->is_controlled;
}
// The one called so; when there is none NULL, and the error says why it cannot be "varied" or
// whatever is done to it.
const Input *tr_system_setting(const System *system, Text name, const char *done, tr_error *err);

// The input that is a parameter, an input or a number of the start called so, this also by the left
// side of `initial`; NO_INPUT, and the error says why it cannot be "varied", when there is none.
uint32_t tr_system_number(const System *system, Text name, const char *done, tr_error *err);

// What a state has besides velocities: a coordinate, or where a contact touches a surface.
static inline bool is_placed(const Input *input)
{
    return input->kind == TR_POSITION || input->kind == TR_TOUCH;
}

// The mass of a velocity in the unit metric, in which rotations count times the model's length
// (T257)
double tr_system_unit_mass(const System *system, uint32_t velocity);
// False, with words, for those who need accelerations.
bool tr_system_is_second_order(const System *system, const char *what, tr_error *err);

// Whether a velocity goes where a motion tells it to.
static inline bool is_motion_driven(const Input *input)
{
    return input->kind == TR_VELOCITY && input->drive == DRIVE_MOTION;
}

// ---- outputs -------------------------------------------------------------------------------

// Whether it is one of those that the model defines, and recorded under that name.
static inline bool is_model_output(const Output *output)
{
    return output->label && begins_with(output->name, "outputs.");
}

// Whether it is what samples are made of: it moves nothing by itself.
static inline bool is_of_samples(const Output *output)
{
    return strcmp(output->name, "samples") == 0;
}

const Output *tr_system_output(const System *system, Text name);

// Adds the expressions of an output to a list; those by inner velocities, where there are such.
// There must be one of that name.
void tr_output_list(const System *system, const char *name, Exprs *list);
void tr_system_list(const System *system, const char *name, Exprs *list);

// An output in place of the one that has this name, if there is one.
void tr_system_put(System *system, const char *name, const Expr *values, size_t rows,
                   size_t columns, tr_error *err);

// An output that is recorded under a label of its own.
void tr_system_column(System *system, const char *name, const char *label, Expr value, Port port,
                      tr_error *err);
// What a column of that label is: of coordinates, velocities and outputs; NULL for any other.
const Port *tr_system_column_port(const System *system, const char *label);

// ---- expressions ---------------------------------------------------------------------------

// An input of this kind that the expressions use, or NULL.
const Input *tr_system_uses_any(const System *system, const Expr *of, size_t count, tr_kind kind);
static inline const Input *tr_system_uses(const System *system, Expr x, tr_kind kind)
{
    return tr_system_uses_any(system, &x, 1, kind);
}

// A force that equations of second order find, and that the expression uses, or NULL.
const Input *tr_system_uses_force(const System *system, Expr x);

// An input of the kind TR_INPUT that the expression uses and whose rate nobody knows, or NULL.
const Input *tr_system_uses_unrated(const System *system, Expr x);

// Operations that the expressions need at every evaluation: those on parameters alone are not
// counted, nor those that parameters which are 0, 1 or -1 leave nothing of.
size_t tr_system_operations(System *system, const Expr *of, size_t count);
// The same where equal ones are merged and parameters are fixed, as in a program
size_t tr_system_merged_operations(System *system, const Expr *of, size_t count);
// The same where products that a single sum uses are part of it, as programs will have it: that is
// what time follows.
size_t tr_system_instructions(System *system, const Expr *of, size_t count);

// The time derivative of each expression along the motion; false, with words, when one depends on
// an input whose rate is not known.
bool tr_system_rates(System *system, const Expr *of, size_t count, Expr *out, tr_error *err);
// In first order, where velocities have their definitions: how fast they change, along the motion.
void tr_system_define_changes(System *system);

// Puts definitions in place of what is defined, until nothing is.
void tr_system_resolve(System *system, Expr *of, size_t count);

// Whether runs watch something that may end them, or is told with its time, besides constraints
bool tr_system_is_watched(const System *system);

// ---- modes of latches ----------------------------------------------------------------------

void tr_latch_start(const System *system, LatchMode *modes);
// Which rows constrain nothing.
void tr_latch_rows(const System *system, const LatchMode *modes, bool *open);
// Into values of all inputs: the symbols that programs take.
void tr_latch_put(const System *system, const LatchMode *modes, double *inputs);
// In a system of one's own: rows that are open, and symbols that are 1 or 0 defined so. Where
// things head stays an input.
void tr_system_latch(System *system, const LatchMode *modes);
// The same for any modes: no row is open, and all these symbols stay inputs.
void tr_system_unlatch(System *system);

// ---- velocities along turned axes ----------------------------------------------------------

// The velocities in order, with inner ones in place of those that have them.
uint32_t tr_system_velocities(const System *system, uint32_t *list);
// The inner velocity in place of a velocity, and the other way; others stand for themselves.
uint32_t tr_system_inner_input(const System *system, uint32_t input);
uint32_t tr_system_outer_input(const System *system, uint32_t input);
// The name of an output that is by velocities, or of the one by these inner velocities.
const char *tr_system_inner(const System *system, const char *name, char room[64]);
// Defines inner velocities by the others: u = C^T v.
void tr_system_turn(System *system);
// v = C u, or u = C^T v: the k-th of the three, of symbols or rates that start at x
Expr tr_turned_out(const Turned *turned, const Expr x[3], int k);
Expr tr_turned_in(const Turned *turned, const Expr x[3], int k);

// By the name that options call it, unless that is NULL. False, with words, when there is none.
bool tr_evaluation_called(const char *name, Evaluation *evaluation, tr_error *err);

#endif
