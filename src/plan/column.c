// SPDX-License-Identifier: Apache-2.0
#include "plan/column.h"

// What a run adds to the columns that the system has
static const struct {
    const char *label;
    Quantity quantity;
    const char *component;
} own[] = {
    {"energy.work", QUANTITY_ENERGY, "work"},
    {"residual.position", QUANTITY_RESIDUAL, "position"},
    {"residual.velocity", QUANTITY_RESIDUAL, "velocity"},
};

// sd(NAME) is in the unit of NAME.
static const Port *port_of_deviation(const System *system, const char *label)
{
    char name[600];
    const size_t length = strlen(label);
    if (!begins_with(label, "sd(") || length - 4 >= sizeof name) return NULL;
    memcpy(name, label + 3, length - 4);
    name[length - 4] = 0;
    return tr_system_column_port(system, name);
}

Port tr_column_port(const System *system, const char *label)
{
    const Port *port = tr_system_column_port(system, label);
    const Port *deviates = port ? NULL : port_of_deviation(system, label);
    if (deviates) return port_of(deviates->quantity, "", "deviation");
    if (port) return *port;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(label, own[i].label) == 0) return port_of(own[i].quantity, "", own[i].component);
    return port_unknown();
}
