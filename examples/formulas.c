// SPDX-License-Identifier: Apache-2.0
// Formulas in, derivatives and numbers out: the pendulum from its two energies.
//
// Lagrange's equation  d/dt dL/d(phi') - dL/d(phi) = 0  gives the acceleration: the time derivative
// along the motion is linear in it, a(q, v) phi'' + b(q, v) = 0.
#include <math.h>
#include <stdio.h>
#include <trundle/trundle.h>

// phi'' from the energies named "kinetic" and "potential"
static tr_expr lagrange(tr_system *s, tr_expr phi, tr_expr rate, tr_error *err)
{
    tr_expr lagrangian = tr_formula(s, "kinetic - potential", err);
    tr_expr momentum = tr_derivative(lagrangian, rate);
    tr_expr unit = tr_constant(s, 1);
    tr_expr inertia = tr_derivative(momentum, rate);
    tr_expr bias = tr_sub(tr_directional(momentum, &phi, &rate, 1), tr_derivative(lagrangian, phi));
    return tr_mul(tr_neg(bias), tr_div(unit, inertia));
}

int main(void)
{
    tr_error err = {0};
    tr_system *s = tr_system_new(&err);
    tr_expr phi = tr_input(s, "phi", TR_POSITION, 0, &err);
    tr_expr rate = tr_input(s, "phi_rate", TR_VELOCITY, 0, &err);
    tr_input(s, "m", TR_PARAMETER, 2, &err);
    tr_input(s, "l", TR_PARAMETER, 0.5, &err);
    tr_input(s, "g", TR_PARAMETER, 9.81, &err);
    tr_rate_set(s, phi, rate, &err);

    tr_define(s, "x", "l*sin(phi)", &err);
    tr_define(s, "z", "-l*cos(phi)", &err);
    tr_define(s, "kinetic", "m/2*(d(x)^2 + d(z)^2)", &err);
    tr_define(s, "potential", "m*g*z", &err);
    tr_expr acceleration = lagrange(s, phi, rate, &err);
    tr_rate_set(s, rate, acceleration, &err);
    tr_expr power = tr_time_derivative(s, tr_formula(s, "kinetic + potential", &err), &err);

    tr_output(s, "acceleration", &acceleration, 1, 1, &err);
    tr_output(s, "power", &power, 1, 1, &err);
    tr_program *program = tr_compile(s, "acceleration power", NULL, &err);
    tr_workspace *workspace = tr_workspace_new(program, &err);
    if (err.status) {
        fprintf(stderr, "column %d: %s\n", err.column, err.text);
        return (int)err.status;
    }

    printf("kinetic energy    %s\n", tr_text(s, tr_formula(s, "kinetic", &err)));
    printf("phi''             %s\n", tr_text(s, acceleration));
    double in[] = {0.3, 1.5, 2, 0.5, 9.81}, out[2]; // phi, phi', m, l, g
    tr_evaluate(program, workspace, in, out);
    printf("at phi = 0.3      %.15g, by hand %.15g\n", out[0], -9.81 / 0.5 * sin(0.3));
    printf("energy changes by %.1e W\n", out[1]);
    printf("operations        %zu\n", tr_program_sizes(program).operations);

    const bool right = fabs(out[0] + 9.81 / 0.5 * sin(0.3)) < 1e-14 && fabs(out[1]) < 1e-14;
    tr_workspace_free(workspace);
    tr_program_free(program);
    tr_system_free(s);
    return right ? 0 : 1;
}
