// SPDX-License-Identifier: Apache-2.0
// Units and groups of columns: of a system's own runs by what they are, of other files by what the
// names of their columns suggest.
#include "view/column.h"

#include "plan/column.h"

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
    {"lambda.", ".roller", "N"},
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

const char *tr_unit_of(const char *name)
{
    if (strcmp(name, "t") == 0) return "s";
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (begins_with(name, named[i].starts) && ends_with(name, named[i].ends))
            return named[i].unit;
    return NULL;
}

ColumnKind tr_column_of(const System *system, const char *name)
{
    const Port port = tr_column_port(system, name);
    return (ColumnKind){is_declared_output(&port) ? "outputs" : tr_quantity_group(port.quantity),
                        tr_quantity_unit(port.quantity)};
}
