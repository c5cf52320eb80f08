// SPDX-License-Identifier: Apache-2.0
// Machine code without the machine: executed byte by byte (x86.h) it gives the interpreter's bits
// in every lane, touches no memory but its values, and another disassembler sees the same
// instructions. So code for eight lanes is checked on processors that cannot run it.
#include "folder.h"
#include "joined.h"
#include "jungle.h"
#include "program/compile.h"
#include "program/evaluate.h"
#include "program/native.h"
#include "x86.h"

#ifdef __x86_64__ // elsewhere it may know other machines only
#define HAS_OBJDUMP true
#else
#define HAS_OBJDUMP false
#endif

enum { LANES = 8, WIDTHS = 3 };
static const uint32_t widths[WIDTHS] = {1, 4, 8};

static tr_program *program_of(System *s, const Expr *results, uint32_t count)
{
    tr_error err = {0};
    tr_output(s, "all", results, count, 1, &err);
    tr_program *p = tr_compile(s, "all", NULL, &err);
    assert_int_equal(err.status, TR_OK);
    return p;
}

static tr_program *jungle_program(const Jungle *j)
{
    Expr all[JUNGLE_MAX];
    for (uint32_t i = 0; i < j->count; i++) all[i] = j->plants[i].expr;
    return program_of(j->system, all, j->count);
}

// Multiply-adds of every kind on what the jungle has, some of which is used again and again; no
// value is beside all others for long, so that every order of operands is met.
static tr_program *fused_program(Jungle *j)
{
    enum { COUNT = 380, ALL = COUNT + JUNGLE_INPUTS };
    Expr all[ALL];
    memcpy(all, j->inputs, sizeof j->inputs);
    for (uint32_t i = JUNGLE_INPUTS; i < ALL; i++) {
        const uint32_t near = i > 40 && chance(&j->random, 0.7) ? i - 40 : 0;
        Expr x[3];
        for (int k = 0; k < 3; k++) x[k] = all[near + random_below(&j->random, i - near)];
        const Expr product = mul(x[0], x[1]);
        switch (random_below(&j->random, 3)) {
        case 0: all[i] = add(product, x[2]); break;
        case 1: all[i] = sub(product, x[2]); break;
        default: all[i] = sub(x[2], product);
        }
    }
    return program_of(j->system, all + ALL - 100, 100);
}

// ---- an executable -------------------------------------------------------------------------

typedef struct Decoded {
    Executable executable;
    NativeCode code;
    uint64_t *executed; // instructions, by part
} Decoded;

static void run_decoded(const Executable *executable, ProgramPart part, double *values)
{
    const Decoded *d = (const Decoded *)executable;
    const size_t count = ((size_t)executable->value_count + 1) * executable->lanes;
    X86 x = {.code = d->code.bytes,
             .size = d->code.size,
             .memory = values,
             .memory_size = count * sizeof *values};
    x86_run(&x, d->code.start[part], values);
    d->executed[part] = x.executed;
}

static Decoded decoded(const Program *p, uint32_t lanes, uint64_t *executed)
{
    Decoded d = {.executed = executed};
    assert_true(tr_native_code(p, tr_kernels(tr_machine(), lanes), &d.code));
    d.executable = (Executable){.run = run_decoded,
                                .lanes = lanes,
                                .value_count = d.code.value_count,
                                .outputs = d.code.outputs};
    return d;
}

// NaNs may differ in their sign, which no operation of ours defines.
static void assert_same_results(const double *a, const double *b, uint32_t count, uint32_t lanes)
{
    for (uint32_t i = 0; i < count; i++)
        if (!(isnan(a[i]) && isnan(b[i])) && !same_bits(a[i], b[i]))
            fail_msg("%u lanes, number %u: %a, not %a", lanes, i, b[i], a[i]);
}

static double any_input(Random *r)
{
    static const double odd[] = {0.0, -0.0, 1e300, -0x1p30, 0x1p-1070, HUGE_VAL, (double)NAN};
    return chance(r, 0.05) ? odd[random_below(r, 7)] : random_between(r, -3, 3);
}

// ---- another disassembler ------------------------------------------------------------------

// What code consists of, for 1, 4 and 8 lanes
static const char *const known[][3] = {
    {"vaddsd", "vaddpd", "vaddpd"},          {"vsubsd", "vsubpd", "vsubpd"},
    {"vmulsd", "vmulpd", "vmulpd"},          {"vdivsd", "vdivpd", "vdivpd"},
    {"vsqrtsd", "vsqrtpd", "vsqrtpd"},       {"vminsd", "vminpd", "vminpd"},
    {"vmaxsd", "vmaxpd", "vmaxpd"},          {"vroundsd", "vroundpd", "vrndscalepd"},
    {"vandnpd", "vandnpd", "vpandnq"},       {"vxorpd", "vxorpd", "vpxorq"},
    {"vmovsd", "vmovupd", "vmovupd"},        {"vmovapd", "vmovapd", "vmovapd"},
    {"vblendvpd", "vblendvpd", "vblendmpd"}, {"vandpd", "vandpd", NULL},
};
static const char *const relations[] = {"lt_oq", "le_oq", "eq", "neq", "unord"};
static const char *const fused[] = {"vfmadd", "vfmsub", "vfnmadd"};
static const char *const general[] = {"push", "pop", "mov", "movabs", "call", "ret", "vzeroupper"};

enum { MOST_NAMES = 64 };
typedef struct Names {
    char name[MOST_NAMES][16];
    bool seen[MOST_NAMES];
    int count;
} Names;

static void add_name(Names *names, const char *a, const char *b, const char *c)
{
    assert_true(names->count < MOST_NAMES);
    snprintf(names->name[names->count++], sizeof names->name[0], "%s%s%s", a, b, c);
}

static Names names_of(int width)
{
    static const char *const orders[] = {"132", "213", "231"};
    const char *const kind = width ? "pd" : "sd";
    Names names = {.count = 0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i][width]) add_name(&names, known[i][width], "", "");
    for (size_t i = 0; i < sizeof general / sizeof *general; i++)
        if (width || strcmp(general[i], "vzeroupper")) add_name(&names, general[i], "", "");
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        add_name(&names, "vcmp", relations[i], kind);
    for (size_t i = 0; i < 9; i++) add_name(&names, fused[i / 3], orders[i % 3], kind);
    return names;
}

static void see(Names *names, const char *name, const char *line)
{
    for (int i = 0; i < names->count; i++)
        if (!strcmp(names->name[i], name)) {
            names->seen[i] = true;
            return;
        }
    fail_msg("not expected: %s", line);
}

// How many instructions it sees, all of them known
static uint64_t disassemble(const NativeCode *code, Names *names)
{
    const char *path = in_folder("code");
    char command[400], line[256];
    snprintf(command, sizeof command, "objdump -D -b binary -m i386:x86-64 --no-show-raw-insn '%s'",
             path);
    write_bytes(path, (const char *)code->bytes, code->size);
    FILE *text = popen(command, "r");
    assert_non_null(text);
    uint64_t count = 0;
    while (fgets(line, sizeof line, text)) {
        char name[64];
        unsigned offset;
        if (sscanf(line, " %x:\t%63s", &offset, name) != 2) continue;
        see(names, name, line);
        count++;
    }
    assert_int_equal(pclose(text), 0);
    return count;
}

// ---- tests ---------------------------------------------------------------------------------

// Each lane with its own inputs and parameters.
static void check_results(const Program *p, const Decoded *d, const double *in,
                          const double *expected)
{
    static double out[LANES * JUNGLE_MAX];
    tr_workspace *w = tr_workspace_on(p, &d->executable, LANES, NULL);
    tr_workspace_prepare(p, w, in);
    tr_evaluate_prepared(p, w, in, out);
    assert_same_results(expected, out, LANES * p->output_count, d->executable.lanes);
    tr_workspace_free(w);
}

// Code is a straight line: what is executed is what is there.
static void check_instructions(const Decoded *d, Names *names)
{
    const size_t bytes = ((size_t)d->code.value_count + 1) * LANES * sizeof(double);
    double *values = aligned_alloc(64, bytes);
    assert_non_null(values);
    memset(values, 0, bytes);
    for (int part = 0; part < PART_COUNT; part++)
        run_decoded(&d->executable, (ProgramPart)part, values);
    if (HAS_OBJDUMP)
        assert_int_equal(disassemble(&d->code, names), d->executed[0] + d->executed[1]);
    free(values);
}

static void interpret(const Program *p, const double *in, double *out)
{
    Arena arena = {0};
    tr_workspace *w = tr_workspace_on(p, tr_interpret(p, tr_interpreter(), &arena), 1, NULL);
    for (uint32_t k = 0; k < LANES; k++)
        tr_evaluate(p, w, in + k * p->input_count, out + k * p->output_count);
    tr_workspace_free(w);
    tr_arena_free(&arena);
}

// A program, and the same with ranges, in every width
static void check_program(const Program *p, Random *r, Names names[WIDTHS])
{
    static double in[LANES * JUNGLE_INPUTS], expected[LANES * JUNGLE_MAX];
    Arena arena = {0};
    const Program *const both[] = {p, joined(p, &arena)};
    for (int i = 0; i < LANES * JUNGLE_INPUTS; i++) in[i] = any_input(r);
    interpret(p, in, expected);
    for (int i = 0; i < 2 * WIDTHS; i++) {
        uint64_t executed[PART_COUNT];
        Decoded d = decoded(both[i % 2], widths[i / 2], executed);
        check_results(both[i % 2], &d, in, expected);
        if (names) check_instructions(&d, &names[i / 2]);
        tr_native_code_free(&d.code);
    }
    tr_arena_free(&arena);
}

static void test_decoded_code_has_the_same_bits(void **state)
{
    (void)state;
    Names names[WIDTHS];
    for (int width = 0; width < WIDTHS; width++) names[width] = names_of(width);
    for (uint64_t seed = 1; seed <= (BRIEF ? 15 : 60); seed++) {
        Jungle j;
        jungle_grow_with(&j, seed, 300, false, 2);
        tr_program *p = seed % 3 ? jungle_program(&j) : fused_program(&j);
        check_program(p, &j.random, seed <= 12 ? names : NULL);
        tr_program_free(p);
        jungle_free(&j);
    }
    for (int width = 0; width < WIDTHS && HAS_OBJDUMP; width++)
        for (int i = 0; i < names[width].count; i++)
            if (!names[width].seen[i])
                fail_msg("%u lanes: there was no %s", widths[width], names[width].name[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_decoded_code_has_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
