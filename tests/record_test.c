// SPDX-License-Identifier: Apache-2.0
// The files of a run: rows as CSV, for Matlab and for NumPy, the certificate, and what cannot be
// written.
#include "motion.h"

#include <matio.h>
#include <sys/stat.h>

// ---- files ---------------------------------------------------------------------------------

static const char *const pendulum_columns[] = {"t",
                                               "phi",
                                               "phi_rate",
                                               "height",
                                               "energy.kinetic",
                                               "energy.potential",
                                               "energy.work",
                                               "residual.position",
                                               "residual.velocity"};

// Every number reads back as the bits that a run by hand gives.
static void test_csv(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 1, o.every = 1. / 7;
    Sheet *t = simulated(system, o, NULL);
    assert_int_equal(t->columns, 9);
    for (size_t k = 0; k < 9; k++) assert_string_equal(t->names[k], pendulum_columns[k]);
    Motion m = start(system, "erk", 1);
    double columns[5];
    for (size_t i = 0; i < t->rows; i++) {
        double row[9];
        for (size_t k = 0; k < 9; k++) row[k] = t->values[k * t->rows + i];
        if (i) move(&m, row[0]);
        tr_flow_columns(m.flow, row[0], m.mover->y, columns);
        assert_memory_equal(row + 1, columns, sizeof columns);
        assert_true(same_bits(row[6], m.mover->y[2]));
        assert_true(row[7] == 0 && row[8] == 0);
    }
    stop(&m);
    // the same run writes the same file
    Sheet *again = simulated(system, o, NULL);
    assert_memory_equal(again->values, t->values, t->rows * t->columns * sizeof *t->values);
    tr_sheet_free(again);
    tr_sheet_free(t);
    tr_system_free(system);
}

static void test_mat(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 1, o.every = 1. / 7;
    Sheet *t = simulated(system, o, NULL);
    tr_error err = {0};
    o.output = in_folder("run.mat");
    assert_true(tr_simulate(system, &o, NULL, &err));
    mat_t *mat = Mat_Open(o.output, MAT_ACC_RDONLY);
    assert_non_null(mat);
    for (size_t k = 0; k < t->columns; k++) {
        char name[64];
        snprintf(name, sizeof name, "%s", t->names[k]);
        for (char *c = name; *c; c++)
            if (*c == '.') *c = '_';
        matvar_t *variable = Mat_VarRead(mat, name);
        assert_non_null(variable);
        assert_int_equal(variable->class_type, MAT_C_DOUBLE);
        assert_int_equal(variable->dims[0], t->rows);
        assert_int_equal(variable->dims[1], 1);
        const double *values = variable->data;
        for (size_t i = 0; i < t->rows; i++)
            assert_true(same_bits(values[i], t->values[k * t->rows + i]));
        Mat_VarFree(variable);
    }
    Mat_Close(mat);
    tr_sheet_free(t);
    tr_system_free(system);
}

// matio writes to paths only: the way goes through TMPDIR, wherever that is.
static void test_mat_through_tmpdir(void **state)
{
    (void)state;
    tr_error err = {0};
    char words[800];
    tr_system *system = system_from(pendulum);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 0.1, o.output = in_folder("away.mat");
    char *usual = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    setenv("TMPDIR", in_folder("nowhere"), 1);
    assert_false(tr_simulate(system, &o, NULL, &err));
    if (usual)
        setenv("TMPDIR", usual, 1);
    else
        unsetenv("TMPDIR");
    free(usual);
    snprintf(words, sizeof words, "cannot make the .mat file for '%.200s': %s", o.output,
             "No such file or directory");
    assert_error(err, TR_IO, words);
    assert_int_equal(access(o.output, F_OK), -1);
    tr_system_free(system);
}

static void test_mat_in_octave(void **state)
{
    (void)state;
    if (system("command -v octave >/dev/null 2>&1") != 0) {
        print_message("octave is not installed\n");
        skip();
    }
    tr_system *pendulum_system = system_from(pendulum);
    tr_simulate_options o = tr_simulate_defaults(pendulum_system);
    o.end = 1, o.output = in_folder("octave.mat");
    assert_true(tr_simulate(pendulum_system, &o, NULL, NULL));
    char command[600];
    snprintf(
        command, sizeof command,
        "octave --no-gui --eval \"r = load('%s'); exit(!(numel(r.t) == 101 && r.t(end) == 1 && "
        "r.phi(1) == 1 && isfield(r, 'energy_kinetic')))\" >/dev/null 2>&1",
        o.output);
    assert_int_equal(system(command), 0);
    tr_system_free(pendulum_system);
}

// A header, padded, then rows as they are: the numbers of the table of text, and NumPy's own words.
static void test_npy(void **state)
{
    (void)state;
    tr_system *pendulum_system = system_from(pendulum);
    tr_error err = {0};
    tr_simulate_options o = tr_simulate_defaults(pendulum_system);
    o.end = 1, o.every = 1. / 7;
    Sheet *t = simulated(pendulum_system, o, NULL);
    o.output = in_folder("run.npy");
    assert_true(tr_simulate(pendulum_system, &o, NULL, &err));
    size_t length = 0;
    char *bytes = tr_file_read(o.output, 1 << 20, &length, &err);
    assert_memory_equal(bytes, "\x93NUMPY\3", 8);
    uint32_t words;
    memcpy(&words, bytes + 8, sizeof words);
    const size_t ahead = 12 + (size_t)words;
    assert_int_equal(ahead % 64, 0);
    assert_int_equal(length, ahead + t->rows * t->columns * sizeof(double));
    const double *rows = (const double *)(const void *)(bytes + ahead);
    for (size_t i = 0; i < t->rows; i++)
        for (size_t k = 0; k < t->columns; k++)
            assert_true(same_bits(rows[i * t->columns + k], t->values[k * t->rows + i]));
    free(bytes);
    tr_sheet_free(t);
    tr_system_free(pendulum_system);
    if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) {
        print_message("NumPy is not installed\n");
        return;
    }
    char command[700];
    snprintf(command, sizeof command,
             "/usr/bin/python3 -c \"import numpy; r = numpy.load('%s'); assert r.shape == (8,) and "
             "r['t'][-1] == 1 and r['phi'][0] == 1 and 'energy.kinetic' in r.dtype.names\"",
             o.output);
    assert_int_equal(system(command), 0);
}

static void test_certificate(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    tr_error err = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_summary s;
    o.end = 1, o.output = in_folder("good.csv");
    assert_true(tr_simulate(system, &o, &s, &err));
    static const char *const words[] = {
        "{\n  \"model\": \"a pendulum\",\n  \"method\": \"erk\",\n  \"end\": 1,\n  \"reached\": "
        "1,\n",
        "\"every\": 0.01,\n  \"rtol\": 1e-10,\n  \"atol\": 1e-12,\n  \"rows\": 101,\n",
        "\"interrupted\": false,\n  \"failure\": \"\",\n",
        "\"parameters\": {\n    \"l\": 0.7\n  },\n",
        "  \"events\": [],\n  \"warnings\": [],\n"
        "  \"columns\": [\n    {\n      \"name\": \"t\",\n      \"unit\": \"s\",\n",
        "      \"name\": \"phi_rate\",\n      \"unit\": \"rad/s\",\n      \"quantity\": "
        "\"angular speed\",\n      \"owner\": \"phi\",\n      \"component\": \"\"\n",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_true(file_holds(in_folder("good.json"), words[i]));
    char line[100];
    snprintf(line, sizeof line, "\"steps\": %zu,", s.steps);
    assert_true(file_holds(in_folder("good.json"), line));
    snprintf(line, sizeof line, "\"evaluations\": %zu,", s.evaluations);
    assert_true(file_holds(in_folder("good.json"), line));
    o.method = "rk4", o.step = 0.005;
    assert_true(tr_simulate(system, &o, &s, &err));
    assert_true(file_holds(in_folder("good.json"), "\"every\": 0.01,\n  \"step\": 0.005,\n"));
    assert_int_equal(s.steps, 200);
    // no record, no certificate
    o.output = NULL;
    assert_true(tr_simulate(system, &o, &s, &err));
    assert_int_equal(s.rows, 101);
    tr_system_free(system);
}

static bool until_half(void *owner, double t, double end)
{
    ++*(int *)owner;
    assert_true(t <= end);
    return t < 0.5;
}

static void test_interruption(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie", "euler"};
    tr_system *system = system_from(pendulum);
    for (size_t i = 0; i < 6; i++)
        for (int long_rows = 0; long_rows < 2; long_rows++) {
            int calls = 0;
            tr_error err = {0};
            tr_summary s;
            tr_simulate_options o = tr_simulate_defaults(system);
            o.end = 100, o.every = long_rows ? 100 : 0.1, o.method = methods[i];
            o.output = in_folder("stopped.csv");
            o.progress = until_half, o.owner = &calls;
            assert_true(tr_simulate(system, &o, &s, &err)); // it did what it was told
            assert_true(s.interrupted && calls > 0 && calls < 1000);
            Sheet *t = read_sheet(o.output);
            assert_int_equal(t->rows, s.rows);
            assert_true(at(t, t->rows - 1, "t") == s.t && s.t <= 0.5);
            assert_true(long_rows ? s.rows == 1 : s.rows >= 5);
            assert_true(file_holds(in_folder("stopped.json"), "\"interrupted\": true"));
            tr_sheet_free(t);
            unlink(in_folder("stopped.csv"));
            unlink(in_folder("stopped.json"));
        }
    tr_system_free(system);
}

// ---- what goes wrong -----------------------------------------------------------------------

static void test_full_device(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    tr_error err = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.output = "/dev/full";
    for (int i = 0; i < 2; i++) { // fails while rows are written, or only at the end
        o.end = i ? 0.05 : 100;
        assert_false(tr_simulate(system, &o, NULL, &err));
        assert_error(err, TR_IO, "cannot write '/dev/full': No space left on device");
        assert_int_equal(access("/dev/full.json", F_OK), -1);
    }
    o.output = "/dev/null", o.end = 1; // a device that takes it, and has no certificate
    assert_true(tr_simulate(system, &o, NULL, &err));
    assert_int_equal(access("/dev/null.json", F_OK), -1);
    tr_system_free(system);
}

static void test_no_such_folder(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    static const char *const names[] = {"none/x.csv", "none/x.mat", "none/x.npy"};
    for (int i = 0; i < 3; i++) {
        tr_error err = {0};
        char words[300];
        tr_simulate_options o = tr_simulate_defaults(system);
        o.end = 0.1, o.output = in_folder(names[i]);
        assert_false(tr_simulate(system, &o, NULL, &err));
        snprintf(words, sizeof words, "cannot write '%s': No such file or directory", o.output);
        assert_error(err, TR_IO, words);
    }
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_mat),
        cmocka_unit_test(test_mat_through_tmpdir),
        cmocka_unit_test(test_mat_in_octave),
        cmocka_unit_test(test_npy),
        cmocka_unit_test(test_certificate),
        cmocka_unit_test(test_interruption),
        cmocka_unit_test(test_full_device),
        cmocka_unit_test(test_no_such_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
