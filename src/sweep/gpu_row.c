// SPDX-License-Identifier: Apache-2.0
#include "sweep/gpu_row.h"

#include "base/error.h"
#include "sim/row_time.h"
#include "sweep/embedded.h"

#include <math.h>

enum { MOST_KEPT = 200 };

// The rows of reduction.def, as they stand there
static const char reductions[] = "static double reduce(int how, Step s)\n{\n"
                                 "    double value = s.x;\n"
#define REDUCTION(id, name, first, next) \
    "    if (how == KEEP_" #id ") value = s.is_first ? " #first " : " #next ";\n"
#include "sweep/reduction.def"
                                 "    return value;\n}\n";

static const char names[] = "enum {\n"
#define REDUCTION(id, ...) "    KEEP_" #id ",\n"
#include "sweep/reduction.def"
                            "};\n";

static void print_number(Buffer *out, const char *name, double x)
{
    tr_buffer_print(out, "static const double %s = ", name);
    tr_buffer_number(out, x);
    tr_buffer_print(out, ";\n");
}

static void print_whole(Buffer *out, const char *name, uint32_t n)
{
    tr_buffer_print(out, "static const int %s = %u;\n", name, n);
}

static void print_kept(Buffer *out, const Keep *k)
{
    tr_buffer_print(out, "static const double KEPT_AT[] = {0");
    for (uint32_t i = 0; i < k->count; i++) {
        tr_buffer_print(out, ", ");
        tr_buffer_number(out, k->kept[i].at);
    }
    tr_buffer_print(out, "};\nstatic const int KEPT_HOW[] = {0");
    for (uint32_t i = 0; i < k->count; i++) tr_buffer_print(out, ", %u", k->kept[i].how);
    tr_buffer_print(out, "};\n");
    print_whole(out, "KEPT", k->count);
    print_whole(out, "ENDS", k->stops);
}

static void print_times(Buffer *out, const Sweep *s)
{
    const double count = tr_row_intervals(s->end, s->every);
    print_number(out, "END", s->end);
    print_number(out, "EVERY", s->every);
    print_number(out, "COUNT", count);
    print_whole(out, "DIVIDES", tr_row_divides(s->end, s->every));
}

bool tr_sweep_gpu_rows(const Sweep *s, RowEnergies at, Buffer *out, GpuRows *rows, tr_error *err)
{
    const Text tally = tr_sweep_tally(), row = tr_sweep_gpu_row();
    if (s->keep.count > MOST_KEPT) return false;
    tr_buffer_add(out, tally.at, tally.length);
    tr_buffer_print(out, "%s", names);
    tr_buffer_print(out, "%s", reductions);
    print_kept(out, &s->keep);
    print_times(out, s);
    print_whole(out, "KINETIC", at.kinetic);
    print_whole(out, "POTENTIAL", at.potential);
    print_whole(out, "WORK", at.work);
    tr_buffer_add(out, row.at, row.length);
    if (out->failed) return tr_fail_memory(err), false;
    *rows = (GpuRows){.formulas = s->keep.program,
                      .columns = s->row_count,
                      .numbers = tr_keep_size(&s->keep),
                      .given = s->design.count,
                      .last = tr_row_intervals(s->end, s->every),
                      .text = {out->at, out->length}};
    return true;
}
