// SPDX-License-Identifier: Apache-2.0
// What an input, an output or a column of results is: a quantity with its unit, whose it is, and
// which part of that. Names are for people; nothing is read out of them.
#ifndef TR_EXPR_PORT_H
#define TR_EXPR_PORT_H

#include "base/text.h"

#include <math.h>
#include <stdint.h>

typedef enum Quantity {
#define QUANTITY(id, words, unit, group, rate) QUANTITY_##id,
#include "expr/quantity.def"
#undef QUANTITY
    QUANTITY_COUNT
} Quantity;

#define NO_INPUT UINT32_MAX
#define NO_ROW   UINT32_MAX

typedef struct Port {
    Quantity quantity;
    const char *owner;     // the body, joint, contact, loop or constraint it belongs to, or "";
                           // a joint is called after its coordinate
    const char *component; // "x", "vx", "normal", the mode of a beam; "" for all that there is
    uint32_t rate_of;      // the input whose rate it is: of a velocity, its joint's coordinate;
                           // NO_INPUT along axes of a body
    uint32_t row;          // of a reaction, else NO_ROW
    // Of a parameter or an input, as the model gives them:
    const char *unit, *doc; // "" when it does not
    double min, max;        // with the model's own numbers; infinite when it does not
} Port;

#define PORT_OUTPUT "output" // the component of outputs that a model declares, which have no owner

static inline Port port_of(Quantity quantity, const char *owner, const char *component)
{
    return (Port){.quantity = quantity,
                  .owner = owner,
                  .component = component,
                  .rate_of = NO_INPUT,
                  .row = NO_ROW,
                  .unit = "",
                  .doc = "",
                  .min = -(double)INFINITY,
                  .max = (double)INFINITY};
}
// Of what others made: formulas, parameters, systems made by hand
static inline Port port_unknown(void) { return port_of(QUANTITY_UNKNOWN, "", ""); }

static inline bool is_of(const Port *port, const char *owner, const char *component)
{
    return strcmp(port->owner, owner) == 0 && strcmp(port->component, component) == 0;
}

static inline bool is_declared(const Port *port)
{
    return port->unit[0] || port->doc[0] || port->min > -(double)INFINITY ||
           port->max < (double)INFINITY;
}

static inline bool is_declared_output(const Port *port) { return is_of(port, "", PORT_OUTPUT); }

const char *tr_quantity_words(Quantity quantity); // "angle"; "" when it is not known
const char *tr_port_unit(const Port *port);       // as the model gives it, or that of the quantity
const char *tr_quantity_unit(Quantity quantity);  // "rad"; "" when there is none
const char *tr_quantity_group(Quantity quantity); // "coordinates"
Quantity tr_quantity_rate(Quantity quantity);     // of its time derivative
Quantity tr_quantity_called(Text words);          // QUANTITY_UNKNOWN when there is none

#endif
