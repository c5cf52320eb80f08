// SPDX-License-Identifier: Apache-2.0
// Machine code: programs of every length give the bits of the list, also where registers are too
// few and where numbers are denormal, infinite or none; no memory is ever writable and executable;
// and where the system refuses to make memory executable, an interpreter serves with the same bits.
#include "expr/formula.h"
#include "model/model.h"
#include "models.h"
#include "program/compile.h"
#include "program/evaluate.h"
#include "program/executable.h"
#include "program/interpret.h"
#include "program/list.h"
#include "program/native.h"
#include "random.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint32_t widths[] = {1, 4, 8};
enum { WIDTHS = 3, MOST_LANES = 8 };

static bool has_native(uint32_t lanes)
{
    return tr_machine() >= (lanes == 8 ? MACHINE_AVX512 : MACHINE_AVX2);
}

static bool agree(double a, double b) { return (isnan(a) && isnan(b)) || same_bits(a, b); }

// ---- random programs -----------------------------------------------------------------------

// Lists of instructions without a system: every operation, operands among all values so far or
// among the last few, outputs anywhere. The first inputs are parameters, and the first instructions
// take nothing else.
typedef struct Wild {
    Program program;
    Arena arena;
    Random random;
} Wild;

enum { WILD_INPUTS = 6, WILD_PARAMETERS = 2, WILD_TABLES = 4 };

static const double wild_numbers[] = {0,
                                      -0.0,
                                      1,
                                      -1,
                                      0.5,
                                      -3,
                                      1e300,
                                      -1e300,
                                      1e-300,
                                      5e-324,
                                      -2e-310,
                                      (double)INFINITY,
                                      -(double)INFINITY,
                                      (double)NAN,
                                      1e9,
                                      2.7e8};
enum { WILD_NUMBERS = sizeof wild_numbers / sizeof *wild_numbers };

static uint8_t wild_code(Random *r)
{
    for (;;) {
        const uint32_t code = random_below(r, CODE_COUNT);
        if (code <= OP_SYMBOL || code == OP_POW || is_block(code)) continue;
        const bool kernel = code < OP_COUNT && tr_kernels(MACHINE_PLAIN, 1)->of[code];
        if (!kernel || random_below(r, 4) == 0) return (uint8_t)code;
    }
}

// A value before the instruction k, of those that parameters decide where it is one of them
static uint32_t wild_operand(Random *r, const Program *p, uint32_t k, bool is_parameter)
{
    const uint32_t recent = 12, count = first_result(p) + k;
    if (k > recent && random_below(r, 3)) return count - 1 - random_below(r, recent);
    if (!is_parameter) return random_below(r, count);
    const uint32_t value = random_below(r, count - WILD_INPUTS + WILD_PARAMETERS);
    return value < WILD_PARAMETERS ? value : value - WILD_PARAMETERS + WILD_INPUTS;
}

// Two of one variable, then two of two
static const Table *const *wild_tables(Arena *arena)
{
    static const double x[] = {-2, -1, 0, 0.5, 2}, y[] = {-1, 0, 1, 3};
    static const double z[] = {1, 2, 0, -1, 0, 1, 1, 2, 3, 1, 0, 0, 1, 1, -1, 0, 0, 1, 2, 2, 5};
    const Table **tables = tr_arena_alloc(arena, WILD_TABLES, sizeof *tables);
    for (int i = 0; i < WILD_TABLES; i++) {
        tables[i] = i < 2 ? tr_table_through(x, 5, NULL, 1, z + i, 3, false, NULL)
                          : tr_table_through(x, 5, y, 4, z + i % 2, 3, i == 3, NULL);
        assert_non_null(tables[i]);
    }
    return tables;
}

static Instruction wild_instruction(Random *r, const Program *p, uint32_t k, bool is_parameter)
{
    Instruction i = {.code = wild_code(r), .stage = is_parameter ? STAGE_PARAMETER : STAGE_STATE};
    for (int which = 0; which < code_operands(i.code); which++)
        *instruction_operand(&i, which) = wild_operand(r, p, k, is_parameter);
    if (i.code == OP_TABLE1) i.c = random_below(r, 2), i.n = (int16_t)random_below(r, 3);
    if (i.code == OP_TABLE2)
        i.c = 2 + random_below(r, 2),
        i.n = (int16_t)table_order((int)random_below(r, 2), (int)random_below(r, 2));
    return i;
}

static void wild_grow(Wild *w, uint64_t seed, uint32_t length)
{
    *w = (Wild){.random = {seed}};
    Program *p = &w->program;
    Random *r = &w->random;
    InputPort *inputs = tr_arena_alloc(&w->arena, WILD_INPUTS, sizeof *inputs);
    double *constants = tr_arena_alloc(&w->arena, WILD_NUMBERS + UNIT_COUNT, sizeof *constants);
    Instruction *list = tr_arena_alloc(&w->arena, length, sizeof *list);
    uint32_t *first = tr_arena_alloc(&w->arena, length + 1, sizeof *first);
    uint32_t *outputs = tr_arena_alloc(&w->arena, length + 3, sizeof *outputs);
    uint32_t *used = tr_arena_alloc(&w->arena, WILD_INPUTS, sizeof *used);
    const double units[] = {1, -1, -0.0};
    memcpy(constants, wild_numbers, sizeof wild_numbers);
    memcpy(constants + WILD_NUMBERS, units, sizeof units);
    for (uint32_t i = 0; i < WILD_INPUTS; i++) {
        const bool is_parameter = i < WILD_PARAMETERS;
        inputs[i] = (InputPort){.name = "x", .kind = is_parameter ? TR_PARAMETER : TR_POSITION};
        used[i] = i;
    }
    p->inputs = inputs, p->input_count = WILD_INPUTS;
    p->constants = constants, p->constant_count = WILD_NUMBERS + UNIT_COUNT;
    p->tables = wild_tables(&w->arena), p->table_count = WILD_TABLES;
    const uint32_t begin = first_result(p), moving = random_below(r, length / 2 + 1);
    for (uint32_t k = 0; k < length; k++) {
        list[k] = wild_instruction(r, p, k, k < moving);
        first[k] = begin + k;
        if (random_below(r, 8) == 0) outputs[p->output_count++] = begin + k;
    }
    outputs[p->output_count++] = random_below(r, begin); // an input or a constant
    outputs[p->output_count++] = begin + length - 1;
    outputs[p->output_count++] = begin + length - 1;
    first[length] = begin + length;
    p->instructions = list, p->instruction_count = length, p->first = first, p->outputs = outputs;
    p->stage_end[STAGE_PARAMETER] = p->stage_end[STAGE_TIME] = moving;
    p->stage_end[STAGE_STATE] = length;
    p->used[PART_PARAMETER] = (UsedInputs){used, WILD_PARAMETERS};
    p->used[PART_STATE] = (UsedInputs){used + WILD_PARAMETERS, WILD_INPUTS - WILD_PARAMETERS};
    tr_program_check(p);
}

static double wild_number(Random *r)
{
    if (random_below(r, 3) == 0) return wild_numbers[random_below(r, WILD_NUMBERS)];
    return random_between(r, -3, 3);
}

static void check_wild(Wild *w, const Executable *executable, const char *what)
{
    const Program *p = &w->program;
    const size_t n = p->output_count;
    double in[MOST_LANES][WILD_INPUTS], *list = calloc(n + 1, sizeof *list);
    double *room = tr_list_room(p);
    double *out = calloc(n * MOST_LANES + 1, sizeof *out);
    tr_workspace *work = tr_workspace_on(p, executable, executable->lanes, NULL);
    for (int again = 0; again < 2; again++) { // with the same parameters and other states
        for (uint32_t k = 0; k < executable->lanes; k++)
            for (int i = again ? WILD_PARAMETERS : 0; i < WILD_INPUTS; i++)
                in[k][i] = wild_number(&w->random);
        if (!again) tr_workspace_prepare(p, work, in[0]);
        tr_evaluate_prepared(p, work, in[0], out);
        for (uint32_t k = 0; k < executable->lanes; k++) {
            tr_list_run(p, in[k], room, list);
            for (size_t i = 0; i < n; i++)
                if (!agree(list[i], out[k * n + i]))
                    fail_msg("%s, lane %u of %u, output %zu of %u instructions: %.17g, not %.17g",
                             what, k, executable->lanes, i, p->instruction_count, out[k * n + i],
                             list[i]);
        }
    }
    tr_workspace_free(work);
    free(room);
    free(list);
    free(out);
}

static void check_wild_everywhere(uint64_t seed, uint32_t length)
{
    Wild w;
    wild_grow(&w, seed, length);
    for (int i = 0; i < WIDTHS; i++) {
        Executable *interpreted = tr_interpret_new(&w.program, widths[i]);
        Executable *native = tr_native(&w.program, widths[i]);
        assert_non_null(interpreted);
        assert_int_equal(native != NULL, has_native(widths[i]));
        check_wild(&w, interpreted, "interpreter");
        if (native) check_wild(&w, native, "machine code");
        interpreted->free(interpreted);
        if (native) native->free(native);
    }
    for (int i = 0; i < WILD_TABLES; i++) tr_table_free(w.program.tables[i]);
    tr_arena_free(&w.arena);
}

static void test_random_programs(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= (BRIEF ? 100 : 600); seed++)
        check_wild_everywhere(seed, 1 + seed * seed % 700);
    check_wild_everywhere(1, 10000);
    check_wild_everywhere(2, 100000);
}

// ---- bundled models ------------------------------------------------------------------------

static tr_run *run_by(const tr_model *model, const char *case_name, const char *evaluate,
                      tr_system **system, tr_plan **plan, tr_error *err)
{
    tr_derive_options how = tr_derive_defaults();
    how.case_name = case_name, how.evaluate = evaluate;
    *system = tr_derive(model, &how, err);
    *plan = tr_plan_new(*system, err);
    tr_run_options o = tr_run_defaults(*plan);
    o.method = "rk4", o.step = 0.001;
    return tr_run_new(*plan, &o, err);
}

// All programs of some steps: the same rows, or the same words.
static void check_case(const tr_model *model, const char *name, const char *case_name)
{
    static const char *const ways[] = {"interpreter", "native"};
    tr_error err[2] = {0};
    tr_system *system[2];
    tr_plan *plan[2];
    tr_run *run[2];
    for (int k = 0; k < 2; k++)
        run[k] = run_by(model, case_name, ways[k], &system[k], &plan[k], &err[k]);
    const size_t columns = tr_plan_column_count(plan[0]);
    for (int step = 1; run[0] && run[1] && step <= 12; step++) {
        for (int k = 0; k < 2; k++) tr_run_advance(run[k], 0.001 * step, &err[k]);
        const double *a = tr_run_row(run[0]), *b = tr_run_row(run[1]);
        assert_int_equal(a != NULL, b != NULL);
        for (size_t i = 0; a && i < columns; i++)
            if (!agree(a[i], b[i]))
                fail_msg("%s %s: %s is %.17g, not %.17g", name, case_name ? case_name : "",
                         tr_plan_column_name(plan[0], i), b[i], a[i]);
    }
    assert_string_equal(err[0].text, err[1].text);
    for (int k = 0; k < 2; k++) {
        tr_run_free(run[k]);
        tr_plan_free(plan[k]);
        tr_system_free(system[k]);
    }
}

static int is_model(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static void test_bundled_models(void **state)
{
    (void)state;
    struct dirent **list;
    const int count = scandir(MODELS_DIR, &list, is_model, alphasort);
    assert_true(count > 50);
    for (int i = 0; i < count; i++) {
        char name[300];
        snprintf(name, sizeof name, "%.*s", (int)strlen(list[i]->d_name) - 5, list[i]->d_name);
        tr_model *model = model_called(name);
        for (uint32_t k = 0; k < (BRIEF ? 1 : model->fields.cases.count); k++) {
            const Text text = model->fields.cases.at[k].name.text;
            char case_name[100];
            snprintf(case_name, sizeof case_name, "%.*s", TEXT(text));
            check_case(model, name, case_name);
        }
        tr_model_free(model);
        free(list[i]);
    }
    free(list);
}

// ---- memory --------------------------------------------------------------------------------

// Whether some memory of the process may be written and executed
static bool has_both(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[600], permissions[5];
    bool both = false;
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%*s %4s", permissions) == 1)
            both = both || (permissions[1] == 'w' && permissions[2] == 'x');
    fclose(maps);
    return both;
}

static Program *small_program(void)
{
    System *s = tr_system_new(NULL);
    tr_input(s, "x", TR_POSITION, 0, NULL);
    tr_input(s, "m", TR_PARAMETER, 2, NULL);
    const Expr y = tr_formula(s, "sin(x)/m + x*sqrt(m)", NULL);
    tr_output(s, "y", &y, 1, 1, NULL);
    Program *p = tr_compile(s, "y", NULL, NULL);
    tr_system_free(s);
    return p;
}

// From here on this process may not ask for these rights to memory, by one call.
static bool forbid(unsigned rights)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, rights),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rights, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum { ROWS = 11 };

static void evaluate_rows(const Program *p, double *out)
{
    double in[ROWS][2];
    for (int i = 0; i < ROWS; i++) in[i][0] = 0.3 * i, in[i][1] = 2 + i;
    tr_workspace *w = tr_workspace_new(p, NULL);
    tr_evaluate_many(p, w, ROWS, in[0], 2, out, 1);
    tr_evaluate(p, w, in[ROWS - 1], out + ROWS);
    tr_workspace_free(w);
}

// In another process, for what is forbidden stays so: whether all evaluators give what is expected,
// with machine code where it may be.
static int try_forbidden(unsigned rights, bool may_be_native, const double *expected)
{
    double out[ROWS + 1];
    if (!forbid(rights)) return 2;
    Program *p = small_program();
    for (int i = 0; i < WIDTHS; i++) {
        Executable *native = tr_native(p, widths[i]);
        if ((native != NULL) != (may_be_native && has_native(widths[i]))) return 3;
        if (has_both()) return 4;
        if (native) native->free(native);
    }
    evaluate_rows(p, out);
    const bool equal = memcmp(out, expected, sizeof out) == 0;
    tr_program_free(p);
    return equal ? 0 : 5;
}

static void check_forbidden(unsigned rights, bool may_be_native)
{
    double expected[ROWS + 1];
    Program *p = small_program();
    evaluate_rows(p, expected);
    tr_program_free(p);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) _exit(try_forbidden(rights, may_be_native, expected));
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_no_memory_is_written_and_executed(void **state)
{
    (void)state;
    check_forbidden(PROT_WRITE | PROT_EXEC, true);
}

static void test_refused_memory(void **state)
{
    (void)state;
    check_forbidden(PROT_EXEC, false);
}

// ---- other processors ----------------------------------------------------------------------

// What a lesser processor gives is the same.
static void test_every_machine(void **state)
{
    (void)state;
    const Machine own = tr_machine();
    double expected[ROWS + 1], out[ROWS + 1];
    Program *p = small_program();
    evaluate_rows(p, expected);
    tr_program_free(p);
    for (int machine = 0; machine <= (int)own; machine++) {
        tr_limit_machine((Machine)machine);
        assert_int_equal(tr_machine(), machine);
        p = small_program();
        evaluate_rows(p, out);
        assert_memory_equal(out, expected, sizeof out);
        assert_int_equal(tr_executable(p, WAY_LANES)->lanes, machine == MACHINE_AVX2 ? 4 : 8);
        tr_program_free(p);
    }
    tr_limit_machine(own);
}

// ---- choosing ------------------------------------------------------------------------------

static void test_choice(void **state)
{
    (void)state;
    tr_error err = {0};
    System *s = tr_system_new(NULL);
    const Expr x = tr_input(s, "x", TR_POSITION, 0, NULL);
    tr_output(s, "y", &x, 1, 1, NULL);
    tr_compile_options o = tr_compile_defaults();
    o.evaluate = "interpreter";
    Program *p = tr_compile(s, "y", &o, &err);
    assert_int_equal(err.status, TR_OK);
    const Executable *slow = tr_executable(p, WAY_ONE);
    assert_int_equal(slow->value_count, value_count(p));
    assert_ptr_equal(slow->run, tr_interpreter());
    assert_ptr_equal(slow, tr_executable(p, WAY_ONE)); // made once
    tr_program_free(p);
    o.evaluate = "native";
    p = tr_compile(s, "y", &o, &err);
    assert_int_equal(tr_executable(p, WAY_ONE)->run != tr_interpreter(), has_native(1));
    tr_program_free(p);
    o.evaluate = "compiler";
    assert_null(tr_compile(s, "y", &o, &err));
    assert_int_equal(err.status, TR_USAGE);
    assert_string_equal(err.text, "evaluate: 'native' or 'interpreter', not 'compiler'");
    tr_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs),
        cmocka_unit_test(test_bundled_models),
        cmocka_unit_test(test_no_memory_is_written_and_executed),
        cmocka_unit_test(test_refused_memory),
        cmocka_unit_test(test_every_machine),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
