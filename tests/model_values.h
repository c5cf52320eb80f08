// SPDX-License-Identifier: Apache-2.0
// The values of a model as they were written: what they are, where they stand, and whether two
// models have the same.
#ifndef TR_TESTS_MODEL_VALUES_H
#define TR_TESTS_MODEL_VALUES_H

#include "expr/system.h"
#include "model/model.h"
#include "models.h"

#define assert_text(value, wanted)                                                  \
    do {                                                                            \
        const Value text_value = (value);                                           \
        if (!text_is(text_value.text, wanted))                                      \
            fail_msg("%s is '%.*s', not '%s'", #value, (int)text_value.text.length, \
                     text_value.text.at, wanted);                                   \
    } while (0)

static const char bicycle[] =
    "trundle: 1\n"
    "name: Whipple-Carvallo bicycle\n"
    "parameters:\n"
    "  w: 1.02            # wheelbase [m]\n"
    "  theta: pi/10       # steer axis tilt [rad]\n"
    "  h3: 0.3\n"
    "  speed0: 4.6\n"
    "  roll_rate0: 0.5\n"
    "  Kps: 2\n"
    "  target: 0.1*w\n"
    "bodies:\n"
    "  frame:\n"
    "    joint: {type: free}\n"
    "    mass: 85\n"
    "    com: 0.3, 0, 0.6                                  # from the frame origin\n"
    "    inertia: {xx: 9.2, yy: 11, zz: 2.8, xz: -2.4}     # about the centre of mass\n"
    "  rear_wheel:\n"
    "    parent: frame\n"
    "    joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, 0, 0\", coordinate: rear}\n"
    "    mass: 2\n"
    "    inertia: {axial: 0.12, radial: 0.0603}            # about the joint axis\n"
    "  fork:\n"
    "    parent: frame\n"
    "    joint: {type: revolute, axis: 'sin(theta), 0, cos(theta)', at: \"w, 0, 0\",\n"
    "            coordinate: steer}\n"
    "    mass: 4\n"
    "    inertia: {xx: 0.06, yy: 0.06, zz: 0.006}\n"
    "functions:\n"
    "  ramp(t, a, b): if(t < a, 0, if(t < b, (t-a)/(b-a) - sin(2*pi*(t-a)/(b-a))/(2*pi), 1))\n"
    "roles:\n"
    "  steer: {torque: -Kps*(target - steer)}\n"
    "outputs:\n"
    "  roll: asin(frame.R32)\n"
    "  reach: ramp(t, 0, 1)*w\n"
    "initial: {roll: 0, d(roll): roll_rate0, d(rear): speed0/h3}\n"
    "cases:\n"
    "  free: {end: 10, every: 0.1}\n"
    "  slow: {set: {speed0: 4.0}, end: 5, roles: {steer: passive}}\n";

// ---- the same by calls ---------------------------------------------------------------------

static inline void assert_same(Value a, Value b)
{
    assert_true(text_equal(a.text, b.text));
    assert_int_equal(a.given, b.given);
}

static inline void assert_same_kind(const Kind *kind, const void *a, const void *b);

static inline void assert_same_field(const Field *field, const void *a, const void *b)
{
    const Kind *inner = tr_kind_of(field->type);
    const Values *p = a, *q = b;
    if (inner && !inner->named) {
        assert_same_kind(inner, a, b);
    } else if (inner) {
        assert_int_equal(p->count, q->count);
        for (size_t i = 0; i < p->count; i++)
            assert_same_kind(inner, (const char *)p->at + i * inner->size,
                             (const char *)q->at + i * inner->size);
    } else if (field->type == TYPE_PAIRS || field->type == TYPE_PARTS) {
        const Pairs *x = a, *y = b;
        assert_int_equal(x->count, y->count);
        for (uint32_t i = 0; i < x->count; i++) {
            assert_true(text_equal(x->at[i].key.text, y->at[i].key.text));
            assert_same(x->at[i].value, y->at[i].value);
        }
    } else if (field->type == TYPE_LIST) {
        assert_int_equal(p->count, q->count);
        for (uint32_t i = 0; i < p->count; i++) assert_same(p->at[i], q->at[i]);
    } else {
        assert_same(*(const Value *)a, *(const Value *)b);
    }
}

static inline void assert_same_kind(const Kind *kind, const void *a, const void *b)
{
    assert_same(*(const Value *)a, *(const Value *)b);
    for (size_t i = 0; i < kind->field_count; i++)
        assert_same_field(&kind->fields[i], (const char *)a + kind->fields[i].offset,
                          (const char *)b + kind->fields[i].offset);
}

#endif
