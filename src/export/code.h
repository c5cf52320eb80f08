// SPDX-License-Identifier: Apache-2.0
// What of a model is printed, whatever the language: names with units, and functions as operations
// of one list. The state is x = (q, v, z): positions, velocities, then what else has a rate (tyres,
// where contacts touch, speeds that the equations are shortest in). Of the velocities those that
// are independent in the chart at the start count, or the speeds in their place; the others follow.
#ifndef TR_EXPORT_CODE_H
#define TR_EXPORT_CODE_H

#include "plan/flow.h"
#include "program/flat.h"

typedef struct CodeName {
    const char *name;       // the model's
    char *id;               // for any language: "q_roll", unlike all others
    const char *unit, *doc; // "" when they are not known
    double least, most;     // its range
    double value;           // its default; NaN of an input that follows its formula of t
    uint32_t input;         // of the system; NO_INPUT of outputs
    bool is_integrated;     // of the state: it does not follow from others
    const Port *port;       // NULL where there is none
} CodeName;

typedef struct CodeNames {
    CodeName *at;
    uint32_t count;
} CodeNames;

// A function: entries of one array from the arguments
typedef struct CodeFunction {
    uint32_t count;
    uint32_t *entry, *value; // where each goes; a node
} CodeFunction;

typedef enum CodePart {
    PART_RATES,           // x'
    PART_FIRST,           // the same as a run's first stage of a step has it
    PART_OUTPUTS,         // y
    PART_JACOBIAN,        // of x' by x, then u: the entries that are not zero
    PART_FOLLOW,          // into x: driven positions, velocities that depend on others
    PART_SPEEDS,          // into x: speeds, from all velocities
    PART_PHI,             // constraints on positions
    PART_PROJECTION,      // and their slopes, by rows
    PART_QUALITY,         // of the chart: squares of rows that are pivots, pivots, tilt
    PART_INPUTS,          // u, from parameters
    PART_START,           // x, as it is guessed from parameters, but for what no formula gives
    PART_GIVEN_POSITIONS, // conditions on positions at the start, and their slopes by rows
    PART_GIVEN_RATES,
    PART_METRIC,   // masses along rates at the start, then motions that change nothing, by rows
    PART_GRADIENT, // of weight . x' by x, then u
    PART_HESSIAN,  // how that changes along a change of x and u
    PART_SIGNALS,  // u, by formulas of t where it follows these
    PART_TANGENT,  // how rates, y, what follows, constraints and their slopes change
    PART_CLOCKS,   // period and seed of each that acts at samples
    PART_SENSE,    // what sensors hold after a sample
    PART_CONTROL,  // likewise states of controllers, then inputs that they set
    PART_JUMPS,    // what jumps at times that are known beforehand
    // In the unreduced form alone, where rates are those of what is no velocity, and outputs take
    // what was found (see unreduced.h): slopes of rows, other terms, and margins of alarms
    PART_ROWS,
    PART_TERMS,
    PART_MARGINS,
    PART_SIDES,   // of switches of the state, in an FMU of the reduced form
    PART_WATCHED, // margins of what ends a run or makes it warn, in an FMU of either form
    // and how they change, in an FMU (T403)
    PART_FOLLOW_CHANGE,
    PART_PROJECTION_CHANGE,
    PART_ROWS_CHANGE,
    PART_TERMS_CHANGE,
    PART_RATES_CHANGE,
    PART_OUTPUTS_CHANGE,
    CODE_PARTS
} CodePart;

// Conditions at the start, for entries of x
typedef struct CodeConditions {
    uint32_t rows, count; // of the function: residuals, then slopes by rows; unknowns
    uint32_t *place;      // of these, entries of x
    uint32_t easy;        // motions of the metric
    uint32_t loose;       // unknowns that follow from others, the last of them
    bool has_wishes;      // guesses of what is no unknown, too
} CodeConditions;

// What acts at samples (T324). What it holds is among the state, behind all else: numbers of
// sensors, states of controllers, then how many samples each took.
typedef struct CodeSamples {
    CodeNames s, c, clock;    // what controllers read, their states, who acts
    uint32_t held;            // the first entry of x
    uint32_t sensed;          // numbers of sensors; states of controllers are `c`
    uint32_t *said;           // by sensor: which of these it says
    uint32_t sensors;         // the first of those that act
    uint32_t *read;           // by entry of s behind the sensors': of x, or of what is found
    uint32_t *set, set_count; // entries of u that controllers set
    char **counts;            // by clock: what its number of samples is called
    bool has_noise;
} CodeSamples;

typedef struct CodeOptions {
    const char *name;    // of files and functions
    const char *fix;     // "a,b" or "all"; NULL
    const char *outputs; // labels; NULL: all
    bool is_single;      // float
    bool opens;          // parameters that are 0, 1 or -1 stay parameters
    bool differentiates; // gradients and second slopes, too
    bool is_unreduced;
    bool is_fmu; // tangents in place of the Jacobian
    // of an FMU
    int fmi; // 2 or 3
    bool exchanges, simulates, sources_only;
    double step;
    bool is_step_said; // else it is shorter where that is needed
} CodeOptions;

typedef struct Export {
    const System *system;
    CodeOptions options;
    tr_plan *plan;
    Flow *flow; // at the start
    CodeNames x, u, p, y, fixed, latches;
    uint32_t positions, velocities; // of x: the first, and those behind them
    uint32_t rated;                 // of x: what has a rate. Events and samples set the rest
    uint32_t *mode;                 // at the start, see c_header.txt
    double *signal_start;           // u at t = 0
    double *start;                  // x at the start with the model's own parameters
    uint32_t *quaternion, quaternion_count;                   // entries of x, the first of four
    uint32_t *projected, projected_count;                     // entries of x that projecting moves
    uint32_t phi_count;                                       // constraints on positions
    uint32_t pivot_count;                                     // of the chart
    uint32_t *jacobian_row, *jacobian_column, jacobian_count; // of its entries
    CodeConditions given[2];                                  // positions, rates
    CodeSamples samples;
    bool strikes; // at what jumps velocities may, too
    Flat flat;
    CodeFunction part[CODE_PARTS];
    uint32_t *input_node; // by input of the system and side of a switch
    bool failed;
} Export;

// Within its making: room for a function; which entry of the state an input is, x.count when none;
// and what there is at the start.
bool tr_code_open(Export *code, CodePart part, uint32_t count);
uint32_t tr_code_entry(const Export *code, uint32_t input);
void tr_code_start(Export *code, tr_error *err);
// Outputs of a program as a function, `wanted` by their indices; NULL: all. And the rates of the
// state, as expressions of a system of one's own.
void tr_code_program(Export *code, CodePart part, const tr_program *program, const uint32_t *wanted,
                     uint32_t count);
void tr_code_rates(const Export *code, const System *system, Exprs *list);
void tr_code_jacobian(Export *code, tr_error *err);
void tr_code_second(Export *code, tr_error *err);
void tr_code_signals(Export *code, tr_error *err);
// `outputs`: the columns of y; NULL: how rates change alone
void tr_code_tangent(Export *code, const uint32_t *outputs, tr_error *err);

// How expressions of a system change, as a function: along changes of x, u, t, p and what is found,
// which become inputs of it. Rows of such a system, too, become functions.
typedef struct CodeChanges {
    System *system;
    uint32_t first;        // of these inputs
    Expr *symbol, *change; // of what may change
    uint32_t count;
} CodeChanges;
bool tr_code_open_changes(const Export *code, System *s, CodeChanges *to, tr_error *err);
void tr_code_close_changes(CodeChanges *changes);
void tr_code_changes(Export *code, CodePart part, const CodeChanges *changes, const Exprs *rows,
                     tr_error *err);
void tr_code_rows(Export *code, CodePart part, const CodeChanges *changes, const Exprs *rows,
                  tr_error *err);

// Which alarms an FMU watches, and how many; `list` may be NULL. And their margins as a function,
// in the reduced form and in the other.
uint32_t tr_code_list_watched(const Export *code, uint32_t *list);
void tr_code_watched(Export *code, tr_error *err);
void tr_code_sides(Export *code, tr_error *err); // on which side of its switches the state is
void tr_code_open_watched(Export *code, const CodeChanges *open, tr_error *err);

// A name of a list, unlike all others in it; and what acts at samples
void tr_code_name(Export *code, CodeNames *names, const char *prefix, const char *name,
                  const Port *port, uint32_t input);
void tr_code_free_names(CodeNames *names);
void tr_code_name_held(Export *code);
void tr_code_map_held(Export *code);
void tr_code_samples(Export *code, tr_error *err);
void tr_code_open_samples(Export *code, const CodeChanges *open, tr_error *err);
void tr_code_free_samples(CodeSamples *samples);

Export *tr_code_new(const System *system, const CodeOptions *options, tr_error *err);
void tr_code_free(Export *code);

static inline bool code_has(const Export *code, CodePart part) { return code->part[part].count; }

#endif
