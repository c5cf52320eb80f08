// SPDX-License-Identifier: Apache-2.0
// Units as text: what they are made of, which are refused with words; and where a parameter of
// another dimension stands alone for a field.
#include "base/unit.h"

#include "model/model.h"
#include "models.h"

#include <trundle/trundle.h>

// ---- what they are made of -----------------------------------------------------------------

// Twice the exponents of kg m s A K mol, by hand
typedef struct Made {
    const char *text;
    int of[BASE_UNITS];
} Made;

static Unit unit_of(const char *text)
{
    char why[400] = "";
    Unit unit;
    if (!tr_unit_read(text_of(text), &unit, why, sizeof why)) fail_msg("%s: %s", text, why);
    return unit;
}

static void test_made_of(void **state)
{
    (void)state;
    static const Made rows[] = {
        {"1", {0}},
        {"rad", {0}},
        {"m", {0, 2}},
        {"kg m^2", {2, 4}},
        {"kg*m^2", {2, 4}},
        {" N  m ", {2, 4, -4}},
        {"N m/rad", {2, 4, -4}},
        {"N m s/rad", {2, 4, -2}},
        {"m/s^2", {0, 2, -4}},
        {"m/s/s", {0, 2, -4}},
        {"1/s", {0, 0, -2}},
        {"Hz", {0, 0, -2}},
        {"s^-1", {0, 0, -2}},
        {"J", {2, 4, -4}},
        {"W", {2, 4, -6}},
        {"Pa", {2, -2, -4}},
        {"V", {2, 4, -6, -2}},
        {"C", {0, 0, 2, 2}},
        {"ohm", {2, 4, -6, -4}},
        {"V/A", {2, 4, -6, -4}},
        {"N/m^1.5", {2, -1, -4}},
        {"m^0.5", {0, 1}},
        {"J/(kg K)", {0, 4, -4, 0, -2}},
        {"(N/m)^2", {4, 0, -8}},
        {"N m/A", {2, 4, -4, -2}},
        {"V s/rad", {2, 4, -4, -2}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Unit is = unit_of(rows[i].text);
        for (int k = 0; k < BASE_UNITS; k++)
            if (is.of[k] != rows[i].of[k]) fail_msg("%s: %d is %d", rows[i].text, k, is.of[k]);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"deg", "'deg' is no unit of SI without a factor: give the value in rad"},
        {"\xc2\xb0", "give the value in rad"},
        {"mm", "'mm' is no unit of SI without a factor: give the value in m"},
        {"km/h",
         "'km' is no unit of SI without a factor: write m in its place, for the value in that"},
        {"m/h", "'h' is no unit of SI without a factor: write s in its place"},
        {" mm ", "give the value in m"},
        {"g", "give the value in kg"},
        {"mg", "give the value in kg"},
        {"kN", "give the value in N"},
        {"MPa", "give the value in Pa"},
        {"ms", "give the value in s"},
        {"mbar", "give the value in Pa"},
        {"rpm", "give the value in rad/s"},
        {"mph", "give the value in m/s"},
        {"%", "give the value as a share of 1"},
        {"Nm", "'Nm' is not a unit; did you mean 'N m'?"},
        {"J/kgK", "'kgK' is not a unit; did you mean 'kg K'?"},
        {"Ns/m", "'Ns' is not a unit; did you mean 'N s'?"},
        {"KG", "did you mean 'kg'?"},
        {"metres", "'metres' is not a unit"},
        {"J/kg K", "what follows a / must be in parentheses, as in J/(kg K)"},
        {"m/s*s", "what follows a / must be in parentheses"},
        {"m^", "the power of a unit is a number such as 2, -1 or 0.5"},
        {"m^x", "the power of a unit"},
        {"m^0.3", "the power of a unit"},
        {"m^99", "the power of a unit"},
        {"(m^0.5)^0.5", "the power of a unit"},
        {"m2", "'2' is not a unit; a power is written as in m^2"},
        {"m**2", "'*' is not a unit; a power is written as in m^2"},
        {"2 m", "'2' is not a unit"},
        {"", "a unit is missing at its end"},
        {"  ", "a unit is missing at its end"},
        {"m/", "a unit is missing at its end"},
        {"/s", "'/' is not a unit"},
        {"(m", "a parenthesis is not closed"},
        {"m)", "a parenthesis is closed that was not opened"},
        {"((((((((((m))))))))))", "its parentheses are too deep"},
        {"m\tm", "is not a unit"},
        {"m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m",
         "a unit has 60 characters at most"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char why[400] = "";
        Unit unit;
        if (tr_unit_read(text_of(rows[i][0]), &unit, why, sizeof why))
            fail_msg("'%s' is read", rows[i][0]);
        assert_says(why, rows[i][1]);
    }
}

// Whatever bytes there are, it is a unit or there are words.
static void test_any_bytes(void **state)
{
    (void)state;
    static const char letters[] = "kgmsNJ1 ^*/()-.29\xc2\xb0\xff\x01";
    uint32_t random = 12345;
    for (int i = 0; i < 20000; i++) {
        char text[MOST_UNIT + 2], why[400] = "";
        size_t length = 0;
        Unit unit;
        for (; length < sizeof text - 1; length++) {
            random = random * 1664525u + 1013904223u;
            if (random >> 28 == 0) break;
            text[length] = letters[(random >> 16) % (sizeof letters - 1)];
        }
        if (!tr_unit_read((Text){text, length}, &unit, why, sizeof why)) assert_true(why[0]);
    }
}

// Every unit that a row of the format has is one, but for those that depend on something else.
static void test_units_of_rows(void **state)
{
    (void)state;
    int units = 0;
    for (size_t i = 0; i < tr_kind_count; i++)
        for (size_t k = 0; k < tr_kinds[i].field_count; k++) {
            const Field *field = &tr_kinds[i].fields[k];
            const char *at = field->unit;
            if (field->type == TYPE_CHOICE || !*at || strchr(at, ',')) continue;
            if (strncmp(at, "unit", 4) == 0 || strcmp(at, "periods") == 0) continue;
            char all[100];
            snprintf(all, sizeof all, "%s", at);
            char * or = strstr(all, " or ");
            if (or) unit_of(or +4), * or = 0;
            unit_of(all), units++;
        }
    assert_true(units > 60);
}

// ---- where they stand ----------------------------------------------------------------------

// `what` stands in a model whose parameters are given; the words, or NULL where it is right.
typedef struct Standing {
    const char *field, *value, *words;
} Standing;

static const char cart[] = "trundle: 1\n"
                           "parameters:\n"
                           "  l: {value: 0.5, unit: m}\n"
                           "  m: {value: 1, unit: kg}\n"
                           "  k: {value: 7, unit: N/m}\n"
                           "  kt: {value: 7, unit: N m/rad}\n"
                           "  v0: {value: 0, unit: m/s}\n"
                           "  plain: 3\n"
                           "inputs:\n"
                           "  push: {value: 0, unit: N}\n"
                           "  twist: {value: 0, unit: N m}\n"
                           "bodies:\n"
                           "  cart:\n"
                           "    joint: {type: prismatic, axis: \"1, 0, 0\", base: true}\n"
                           "    mass: m\n"
                           "  pole:\n"
                           "    parent: cart\n"
                           "    joint: {type: revolute, axis: \"0, 1, 0\", coordinate: angle}\n"
                           "    mass: m\n"
                           "    inertia: {yy: 1}\n"
                           "cases:\n"
                           "  only: {}\n";

static void check_standing(const Standing *s)
{
    tr_error err = {0};
    tr_model *model = model_from(cart);
    change(model, s->field, s->value);
    tr_system *system = tr_derive(model, NULL, &err);
    if (!s->words) {
        if (!system) fail_msg("%s: %s: %s", s->field, s->value, err.text);
    } else {
        if (system) fail_msg("%s: %s is taken", s->field, s->value);
        assert_int_equal(err.status, TR_INVALID);
        assert_string_equal(err.text, s->words);
    }
    tr_system_free(system);
    tr_model_free(model);
}

static void test_standing(void **state)
{
    (void)state;
    static const Standing rows[] = {
        {"bodies/cart/mass", "l", "'mass' of 'cart' is in kg, but 'l' is in m (line 3)"},
        {"bodies/cart/mass", " - l", "'mass' of 'cart' is in kg, but 'l' is in m (line 3)"},
        {"bodies/cart/mass", "l*1", NULL}, // formulas are not looked into
        {"bodies/cart/mass", "plain", NULL},
        {"bodies/cart/com", "l, 0, -l", NULL},
        {"bodies/cart/com", "l, 0, -m", "'com' of 'cart' is in m, but 'm' is in kg (line 4)"},
        {"bodies/pole/inertia/xx", "m", "'xx' of 'pole' is in kg m^2, but 'm' is in kg (line 4)"},
        {"bodies/pole/joint/stiffness", "kt", NULL},
        {"bodies/pole/joint/stiffness", "k",
         "'stiffness' of 'pole' is in N m/rad, but 'k' is in N/m (line 5)"},
        {"bodies/cart/joint/stiffness", "k", NULL},
        {"bodies/cart/joint/stiffness", "kt",
         "'stiffness' of 'cart' is in N/m, but 'kt' is in N m/rad (line 6)"},
        {"bodies/cart/joint/rest", "l", NULL},
        {"bodies/pole/joint/rest", "l", "'rest' of 'pole' is in rad, but 'l' is in m (line 3)"},
        {"roles/cart/torque", "push", NULL},
        {"roles/angle/torque", "twist", NULL},
        {"roles/cart/torque", "twist",
         "'torque' of 'cart' is in N, but 'twist' is in N m (line 11)"},
        {"roles/angle/torque", "-push",
         "'torque' of 'angle' is in N m, but 'push' is in N (line 10)"},
        {"roles/cart/rate", "v0", NULL},
        {"roles/angle/rate", "v0", "'rate' of 'angle' is in rad/s, but 'v0' is in m/s (line 7)"},
        {"bodies/cart/mass", "if(plain > 0, l, m)", NULL},
        {"bodies/cart/com", "if(plain > 0, m, l), 0, min(1, if(l > 0, kt, l))", NULL},
        {"bodies/cart/com", "if(plain > 0, m, l), 0, m",
         "'com' of 'cart' is in m, but 'm' is in kg (line 4)"},
        {"gravity", "0, 0, -m", "'gravity' is in m/s^2, but 'm' is in kg (line 4)"},
        {"ground/at", "0, 0, m", "'at' of 'ground' is in m, but 'm' is in kg (line 4)"},
        {"cases/only/end", "l", "'end' of 'only' is in s, but 'l' is in m (line 3)"},
        {"cases/only/set/m", "l", "'value' of 'm' is in kg, but 'l' is in m (line 3)"},
        {"parameters/m/max", "2", NULL},
        {"parameters/m/max", "l", "'max' of 'm' is in kg, but 'l' is in m (line 3)"},
        {"parameters/m/unit", "deg",
         "the unit of 'm': 'deg' is no unit of SI without a factor: give the value in rad"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_standing(&rows[i]);
}

static void check_place(const char *text, int line, int column, const char *words)
{
    tr_error err = {0};
    tr_model *model = model_from(text);
    tr_system *system = tr_derive(model, NULL, &err);
    if (system) fail_msg("this is taken:\n%s", text);
    assert_string_equal(err.text, words);
    assert_int_equal(err.line, line);
    assert_int_equal(err.column, column);
    tr_model_free(model);
}

static void test_places(void **state)
{
    (void)state;
    check_place("trundle: 1\nparameters:\n  l: {value: 1, unit: m}\nbodies:\n"
                "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: l}\n",
                5, 59, "'mass' of 'cart' is in kg, but 'l' is in m (line 3)");
    check_place(
        "trundle: 1\nparameters:\n  l: {value: 1, unit: kg}\nbodies:\n"
        "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\"}, com: \"0, 1, - l\", mass: 1}\n",
        5, 65, "'com' of 'cart' is in m, but 'l' is in kg (line 3)");
    check_place("trundle: 1\nparameters: {l: {value: 1, unit: kN}}\nbodies: {cart: {mass: 1}}\n", 2,
                34, "the unit of 'l': 'kN' is no unit of SI without a factor: give the value in N");
    check_place("trundle: 1\nparameters: {l: {value: 1, unit: m}}\nbodies:\n  b: {mass: 1}\n"
                "contacts: {w: {kind: rolling, body: b, radius: l, friction: 1, cornering: l}}\n",
                5, 75, "'cornering' of 'w' is in N/rad, but 'l' is in m (line 2)");
}

// x of a height and s of a beam are no parameters, whatever these are called.
static void test_locals(void **state)
{
    (void)state;
    tr_model *model = model_from("trundle: 1\nparameters: {s: {value: 2, unit: kg}}\nbodies:\n"
                                 "  b: {joint: {type: fixed}, beam: {length: 1, density: 1 + s, "
                                 "stiffness: s}}\n");
    tr_system_free(derived(model, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_of),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_any_bytes), cmocka_unit_test(test_units_of_rows),
        cmocka_unit_test(test_standing),  cmocka_unit_test(test_places),
        cmocka_unit_test(test_locals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
