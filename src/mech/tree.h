// SPDX-License-Identifier: Apache-2.0
// The bodies as a forest on symbolic scalars: what the recursions of dynamics.c, mass.c and
// forward.c run over, and bodies that bend (T27, T29).
#ifndef TR_MECH_TREE_H
#define TR_MECH_TREE_H

#include "base/names.h"
#include "expr/forest.h"
#include "expr/matrix.h"
#include "expr/spatial.h"
#include "expr/system.h"
#include "expr/walk.h"
#include "model/model.h"

#define WORLD UINT32_MAX // the parent of links that hang from nothing
enum { MAX_DOF = 6, MAX_POSITIONS = 7 };
// Of more velocities, matrices of expressions are made when somebody asks.
enum { MOST_VELOCITIES_FOR_M = 200 };
enum { SAMPLES = 3 };                                 // states that have nothing special about them
enum { MOST_MODES = 12, MAX_MODES = 3 * MOST_MODES }; // of a beam: each way, and torsion

struct Tree;
struct Link;

// A place on a body or the world: its axes and origin, in the body's own axes.
typedef struct Anchor {
    uint32_t link;
    Pose pose;
} Anchor;

// What a loop holds of translations, or of rotations, seen from its axis; HOLD_ANGLE: the
// angle between two axes
typedef enum Hold { HOLD_NOTHING, HOLD_ACROSS, HOLD_ALONG, HOLD_ALL, HOLD_ANGLE } Hold;

// A loop, or a joint that was cut.
typedef struct Tie {
    const Loop *loop;   // one of the two
    const Joint *joint; // that was cut
    const char *kind;
    Value name;
    Hold points, turns;
    Anchor body, on;
    Vec at, to;    // its point in either's axes
    Vec axis, own; // its axis in those of `on` and of `body`: unit
    Expr cosine;   // of the angle between the two that a universal joint keeps
    Vec side;      // of `body`, across its axis: what angles are measured by
    Mat turn;      // how `body` stands in `on` when it is closed
    Value stiffness, rest, damping;
    const Role *role;         // of a joint that was cut
    Expr torque;              // what that gives
    Expr coordinate, stretch; // what it leaves free, from zero and from the spring's rest
    Expr rate;                // zero when there is none
} Tie;

// Where an element acts on a body, for results, alarms and drawings.
typedef struct Touch {
    const Contact *contact; // one of the two
    const Tie *tie;
    uint32_t link;
    Vec point;            // in world axes
    Vec middle;           // of a wheel or a ball, in world axes; of a foot its point
    Expr radius;          // of these, 0 of a foot
    const char *parts[6]; // its rows: forces first
    Vec direction[6];     // theirs, in `axes`
    uint32_t part_count, force_count;
    Mat axes;
    Mat carrier; // the axes of what carries it, against the world's
    Expr gap;    // how far it is from the plane that it touches; id 0: nothing to open
    Expr angle;  // how far the contact has run forward round the rim; id 0: no rim
    Expr margin; // how much flatter than the wheel what it is on is; id 0: a plane
    const struct Floor *floor; // what it is on; NULL where nobody draws that
    Expr upright;              // sin^2 of the angle of a wheel to the plane; id 0: no wheel
    bool is_curved;            // what it is on
    bool is_recorded;          // formulas and results know it
} Touch;

// A direction in which a contact slips, and the force that this takes.
typedef struct Slip {
    const Contact *contact;
    const char *part; // longitudinal or lateral
    Value law;
    Expr rate;    // the slip along it
    Expr both[2]; // longitudinal and lateral
    Expr ahead;   // speed of the wheel's middle, forward
    Expr lean;    // angle of the wheel to the right
    Expr force;   // on the body
    bool sticks;  // there is a row as well, and one of the two is off
    uint32_t row;
    uint32_t latch; // what turns it off, or NO_LATCH
} Slip;

// Stops and dry friction of a joint with one coordinate: of a link, or of one that was cut (T340).
typedef struct Restraint {
    const Joint *joint;
    Value name; // of the coordinate
    Expr q, rate;
    bool is_moved;         // told where to go: stops are watched, and friction is a force
    Expr limit[2], gap[2]; // lower and upper; how far it is from each
    bool has_limits, is_soft;
    Expr soft;         // the force of soft stops along q
    Expr friction;     // what it takes to slip
    Expr slipping;     // the force of what slips, along q; zero while it holds
    uint32_t stick;    // the row that holds it, or NO_ROW
    uint32_t latch[3]; // lower, upper, friction; or NO_LATCH
    uint32_t stop[2];  // rows of the stops, or NO_ROW
    Quantity force;
} Restraint;

// What a name means in one formula alone.
typedef struct Local {
    const char *name;
    Expr meaning;
} Local;

typedef struct JointType { // see joint.def
    const char *name, *positions, *velocities;
    Quantity quantity;                                  // of its own coordinate
    const char *fields;                                 // that only some types use
    int worth;                                          // how readily it is cut
    void (*make)(struct Tree *tree, struct Link *link); // NULL: it is done in steps
    const char *loop;                                   // the kind that it is when it is cut
} JointType;

// One of the joints that another one is, in steps (T360)
typedef struct JointStep { // see joint.def
    const char *joint, *coordinate, *type, *axis;
} JointStep;

// One coordinate of its own, along or about an axis; or several that are its body's; or none
static inline bool has_coordinate(const JointType *type) { return !type->positions[0]; }
static inline bool is_fixed(const JointType *type) { return strcmp(type->positions, "none") == 0; }
static inline bool has_several(const JointType *type)
{
    return !has_coordinate(type) && !is_fixed(type);
}
// Its coordinates are places in the parent's axes, as those of a free or a planar joint
static inline bool moves_about(const JointType *type) { return type->positions[0] == 'x'; }
static inline bool has_axis(const JointType *type) { return tr_is_listed(type->fields, "axis"); }
static inline bool is_in_steps(const JointType *type) { return !type->make; }
static inline bool is_true(Value flag) { return text_is(flag.text, "true"); }

typedef struct Coordinate { // a position
    const char *name;
    Expr symbol;
} Coordinate;

typedef struct Velocity {
    const char *name;  // "steer_rate", "frame.vx"
    const char *joint; // as in tau.<joint>: "steer", "frame.vx"
    Expr symbol;
    Motion S; // the motion of the link at unit velocity, in its own frame
    uint32_t link;
    Drive drive;
    Expr torque;       // what the role gives; zero unless it is TORQUE
    Expr armature;     // inertia along it alone (T345)
    Expr passive;      // springs, dampers, potentials, dissipation
    Expr acceleration; // MOTION: as prescribed; else what forward dynamics finds. In first order
                       // the velocity
    Expr change;       // in first order, of MOTION: the acceleration
    Expr tau;          // the generalised force of its drive
} Velocity;

// A body that bends, by its shape integrals [B App. B]. Its point X moves to X + sum U_k e_k, and
// turns by sum Theta_k e_k; rho is mass and J moment of inertia, per length or whatever it is made
// of. All are in the axes of its root. Pairs (j, k) stand at j * count + k.
typedef struct Flex {
    uint32_t position, velocity; // of its first mode: into tree->positions, tree->velocities
    uint32_t count;
    const char **names; // of its coordinates: "mast.y1"
    Rigid still;        // its inertia at e = 0
    Sym moments;        // int rho X X^T
    Sym spinning;       // int J
    Vec *p;             // int rho U_k
    Mat *A;             // int rho U_k X^T
    Vec *h;             // int J Theta_k
    Mat *B;             // int rho U_j U_k^T, by pairs
    Expr *m;            // int rho U_j . U_k + Theta_j . J Theta_k
    Expr *K;            // stiffness
    Expr *damping;      // by mode
    // What bends gets shorter: the point moves by -e^T g e / 2 along x as well, g = int U_j' . U_k'
    // from the root to there. NULL where it does not.
    Expr *G0, *G1; // int rho g and int rho x g, by pairs
    // What it is drawn by: sections with their masses
    struct Piece {
        struct Section *at;
        double mass;
    } * pieces;
    uint32_t piece_count;
    void *table; // of a modal body: see modal.c
} Flex;

// A point of a body that bends, and the axes there.
typedef struct Section {
    const Flex *flex;
    Vec X;
    Vec *U, *Theta; // by mode
    Expr *g;        // by pairs; NULL where nothing gets shorter
    Vec *P, *W; // by mode: how it moves, in the root's axes, and turns, in its own, at unit rate
    Vec drift;  // of its turning, while velocities stay the same
} Section;

typedef struct Link {
    const Body *body;
    const Joint *by; // the joint it hangs by
    const JointType *type;
    // A joint in steps is several links, the last of which is the body's; the others are between it
    // and its parent, with neither mass nor size. All know what the model says of it.
    const Joint *written; // `by`, unless it is in steps
    const JointType *whole;
    uint32_t step; // how many of its links are before this one
    bool is_between;
    bool is_listed;                    // in `joints`
    bool is_reversed;                  // holds the body that the model calls its parent
    uint32_t parent;                   // a link, or WORLD
    uint32_t position, position_count; // into tree->positions
    uint32_t velocity, velocity_count; // into tree->velocities
    const Role *role;                  // NULL while nothing is said of it
    bool has_children, is_base;
    uint32_t motor; // of a joint that is elastic: a link of its own; else WORLD
    bool is_motor;
    Vec axis;   // of a joint that has one: unit, in the parent's axes
    Vec at, to; // where the joint stands, in the parent's axes and in its own
    Mat turn;
    Pose X; // its frame against the parent's
    // X = first second, if it is split: then the two are cheaper one after the other. The second is
    // about and along the joint's axis.
    Pose first, second;
    bool split;
    // An axisymmetric body that spins about its own axis is described in a frame that does not spin
    // with it, so its angle never appears: then this is the missing rotation. Else the identity.
    Mat spin;
    bool carried;
    Vec origin; // of the body, in its frame: along.c and turn.c move frames

    Rigid inertia;
    bool has_added_mass;
    Block added_mass;
    Motion v;         // of the body, in its frame
    Motion frame;     // of the frame itself: v, unless it is carried
    Wrench applied;   // by `forces`, at its origin, in its axes
    Pose world;       // its frame against the world's
    Flex *flex;       // NULL when it is rigid
    Section *section; // of its parent, if it is a point of a beam: then it is nothing else
} Link;

// Turns about its axis, and does not go along it
static inline bool is_revolute(const Link *link)
{
    return link->type->quantity == QUANTITY_ANGLE && !tr_is_listed(link->type->fields, "pitch");
}

// Puts a link's origin there. Where its joint is split, that is where the first part stands; the
// second goes along the axis in along.c alone.
static inline void place_link(Link *link, Vec p) { link->X.p = link->first.p = p; }

// Of a joint in steps; else the link itself
static inline const Link *first_step(const Link *link) { return link - link->step; }
static inline const Link *last_step(const Link *link)
{
    while (link->is_between) link++;
    return link;
}

// The joint's axis in the link's own axes
static inline Vec own_axis(const Link *link) { return turned_back(link->turn, link->axis); }

// What a joint with one coordinate calls it
static inline Value coordinate_name(const Link *link)
{
    if (link->by->coordinate.given) return link->by->coordinate;
    return link->is_listed ? link->by->name : link->body->name;
}

// Expressions at a state, for as long as inputs are those that there were
typedef struct Samples {
    Kept kept;
    uint32_t inputs;
} Samples;

typedef struct Tree {
    const Model *model;
    System *system;
    Graph *graph;
    tr_error *err;
    Link *links; // parents first
    uint32_t link_count;
    Names link_names, joint_names; // see tree.c and role.c
    Coordinate *positions;         // in the order of the file, as are velocities
    uint32_t position_count;
    Velocity *velocities;
    uint32_t velocity_count;
    Anchor *frames; // of the model, in its order
    Tie *ties;
    uint32_t tie_count;
    const Joint **cuts; // joints that became ties
    uint32_t cut_count;
    Touch *touches;
    Slip *slips;
    const Local *locals; // of the formula that is being read
    Restraint *restraints;
    uint32_t touch_count, slip_count, local_count, restraint_count;
    Vec gravity;
    Pose ground;                   // the plane that wheels roll on, against the world
    Expr height, height_symbol[2]; // over it, by symbols for x and y; id 0 where nobody asked
    Expr arm;                      // the longest in the model [m]
    double length;                 // its value, for pictures and ranks
    // Verticals in the axes of free roots, and their rates: cheaper than through the quaternion.
    Expr *known, *known_rate;
    uint32_t known_count;
    struct Seen { // poses of links from above: see meet.c
        Pose *pose;
        uint32_t *from, *way;
        Motion *drift; // of links by themselves
        bool *has_drift;
    } seen;
    Vec *normals, *ups; // the ground's, of one length, and what stands for gravity: by link, those
                        // that somebody asked for
    struct Tree *inner; // the same motions along inner axes, see turn.c; or the tree itself
    Expr t;
    int *parameter_state; // by parameter: see scope.c
    int parameter_depth;
    Budget budget; // of all formulas
    int *output_state;
    int *own_state; // by state of the user's: whether its rate is known, see state.c
    double *value;  // by node: its value where it depends on parameters alone, else NaN
    uint32_t value_count, value_capacity;
    Samples samples[SAMPLES];
    Kept drifts;          // rates while velocities stay the same
    Kept standing;        // expressions where nothing moves
    uint32_t drift_count; // of what they were found with: positions and verticals
    bool constants_only;  // formulas may use parameters alone
    struct SoftRow {      // of the first order: rows that are commands
        const char *name;
        Expr rate;
    } * soft;
    uint32_t soft_count;
    struct NoiseSource { // of white noise, in the order of their symbols
        Expr symbol, density;
        Value formula; // of the density, where that is made later
    } * noises;
    uint32_t noise_count;
    struct Sampling *sampling; // see controller.c; NULL where nothing is sampled
} Tree;
typedef struct SoftRow SoftRow;
typedef struct NoiseSource NoiseSource;

static inline Expr elastic(const Tree *tree, const Flex *flex, uint32_t k)
{
    return tree->positions[flex->position + k].symbol;
}
static inline Expr elastic_rate(const Tree *tree, const Flex *flex, uint32_t k)
{
    return tree->velocities[flex->velocity + k].symbol;
}

// ---- tree.c: room, and where things are ----------------------------------------------------

void *tr_tree_room(Tree *tree, size_t count, size_t size); // in the arena, zeroed
void tr_tree_add_link(Tree *tree, Link link);
Tree *tr_tree_copy(Tree *tree);                  // with links and velocities of its own
void tr_tree_forget(Tree *tree);                 // what it has found of expressions
const char *tr_tree_text(Tree *tree, Text text); // a copy; "" when memory runs out
void tr_tree_check_name(Tree *tree, Value name, const char *what); // refuses what is no name
void tr_tree_check_reserved(Tree *tree, Value name);               // of what formulas speak of
void tr_tree_frames(Tree *tree);                                   // named places
Anchor tr_tree_anchor(Tree *tree, Value name); // a frame, a body, the world or the ground
bool tr_tree_is_frame(const Tree *tree, Text name);
uint32_t tr_tree_find(const Tree *tree, Text body); // a link, or WORLD when there is none
uint32_t tr_tree_body(Tree *tree, Value name);      // the same; an error when it is not there
Pose tr_tree_world(Tree *tree, uint32_t link);      // of the body's own axes

// ---- command.c: first order ------------------------------------------------------------------

// Whether a row is a command instead: then it is kept as one.
bool tr_tree_soften(Tree *tree, const char *row, Expr rate);
void tr_tree_first_order(Tree *tree);    // in place of dynamics
void tr_tree_check_commands(Tree *tree); // which second order ignores

// ---- state.c: states of the user's own -------------------------------------------------------

void tr_tree_states(Tree *tree); // as inputs
// Reads the rates of those that an expression depends on, and of all.
bool tr_tree_know_rates(Tree *tree, Expr of);
void tr_tree_state_rates(Tree *tree);
// How many are known so far; where `of` is not NULL, the ids of these rates at those of the states
uint32_t tr_tree_list_rates(const Tree *tree, uint32_t *of);
// One that an expression uses, or NULL
const Input *tr_tree_own_state(const Tree *tree, Expr of);

// ---- controller.c: what acts at samples --------------------------------------------------------

void tr_tree_held(Tree *tree);    // numbers that are held, as inputs
void tr_tree_samples(Tree *tree); // what they are after a sample, once all else has its name
// In formulas of controllers: what a sensor, or what a controller sets, is at this instant
bool tr_tree_says(Tree *tree, Text name, Expr *meaning);
// Whose samples an input announces; NULL: nobody's
const char *tr_tree_sampled(const Tree *tree, const Input *due);

// ---- uncertain.c: what is not known exactly --------------------------------------------------

// A symbol for white noise of that density, which is 0 in every program; 0 where there is none.
Expr tr_tree_noise(Tree *tree, Text name, Expr density);
Expr tr_tree_density(Tree *tree, Value formula); // which is not negative
// Of three components, "NAME.x" or "NAME.PREFIX.x"
Vec tr_tree_noise_vector(Tree *tree, const char *prefix, Text name, Value formula,
                         const char *what);
void tr_tree_disturb_input(Tree *tree, Text name); // one that was only just made
void tr_tree_uncertainty(Tree *tree);              // densities, deviations and fixes, as outputs

// ---- scope.c: what names mean --------------------------------------------------------------

void tr_tree_parameters(Tree *tree);
// What an input was before `set` or a setting gave it another value; else it is not given.
Value tr_tree_replaced(const Tree *tree, const Setting *input);
// Their ranges, units and words, and whether they are within the first.
void tr_tree_ranges(Tree *tree);
Expr tr_tree_formula(Tree *tree, Value value);
Expr tr_tree_constant(Tree *tree, Value value, const char *what); // of parameters alone, finite
// With names that mean something in this formula alone
Expr tr_tree_formula_with(Tree *tree, Value value, const Local *locals, uint32_t count);
Expr tr_tree_output(Tree *tree, uint32_t index); // one of the user's
void tr_tree_formulas(Tree *tree, Value value, const char *what, uint32_t count,
                      Expr *out); // "a, b, c"
Vec tr_tree_vector(Tree *tree, Value value, const char *what);
// Passes on why a name cannot be had.
void tr_tree_refuse_name(Tree *tree, Value name, const tr_error *why);
// No parameter, input or output may be called like the pose or motion of a body.
void tr_tree_check_names(Tree *tree);
// How fast something changes; words where that is not known
bool tr_tree_rate(Tree *tree, Expr of, Expr *rate, tr_error *err);
// Refuses what is not a formula of t, parameters and inputs: anything else moves by itself.
void tr_tree_check_time_only(Tree *tree, Value value, Expr x, const char *what);

// ---- body_name.c: what names behind that of a body or a frame mean ----------------------------

bool tr_is_body_word(Text what); // "x", "R11", "speed"
bool tr_is_body_quantity(Tree *tree, Text name);
bool tr_body_quantity(Tree *tree, Text name, Expr *meaning, tr_error *err);
void tr_offer_body_words(Tree *tree, Suggestion *suggestion);

// ---- note.c: the user's formulas of what moves ----------------------------------------------

void tr_tree_note(Tree *tree, Value value, Expr x); // that this is what the value means
void tr_tree_name_notes(Tree *tree);                // by their paths in the model
// That something in them has no value where the divisor is zero, and why
void tr_tree_note_name(Tree *tree, Place place, Expr x, Expr divisor, const char *words);

// ---- value.c: numbers, and what is decided by them ------------------------------------------

// Whether an expression depends on parameters alone.
bool tr_tree_is_constant(Expr x);
// The value of one that does. Equations must not contain it, nor anything be decided by it: they
// would not follow when parameters change.
double tr_tree_value(Tree *tree, Expr x);
// What a rule gives for values. It stays so: that is kept as a condition, in words that are true
// now ("the mass of 'frame' is not negative"), where the values depend on parameters.
__attribute__((format(printf, 5, 6))) double tr_tree_decide(Tree *tree, Rule rule, const Expr *x,
                                                            Place place, const char *words, ...);
// The same of one value and a rule that gives yes or no
__attribute__((format(printf, 5, 6))) bool tr_tree_is(Tree *tree, Rule rule, Expr x, Place place,
                                                      const char *words, ...);
// Refuses an expression of parameters alone that is infinite or no number.
void tr_tree_check_finite(Tree *tree, Value value, const char *what, Expr x);
// An expression of t and inputs as they are at the start, of parameters alone
Expr tr_tree_at_start(Tree *tree, Expr x);
// An expression at one of some states that have nothing special about them: of parameters alone
Expr tr_tree_sample(Tree *tree, Expr x, uint32_t state);

// ---- forest.c, coordinate.c, start.c --------------------------------------------------------

uint32_t tr_tree_most_links(const Model *model); // bodies, steps of joints and motors
void tr_tree_forest(Tree *tree);      // which joint each body hangs by, and those that are cut
void tr_tree_coordinates(Tree *tree); // positions and velocities as inputs
// Says what an input is.
void tr_tree_port(Tree *tree, Expr symbol, Quantity quantity, Text owner, const char *component);
// What drives a velocity of this quantity: a force or a torque
Quantity tr_motor_quantity(Quantity velocity);
void tr_tree_start(Tree *tree); // `guess` and `initial`

// ---- step.c --------------------------------------------------------------------------------

uint32_t tr_step_count(const Joint *joint); // how many links it is: 1, unless it is in steps
void tr_step_add(Tree *tree, Link whole);   // a link by such a joint, and those between

// ---- joint.c -------------------------------------------------------------------------------

Mat tr_rotation(Vec a, Expr angle);          // about a unit vector
Mat tr_tree_turned(Tree *tree, Value value); // a `turn`
void tr_tree_joints(Tree *tree);             // poses, motions, coordinates, rates
const JointType *tr_joint_type(Value word, tr_error *err);
uint32_t tr_joint_steps(const JointType *type, const JointStep **steps); // how many; 0: none
// A vector divided by its length; an error when that is zero.
Vec tr_tree_unit(Tree *tree, Value value, const char *what);
// Refuses fields that its type has no use for, and one that needs an axis and has none; in the tree
// or cut
void tr_joint_check(Tree *tree, const Joint *joint, const JointType *type, Text name);

// ---- inertia.c -----------------------------------------------------------------------------

void tr_tree_inertias(Tree *tree);
bool tr_tree_is_symmetric(Tree *tree, const Link *link); // about its own joint's axis

Vec tr_tree_inertia_axis(Tree *tree, const Link *link); // of one that is axisymmetric, in its axes
// The moments about the centre of mass, as they were written
Sym tr_tree_own_inertia(Tree *tree, const Link *link);

// ---- shape.c, mesh.c, scene.c ---------------------------------------------------------------

void tr_tree_shapes(Tree *tree); // checks them
void tr_tree_meshes(Tree *tree); // reads those that are files, each once
#define NO_MESH UINT32_MAX
uint32_t tr_tree_mesh(const Tree *tree, const Shape *shape); // NO_MESH when it could not be read
void tr_tree_scene(Tree *tree);                              // what all of it looks like

// ---- beam.c, modal.c: shapes and integrals --------------------------------------------------

// How many modes it has, their names, and links for its points
void tr_beam_begin(Tree *tree, uint32_t link);
void tr_modal_begin(Tree *tree, uint32_t link);
// Its integrals, and the shapes at its points
void tr_beam_make(Tree *tree, uint32_t link);
void tr_modal_make(Tree *tree, uint32_t link);

// ---- files and tables ----------------------------------------------------------------------

// Files that the model includes, among what the system was made from
void tr_tree_note_included(Tree *tree);
// What a file holds that the model names, which the caller frees; NULL, with words where it is
// named, when it cannot be read. It is noted among what the system was made from.
char *tr_tree_file(Tree *tree, Value file, size_t *length);
// With words in `why` alone: TR_IO when it is not there.
char *tr_tree_try_file(Tree *tree, Value file, size_t *length, tr_error *why);
// What is wrong with it is said there, too.
void tr_tree_refuse_file(Tree *tree, Value file, const tr_error *why);
// The table that a text holds, which is taken over; and a column of it, or NULL with words
struct Sheet *tr_tree_sheet(Tree *tree, Value file, char *text, size_t length);
const double *tr_tree_sheet_column(Tree *tree, Value file, const struct Sheet *sheet, Value name);

// The tables of the model, as functions of formulas
void tr_tree_tables(Tree *tree);
// A formula of parameters must not leave one that ends runs,
void tr_tree_check_tables(Tree *tree, Value formula, Expr x);
// and for those of what moves there are alarms.
void tr_tree_leave_tables(Tree *tree);
// Heights have second derivatives: other tables in them are refused.
void tr_tree_check_smooth(Tree *tree, Value formula, Expr x);
// Motions have velocities, and constraints ask for them: tables that jump are refused in them. In
// first order motions may jump, but for those that something feels.
void tr_tree_check_motion(Tree *tree, Value formula, Expr x);
void tr_tree_check_constraint(Tree *tree, Place place, Expr x);
void tr_tree_check_felt(Tree *tree, Value formula, Expr x, const char *by);

// ---- section.c: points of what bends ---------------------------------------------------------

Section *tr_section_new(Tree *tree, const Flex *flex); // all shapes zero
// A point of a link, called so, `at` a place in words, and what follows them
void tr_section_add(Tree *tree, uint32_t link, Value name, Value at, const char *rest);
const Body *tr_section_owner(const Bodies *bodies, Text name); // of "mast.tip"; or NULL
void tr_section_make(Tree *tree, Link *link);                  // its pose and motions
// How it moves on the root and turns: the first in the root's axes, the second in its own
Motion tr_section_motion(const Tree *tree, const Link *link);
Vec tr_section_shortening(const Tree *tree, const Section *at); // p'' where e'' is zero

// ---- flex.c: what bending adds to the dynamics -----------------------------------------------

Flex *tr_flex_new(Tree *tree, uint32_t link, uint32_t count); // all integrals zero
Expr *tr_zero_pairs(Tree *tree, size_t count);
Vec *tr_zero_vectors(Tree *tree, size_t count);
const char *tr_flex_name(Tree *tree, const Link *link, const char *mode);
void tr_tree_flexes(Tree *tree); // all that bend
void tr_flex_damp(Tree *tree, Flex *flex, Value ratio);
bool tr_tree_bends(const Tree *tree);
Rigid tr_flex_inertia(const Tree *tree, const Flex *flex);
Wrench tr_flex_momentum(const Tree *tree, const Flex *flex, uint32_t k); // at unit rate of e_k
// The inertia force of bending on the root, and along e_k, where the root accelerates with a and
// alpha, and the modes as given, or not at all
Wrench tr_flex_force(Tree *tree, const Link *link, Vec a, Vec alpha, const Expr *acceleration,
                     Expr *force);
Expr tr_flex_kinetic(const Tree *tree, const Link *link); // twice what bending adds
Expr tr_flex_potential(const Tree *tree, const Flex *flex);
void tr_flex_alarms(Tree *tree);                    // where beams bend further than is right
void tr_flex_springs(Tree *tree, const Flex *flex); // among the passive forces

// ---- turn.c --------------------------------------------------------------------------------

void tr_tree_turn(Tree *tree); // makes tree->inner
// Slopes or forces by velocity, by inner velocity: only those that differ are set.
void tr_tree_turn_in(const Tree *tree, const Expr *outer, Expr *inner);

// ---- along.c -------------------------------------------------------------------------------

// What becomes of links with several velocities
typedef struct AlongBases {
    bool turn; // free ones have other velocities, see tr_tree_turn_out
    bool load; // they have the mass of what hangs from them, as far as hinges do not move it
} AlongBases;
// The same motions and forces in frames along hinges; NULL where there is nothing to gain. Of its
// links X, first and second, spin, inertia and applied are those of the new frames, and v; axis,
// at, to, turn and world are not: nothing but the recursions may run over it.
Tree *tr_tree_along(Tree *tree, AlongBases bases);
// Accelerations there, as those of the forest that it was made of
void tr_tree_turn_out(const Tree *along, Expr *acceleration);

// ---- role.c, force.c -----------------------------------------------------------------------

void tr_tree_name_joints(Tree *tree); // as roles call them
// Whether a motion or a rate drives its coordinate, or the case holds it
bool tr_tree_is_moved(Tree *tree, const Link *link);
void tr_tree_roles(Tree *tree);
void tr_tree_hold(Tree *tree);                   // the joints that the case holds
bool tr_tree_is_cut(Tree *tree, Text name);      // a joint
void tr_tree_refuse_cut(Tree *tree, Value name); // one that must have a coordinate
void tr_tree_forces(Tree *tree); // what is applied to links, and passive joint forces
Expr tr_tree_stored(Tree *tree); // the energy of springs and potentials

// ---- energy.c ------------------------------------------------------------------------------

Expr tr_tree_kinetic(Tree *tree);
Expr tr_tree_potential(Tree *tree); // of weights and springs
Expr tr_tree_power(Tree *tree);     // what everything else puts in

// ---- relation.c ----------------------------------------------------------------------------

void tr_tree_relations(Tree *tree); // couplings, constraints by formulas, chosen speeds

// ---- row.c, contact.c, rolling.c, loop.c, latch.c -------------------------------------------

void tr_tree_rows(Tree *tree); // all constraints, and the speeds that the model chose
void tr_tree_contacts(Tree *tree);
void tr_tree_check_wheels(Tree *tree); // where they start
void tr_tree_loops(Tree *tree);
void tr_tree_cut_columns(Tree *tree); // coordinates and torques of joints that were cut
// A row of an element, called "element.part", with a reaction of this quantity. `position` is what
// it is the rate of, `drift` its rate while velocities stay the same and rows hold: the failed
// expression when there is nothing such, or nothing better than the derivative. It is dropped when
// it holds whatever happens.
void tr_tree_row(Tree *tree, Value element, const char *part, Expr rate, Expr position, Expr drift,
                 Quantity reaction);
// The row itself; NULL when there are too many, or memory runs out
Row *tr_tree_append_row(Tree *tree, const char *name, Expr rate, Place place);
// Slopes of those that have none yet, and do not follow from the motion of one link
void tr_tree_finish_rows(Tree *tree);
// The inner form of the last three rows: a velocity in other axes with its drift, and these rows'
// directions there.
void tr_tree_inner_rows(Tree *tree, Vec velocity, Vec bias, const Vec direction[3]);
Expr tr_tree_drift_of(Tree *tree, Expr x);           // its rate while velocities stay the same
Vec tr_tree_drift(Tree *tree, Vec x);                // the same
bool tr_tree_is_dropped(const Tree *tree, Text row); // whether a row of this name holds anyway
// The slopes G of a velocity G v + g, and g
const Expr *tr_tree_slopes(Tree *tree, Expr rate, Expr *rest);
// Whether a velocity of an element is zero whatever moves.
bool tr_tree_holds_anyway(Tree *tree, Value element, const char *part, Expr rate);
// A number that should not become negative, about an element, and what happens when it does.
void tr_tree_alarm(Tree *tree, Value element, const char *words, Expr margin, AlarmKind kind,
                   uint32_t latch);
// A row of an element; the number of rows when it has none of this name.
uint32_t tr_tree_find_row(const Tree *tree, Value element, const char *part);
// The reaction of that row, or what its slip takes; zero when it holds anyway.
Expr tr_tree_reaction(const Tree *tree, Value element, const char *part);
void tr_tree_latches(Tree *tree); // contacts, stops and dry friction that may let go
uint32_t tr_tree_add_latch(Tree *tree, Latch latch); // NO_LATCH without memory
void tr_tree_watch_loads(Tree *tree);                // alarms about what they bear
void tr_tree_contact_places(Tree *tree);  // what formulas know of contacts: where they are,
void tr_tree_contact_forces(Tree *tree);  // and what they bear
void tr_tree_contact_columns(Tree *tree); // the same as results
void tr_tree_reactions(Tree *tree);       // which are meant where they are not unique

// ---- restraint.c ---------------------------------------------------------------------------

void tr_tree_restraints(Tree *tree);        // rows of stops and of dry friction
void tr_tree_restraint_latches(Tree *tree); // before modes are taken
void tr_tree_restraint_laws(Tree *tree);    // once reactions have names: forces, and their names
void tr_tree_restraint_forces(Tree *tree);  // among the passive ones
void tr_tree_restraint_columns(Tree *tree);
Expr tr_tree_restraint_energy(Tree *tree);                // of soft stops
bool tr_is_restraint_row(const Tree *tree, uint32_t row); // whose column is another
// Where a coordinate that nothing places may start: between its stops
Expr tr_tree_between_stops(Tree *tree, Expr q, Expr value);

// ---- motor.c -------------------------------------------------------------------------------

void tr_tree_armatures(Tree *tree);
// A torque as far as the motor can give it; `limit` is that of the role for the same velocity, or
// not given
Expr tr_motor_torque(Tree *tree, const Role *role, Text part, const char *joint, Expr torque);

// ---- slip.c --------------------------------------------------------------------------------

// Refuses what no law of a contact uses.
void tr_tree_check_laws(Tree *tree, const Contact *contact);
Expr tr_slip_heading(const Tree *tree, const Slip *slip);
Expr tr_slip_first(Expr friction); // the coefficient where slip only just begins
bool tr_is_coulomb(Value law);
// What presses it on: a reaction, or its `load`.
Expr tr_tree_normal_force(Tree *tree, const Contact *contact, Place place);
bool tr_slips(Value law);                        // unless it is ideal
void tr_tree_slip(Tree *tree, const Slip *slip); // in place of a row
void tr_tree_slip_laws(Tree *tree);              // once reactions have names
void tr_tree_slip_forces(Tree *tree);            // among the passive ones

// ---- hand_over.c ---------------------------------------------------------------------------

// The forest as plain data of the system, described by one of the same motions; and its rows along
// it
void tr_tree_hand_over(Tree *tree, Tree *by);
void tr_row_along(Row *row, uint32_t base, Wrench on);
bool tr_row_behind(Tree *tree, Row *row, uint32_t most); // room for slopes behind it
// The three rows of a contact that rolls on the ground, in the forest's terms; false where they
// have none. In inner_rolling.c
bool tr_rolling_along(Tree *by, const Contact *contact, const uint32_t rows[3], Rolling *out);

// ---- dynamics.c, mass.c, forward.c ---------------------------------------------------------

void tr_tree_call(const Tree *tree, uint32_t link, CalledKind kind, const char *component, Expr x);
void tr_tree_call_vec(const Tree *tree, uint32_t link, CalledKind kind, Vec a);
void tr_tree_velocities(Tree *tree);
// Inverse dynamics: the generalised forces that these accelerations take, none when NULL, with
// gravity; less what is applied to links if that counts
void tr_tree_inverse(Tree *tree, const Expr *acceleration, bool applied, Expr *force);
void tr_tree_applied(Tree *tree, Expr *force); // what is applied to links, as generalised forces
// How a link accelerates, in its axes, where a link above it neither accelerates nor begins to turn
// and velocities stay the same
Accelerated tr_tree_accelerated_behind(const Tree *tree, uint32_t link, uint32_t above);
// Of the fluid that moves along with a link that accelerates so                             (T18)
Wrench tr_tree_fluid_force(Tree *tree, uint32_t link, const Accelerated *at);
Matrix tr_tree_mass_matrix(Tree *tree);
void tr_tree_mass_along(Tree *tree, Expr *diagonal); // its diagonal alone
void tr_tree_forward(Tree *tree);                    // accelerations and tau, without constraints

#define WHOLE(t) (int)(t).length, (t).at // for "%.*s"; names are at most 100 long
#endif
