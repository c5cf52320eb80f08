// SPDX-License-Identifier: Apache-2.0
#include "expr/port.h"

#include <assert.h>

static const struct {
    const char *words, *unit, *group;
    Quantity rate;
} quantities[] = {
#define QUANTITY(id, words, unit, group, rate) {words, unit, group, QUANTITY_##rate},
#include "expr/quantity.def"
#undef QUANTITY
};

const char *tr_quantity_words(Quantity quantity)
{
    assert(quantity < QUANTITY_COUNT);
    return quantities[quantity].words;
}

const char *tr_quantity_unit(Quantity quantity)
{
    assert(quantity < QUANTITY_COUNT);
    return quantities[quantity].unit;
}

const char *tr_port_unit(const Port *port)
{
    return port->unit[0] ? port->unit : tr_quantity_unit(port->quantity);
}

const char *tr_quantity_group(Quantity quantity)
{
    assert(quantity < QUANTITY_COUNT);
    return quantities[quantity].group;
}

Quantity tr_quantity_rate(Quantity quantity)
{
    assert(quantity < QUANTITY_COUNT);
    return quantities[quantity].rate;
}

Quantity tr_quantity_called(Text words)
{
    for (int i = 0; i < QUANTITY_COUNT; i++)
        if (text_is(words, quantities[i].words)) return (Quantity)i;
    return QUANTITY_UNKNOWN;
}
