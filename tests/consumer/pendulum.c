// SPDX-License-Identifier: Apache-2.0
// What a program needs of an installed trundle: a model, its linear model, a run with a controller.
// The numbers are those of the pendulum in closed form. C and C++.
#include <math.h>
#include <stdio.h>
#include <trundle/trundle.h>

static const char text[] = "trundle: 1\n"
                           "bodies:\n"
                           "  bob:\n"
                           "    joint: {type: revolute, axis: \"0, 1, 0\", coordinate: swing}\n"
                           "    mass: 2\n"
                           "    com: 0, 0, -0.5\n"
                           "initial: {swing: 2}\n";

// 2 pi sqrt(l / g) / agm(1, cos(amplitude / 2))
static double period(double length, double amplitude)
{
    double a = 1, b = cos(amplitude / 2);
    for (int i = 0; i < 10; i++) {
        const double mean = (a + b) / 2;
        b = sqrt(a * b);
        a = mean;
    }
    return 8 * atan(1.0) * sqrt(length / 9.81) / a;
}

static bool keep_swing(void *owner, const tr_instant *now)
{
    double *swing = (double *)owner;
    *swing = now->value[tr_find_name(now->column, now->columns, "swing")];
    return true;
}

static bool check(const char *what, double value, double expected)
{
    printf("%-12s %.12g, expected %.12g\n", what, value, expected);
    return fabs(value - expected) <= 1e-8;
}

int main(void)
{
    tr_error err = {TR_OK};
    tr_model *model = tr_model_parse(text, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_simulate_options how = tr_simulate_defaults(system);
    double swing = 0;
    how.end = period(0.5, 2);
    how.every = how.end / 100;
    how.control = keep_swing;
    how.owner = &swing;
    bool good = tr_simulate(system, &how, NULL, &err) && check("after a turn", swing, 2);

    tr_model_set(model, "initial/swing", "0", &err);
    tr_system *rest = tr_derive(model, NULL, &err);
    tr_linear *linear = tr_linearise(rest, NULL, &err);
    double values[2][2];
    good = linear && linear->states == 2 && tr_linear_eigenvalues(linear, values, &err) &&
           check("frequency", values[0][1], sqrt(9.81 / 0.5)) && good;
    if (err.status) fprintf(stderr, "%d:%d: %s\n", err.line, err.column, err.text);
    printf("trundle %s\n", tr_version());
    tr_linear_free(linear);
    tr_system_free(rest);
    tr_system_free(system);
    tr_model_free(model);
    return good ? 0 : 1;
}
