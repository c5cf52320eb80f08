// SPDX-License-Identifier: Apache-2.0
// Units and groups of columns: by their names as far as those tell, by the model's joints, contacts
// and loops where they do not.
#include "view/column.h"

// ---- by name -------------------------------------------------------------------------------

// What is known from the name of a column; the first row that fits counts. Coordinates of joints
// and outputs of a model can be anything.
static const struct {
    const char *starts, *ends, *unit;
} named[] = {
    {"tau.", "", NULL},
    {"residual.", "", NULL},
    {"energy.", "", "J"},
    {"lambda.", ".normal", "N"},
    {"lambda.", ".longitudinal", "N"},
    {"lambda.", ".lateral", "N"},
    {"lambda.", "", NULL},
    {"contact.", ".Fx", "N"},
    {"contact.", ".Fy", "N"},
    {"contact.", ".Fz", "N"},
    {"", ".x", "m"}, // of contacts and of bodies
    {"", ".y", "m"},
    {"", ".z", "m"},
    {"", ".theta", "rad"},
    {"", ".vx", "m/s"},
    {"", ".vy", "m/s"},
    {"", ".vz", "m/s"},
    {"", ".wx", "rad/s"},
    {"", ".wy", "rad/s"},
    {"", ".wz", "rad/s"},
};

// By what stands behind the last point alone, if `of_body`: a body may be called "energy"
static const char *unit_named(const char *name, bool of_body)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (!(of_body && named[i].starts[0]) && begins_with(name, named[i].starts) &&
            ends_with(name, named[i].ends))
            return named[i].unit;
    return NULL;
}

const char *tr_unit_of(const char *name)
{
    return strcmp(name, "t") == 0 ? "s" : unit_named(name, false);
}

// ---- by the model --------------------------------------------------------------------------

typedef enum Way { UNKNOWN = -1, TURNS, SLIDES } Way;

// What a joint with this coordinate does, also one that was cut
static Way way_of(const Scene *scene, const char *coordinate, size_t length)
{
    const Text name = {coordinate, length};
    for (uint32_t i = 0; i < scene->body_count && length; i++)
        if (text_is(name, scene->bodies[i].coordinate))
            return strcmp(scene->bodies[i].joint, "prismatic") == 0 ? SLIDES : TURNS;
    for (uint32_t i = 0; i < scene->contact_count && length; i++)
        if (text_is(name, scene->contacts[i].coordinate))
            return strcmp(scene->contacts[i].kind, "slider") == 0 ? SLIDES : TURNS;
    return UNKNOWN;
}

// What the name of a body's own coordinate, rate or motor says: "frame.wx", "frame.theta"
static Way way_named(const char *name)
{
    const char *unit = unit_named(name, true);
    if (unit && begins_with(unit, "rad")) return TURNS;
    return unit && begins_with(unit, "m") ? SLIDES : UNKNOWN;
}

// Of a coordinate, its rate or its motor, named as the joint is; `of` are the units for what turns
// and for what slides
static const char *joint_unit(const Scene *scene, const char *name, size_t length,
                              const char *const of[2])
{
    Way way = way_of(scene, name, length);
    if (way == UNKNOWN) way = way_named(name);
    return way == UNKNOWN ? "" : of[way];
}

// Forces along the rows of contacts and loops are newtons; what the rows of formulas are only the
// model knows
static const char *reaction_unit(const System *system, const char *row)
{
    const Scene *scene = &system->scene;
    for (uint32_t i = 0; i < scene->contact_count; i++)
        for (uint32_t k = 0; k < scene->contacts[i].row_count; k++)
            if (strcmp(scene->contacts[i].rows[k].name, row) == 0)
                return scene->contacts[i].rows[k].is_moment ? "N m" : "N";
    return "";
}

static ColumnKind position_column(const Scene *scene, const char *name)
{
    static const char *const units[] = {"rad", "m"};
    return (ColumnKind){"coordinates", joint_unit(scene, name, strlen(name), units)};
}

static ColumnKind velocity_column(const Scene *scene, const char *name)
{
    static const char *const units[] = {"rad/s", "m/s"};
    return (ColumnKind){"velocities", joint_unit(scene, name, tr_coordinate_length(name), units)};
}

static ColumnKind input_column(const System *system, const Input *input)
{
    if (input->kind == TR_TIME) return (ColumnKind){"time", tr_unit_of(input->name)};
    return input->kind == TR_POSITION ? position_column(&system->scene, input->name)
                                      : velocity_column(&system->scene, input->name);
}

ColumnKind tr_column_of(const System *system, const char *name)
{
    static const char *const motors[] = {"N m", "N"};
    for (uint32_t i = 0; i < system->input_count; i++) {
        const Input *input = &system->inputs[i];
        const bool moves =
            input->kind == TR_TIME || input->kind == TR_POSITION || input->kind == TR_VELOCITY;
        if (moves && strcmp(input->name, name) == 0) return input_column(system, input);
    }
    if (begins_with(name, "lambda."))
        return (ColumnKind){"forces", reaction_unit(system, name + strlen("lambda."))};
    if (begins_with(name, "tau.")) {
        const char *joint = name + strlen("tau.");
        return (ColumnKind){"torques", joint_unit(&system->scene, joint, strlen(joint), motors)};
    }
    const char *unit = tr_unit_of(name);
    if (begins_with(name, "contact."))
        return (ColumnKind){unit && unit[0] == 'N' ? "forces" : "contacts", unit ? unit : ""};
    if (begins_with(name, "energy.")) return (ColumnKind){"energy", unit};
    if (begins_with(name, "residual.")) return (ColumnKind){"residuals", ""};
    if (way_of(&system->scene, name, strlen(name)) != UNKNOWN) // of joints that were cut
        return position_column(&system->scene, name);
    if (way_of(&system->scene, name, tr_coordinate_length(name)) != UNKNOWN)
        return velocity_column(&system->scene, name);
    return (ColumnKind){"outputs", ""};
}
