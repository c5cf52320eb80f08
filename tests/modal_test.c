// SPDX-License-Identifier: Apache-2.0
// Bodies that bend by modes from tables: a beam as one, and tables that are wrong.
#include "bending.h"
#include "folder.h"

#include <sys/stat.h>

// The mode k of a beam with two ways to bend by two modes each, and one of torsion, at x: how it
// moves and turns
static void print_shape(Buffer *t, const GroveBody *b, int k, double x)
{
    static const int axes[] = {1, 1, 2, 2, 0}, numbers[] = {0, 1, 0, 1, 0};
    double u[6] = {0};
    const double shape = grove_shape(axes[k], numbers[k], 0, x);
    const double slope = grove_shape(axes[k], numbers[k], 1, x) / b->L;
    if (axes[k] == 0)
        u[3] = shape;
    else
        u[axes[k]] = shape, u[axes[k] == 1 ? 5 : 4] = axes[k] == 1 ? slope : -slope;
    for (int i = 0; i < 6; i++) tr_buffer_print(t, ",%.17g", u[i]);
}

static void write_nodes(const GroveBody *b)
{
    Buffer t = {0};
    tr_buffer_print(&t, "node,x,y,z,m,jx");
    for (int k = 1; k <= 5; k++)
        tr_buffer_print(&t, ",ux%d,uy%d,uz%d,rx%d,ry%d,rz%d", k, k, k, k, k, k);
    for (int i = -1; i <= ALONG; i++) { // the root and the tip weigh nothing
        double x = i < 0 ? 0 : 1, weight = 0;
        if (i >= 0 && i < ALONG) grove_node(i, &x, &weight);
        tr_buffer_print(&t, "\n%d,%.17g,0,0,%.17g,%.17g", i + 1, x * b->L, weight * b->L * b->rho,
                        weight * b->L * b->rotary);
        for (int k = 0; k < 5; k++) print_shape(&t, b, k, x);
    }
    tr_buffer_print(&t, "\n");
    write_text("nodes.csv", t.at);
    tr_buffer_free(&t);
}

static void write_modes(const GroveBody *b)
{
    static const int axes[] = {1, 1, 2, 2, 0};
    Buffer t = {0};
    tr_buffer_print(&t, "k1,k2,k3,k4,k5\n");
    for (int j = 0; j < 5; j++)
        for (int k = 0; k < 5; k++) {
            const double number = axes[k] ? bending_numbers[k % 2] : M_PI / 2;
            const double stiff = axes[k] ? b->stiffness[axes[k]] * pow(number, 4) / pow(b->L, 3)
                                         : b->stiffness[0] * pow(number, 2) / b->L;
            tr_buffer_print(&t, "%.17g%s", j == k ? stiff : 0, k < 4 ? "," : "\n");
        }
    write_text("modes.csv", t.at);
    tr_buffer_free(&t);
}

// A beam as a table of its mass points is that beam
static void test_modal_beam(void **state)
{
    (void)state;
    const GroveBody b = {.L = 1.2, .rho = 0.8, .rotary = 0.05, .stiffness = {2, 3, 4}};
    static const char *const texts[] = {
        "beam: {length: 1.2, density: 0.8, stiffness: 3, stiffness_z: 4, torsion: 2, rotary: 0.05, "
        "planes: yz, modes: 2, torsion_modes: 1, damping: 0.02, points: {end: 1.2}}",
        "modal: {nodes: nodes.csv, modes: modes.csv, damping: 0.02, points: {end: 101}}"};
    Probe p[2];
    Random r = {3};
    write_nodes(&b);
    write_modes(&b);
    for (int i = 0; i < 2; i++)
        p[i] = probe_formatted(
            "trundle: 1\nbodies:\n  mast:\n    joint: {type: free}\n    mass: 1\n"
            "    inertia: {xx: 1, yy: 1, zz: 1}\n    %s\n"
            "  arm: {parent: mast.end, joint: {type: revolute, axis: \"0, 1, 1\"}, mass: 1, "
            "com: \"0.1, 0.2, 0.3\"}\n",
            texts[i]);
    check_same_equations(&p[0], &p[1], &r, 5);
    assert_int_equal(p[1].system->scene.body_count, 3 + 51); // every other node is drawn
    probe_free(&p[0]);
    probe_free(&p[1]);
}

// Files stand beside the model.
static void test_tables_beside(void **state)
{
    (void)state;
    tr_error err = {0};
    assert_int_equal(mkdir("beside", 0700), 0);
    write_text("beside/nodes.csv", "x,y,z,m,ux1,uy1,uz1\n1,0,0,2,0,1,0\n");
    write_text("beside/modes.csv", "k1,m1\n50,3\n"); // it has more than nodes have
    write_text("beside/model.yaml", "trundle: 1\nbodies:\n  mast:\n    modal: {nodes: "
                                    "nodes.csv, modes: modes.csv}\n");
    tr_model *model = tr_model_read("beside/model.yaml", &err);
    System *system = tr_derive(model, NULL, &err);
    tr_model_free(model);
    Probe p = probe_of_system(system, false, &err);
    probe_put(&p, "mast.e1", 0.1);
    probe_run(&p);
    assert_close(probe_get(&p, "M"), 3, 1e-15);
    assert_close(probe_vdot(&p, "mast.e1_rate"), -5.0 / 3, 1e-15);
    probe_free(&p);
    remove("beside/nodes.csv");
    remove("beside/modes.csv");
    remove("beside/model.yaml");
    remove("beside");
}

static const char text[] = "trundle: 1\nbodies:\n  mast:\n    modal:\n      nodes: nodes.csv\n"
                           "      modes: modes.csv\n";

static void test_bad_tables(void **state)
{
    (void)state;
    static const struct {
        const char *nodes, *modes, *words;
    } bad[] = {
        {"x,y,z,ux1,uy1,uz1\n1,0,0,0,1,0\n", "k1\n1\n", "'nodes.csv' needs a column 'm'"},
        {"x,y,z,m,ux1,uy1\n1,0,0,1,0,1\n", "k1\n1\n", "'nodes.csv' needs a column 'uz1'"},
        {"x,y,z,m,ux2,uy2,uz2\n1,0,0,1,0,1,0\n", "k1\n1\n", "'nodes.csv' needs a column 'ux1'"},
        {"x,y,z,m,ux1,uy1,uz1,rz1\n1,0,0,1,0,1,0,1\n", "k1\n1\n",
         "'nodes.csv' needs a column 'rx1'"},
        {"x,y,z,m,ux1,uy1,uz1,mass\n1,0,0,1,0,1,0,1\n", "k1\n1\n",
         "'nodes.csv' has a column, number 8, which is none of node x y z m jx ux1 rx1 and so on"},
        {"x,y,z,m\n1,0,0,1\n", "k1\n1\n",
         "'nodes.csv' has no modes: columns ux1 uy1 uz1 and so on"},
        {"x,y,z,m,ux1,uy1,uz1\n1,0,0,,0,1,0\n", "k1\n1\n",
         "'nodes.csv' has no number in column 'm' of row 1"},
        {"x,y,z,m,ux1,uy1,uz1\n1,0,0,-1,0,1,0\n", "k1\n1\n",
         "'nodes.csv' has a negative mass or inertia in row 1"},
        {"node,x,y,z,m,ux1,uy1,uz1\n3,1,0,0,1,0,1,0\n7,2,0,0,1,0,1,0\n3,3,0,0,1,0,1,0\n", "k1\n1\n",
         "'nodes.csv' has the node 3 twice"},
        {"x,y,z,m,ux1,uy1,uz1\n0,0,0,1,0,1,0\n", "k1\n1\n",
         "'nodes.csv' moves the node at the origin: modes are those of a body whose frame is "
         "held, "
         "mode 1 is not"},
        {"x,y,z,m,ux1,uy1,uz1,rx1,ry1,rz1\n0,0,0,1,0,0,0,0,1,0\n1,0,0,1,0,1,0,0,0,1\n", "k1\n1\n",
         "'nodes.csv' moves the node at the origin: modes are those of a body whose frame is "
         "held, mode 1 is not"},
        {"x,y,z,m,ux1,uy1,uz1\n1,0,0,0,0,1,0\n", "k1\n1\n",
         "'nodes.csv' has a mass of modes that is not positive"},
        {"x,y,z,m,ux1,uy1,uz1,ux2,uy2,uz2\n1,0,0,1,0,1,0,0,2,0\n", "k1,k2\n1,0\n0,1\n",
         "'nodes.csv' has a mass of modes that is not positive"},
        {"x,y,z,m,ux1,uy1,uz1\n1,0,0,1,0,1,0\n", "k1,m1\n1,-1\n",
         "'modes.csv' has a mass of modes that is not positive"},
        {"x,y,z,m,ux1,uy1,uz1\n1,0,0,1,0,1,0\n", "k1,m1\n1,0.5\n",
         "'modes.csv' has a mass of modes that is too small for what nodes weigh"},
        {"x,y,z,m,ux1,uy1,uz1\n1,0,0,1,0,1,0\n", "k1\n-1\n",
         "'modes.csv' has a stiffness that is not positive"},
        {"x,y,z,m,ux1,uy1,uz1\n1,0,0,1,0,1,0\n", "k1\n1\n2\n",
         "'modes.csv' has 2 rows: one for each mode of the nodes is wanted"},
        {"x,y,z,m,ux1,uy1,uz1\n1,0,0,1,0,1,0\n", "k1,k2\n1,2\n",
         "'modes.csv' has 2 columns: k1 k2 and so on for each mode, or these and m1 m2"},
        {"x,y,z,m,ux1,uy1,uz1\n1,0,0,1,0,1,0\n", "stiffness\n1\n",
         "'modes.csv' needs a column 'k1'"},
        {"x,y,z,m,ux1,uy1,uz1,ux2,uy2,uz2\n1,0,0,1,0,1,0,0,0,1\n", "k1,k2\n1,0.5\n0.1,1\n",
         "'modes.csv' has a stiffness that is not symmetric"},
        {"x,y,z,m,ux1,uy1,uz1\n1,0,zero,1,0,1,0\n", "k1\n1\n",
         "'nodes.csv', line 2: column 3 is no number"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text("nodes.csv", bad[i].nodes);
        write_text("modes.csv", bad[i].modes);
        check_refused(text, strstr(bad[i].words, "'modes.csv'") ? 6 : 5, bad[i].words);
    }
}

static void test_bad_points(void **state)
{
    (void)state;
    write_text("nodes.csv", "x,y,z,m,ux1,uy1,uz1\n1,0,0,1,0,1,0\n");
    write_text("modes.csv", "k1\n1\n");
    char more[600];
    snprintf(more, sizeof more, "%s      points: {tip: 1}\n", text);
    check_refused(more, 5,
                  "'nodes.csv' does not say how nodes turn: points need columns rx1 ry1 "
                  "rz1 and so on");
    write_text("nodes.csv", "x,y,z,m,ux1,uy1,uz1,rx1,ry1,rz1\n1,0,0,1,0,1,0,0,0,1\n");
    snprintf(more, sizeof more, "%s      points: {tip: 2}\n", text);
    check_refused(more, 7, "there is no node 2");
    snprintf(more, sizeof more, "%s      damping: -1\n", text);
    check_refused(more, 7, "the damping ratio of modes is negative");
    snprintf(more, sizeof more, "%s    beam: {length: 1, density: 1, stiffness: 1}\n", text);
    check_refused(more, 5, "'mast' bends as a beam or by modes from tables, not both");
    check_failed("trundle: 1\nbodies:\n  mast:\n    modal: {nodes: x.csv}\n", 4, TR_IO,
                 "cannot read 'x.csv': No such file or directory");
    check_refused("trundle: 1\nbodies:\n  mast:\n    modal: {damping: 1}\n", 4,
                  "this modal body needs 'nodes'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modal_beam),
        cmocka_unit_test(test_tables_beside),
        cmocka_unit_test(test_bad_tables),
        cmocka_unit_test(test_bad_points),
    };
    return cmocka_run_group_tests(tests, enter_folder, NULL);
}
