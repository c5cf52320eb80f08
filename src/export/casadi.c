// SPDX-License-Identifier: Apache-2.0
// The interface by which CasADi and acados load functions, on top of generated C: rates, their
// slopes by x and u as sparse matrices, the gradient of weighted rates, and how that changes along
// a direction (products of second slopes with a vector). The same is there once more by the names
// and in the order in which CasADi looks for derivatives of a function F by itself: jac_F, fwd1_F,
// adj1_F, fwd1_adj1_F. By t and p there are those of first order, for how rates change along one
// parameter is a column; what would be of second order is NaN.
#include "export/embedded.h"
#include "export/identifier.h"
#include "export/target.h"

#include <stdio.h>
#include <string.h>

// By columns: those of x, or of u; where each entry comes from is `order`.
static void write_block(const Export *code, Buffer *out, const char *name, uint32_t from,
                        uint32_t columns)
{
    const uint32_t entries = code->part[PART_JACOBIAN].count;
    Buffer starts = {0}, rows = {0}, order = {0};
    uint32_t count = 0;
    for (uint32_t j = 0; j < columns; j++) {
        tr_buffer_print(&starts, ", %u", count);
        for (uint32_t k = 0; k < entries; k++) {
            if (code->jacobian_column[k] != from + j) continue;
            tr_buffer_print(&rows, ", %u", code->jacobian_row[k]);
            tr_buffer_print(&order, "%s%u", count++ ? ", " : "", k);
        }
    }
    tr_buffer_print(out, "static const casadi_int by_%s[] = {NX, %u%s, %u%s};\n", name, columns,
                    starts.at ? starts.at : "", count, rows.at ? rows.at : "");
    tr_buffer_print(out,
                    "enum { ENTRIES_BY_%s = %u };\nstatic const int order_by_%s[ENTRIES_BY_%s + 1] "
                    "= {%s};\n",
                    name, count, name, name, order.at ? order.at : "0");
    out->failed = out->failed || starts.failed || rows.failed || order.failed;
    tr_buffer_free(&starts);
    tr_buffer_free(&rows);
    tr_buffer_free(&order);
}

typedef struct Loaded {
    const char *prefix, *name; // around the name of the model
    const char *body, *names_in, *names_out, *sparsity_in, *sparsity_out;
    int n_in, n_out;
    const char *varies; // inputs that there are derivatives by; NULL: nothing is said
} Loaded;

#define USUAL_NAMES "\"t\", \"x\", \"u\", \"p\""
#define USUAL       "of_one, of_x, of_u, of_p"

static const Loaded functions[] = {
    {"", "f", "    if (res[0]) @name@_rates(t, x, u, p, mode, res[0], w);\n", USUAL_NAMES, "\"dx\"",
     USUAL, "of_x", 4, 1, "1, 1, 1, 1"},
    {"", "jac",
     "    double *J = w + @NAME@_NWORK;\n    @name@_jacobian(t, x, u, p, mode, J, w);\n"
     "    for (int k = 0; k < ENTRIES_BY_x && res[0]; k++) res[0][k] = J[order_by_x[k]];\n"
     "    for (int k = 0; k < ENTRIES_BY_u && res[1]; k++) res[1][k] = J[order_by_u[k]];\n",
     USUAL_NAMES, "\"jac_dx_x\", \"jac_dx_u\"", USUAL, "by_x, by_u", 4, 2, NULL},
    {"", "adj",
     "    const double *weight = arg[4] ? arg[4] : zeros;\n    double *g = w + @NAME@_NWORK;\n"
     "    @name@_gradient(t, x, u, p, mode, weight, g, w);\n"
     "    for (int k = 0; k < NX && res[0]; k++) res[0][k] = g[k];\n"
     "    for (int k = 0; k < NU && res[1]; k++) res[1][k] = g[NX + k];\n",
     USUAL_NAMES ", \"weight\"", "\"grad_x\", \"grad_u\"", USUAL ", of_x", "of_x, of_u", 5, 2,
     NULL},
    {"", "hess",
     "    const double *weight = arg[4] ? arg[4] : zeros;\n"
     "    double *g = w + @NAME@_NWORK, *change = g + NV;\n"
     "    gather(change, 0, arg[5], arg[6], 0);\n"
     "    @name@_hessian(t, x, u, p, mode, weight, change, g, w);\n"
     "    for (int k = 0; k < NX && res[0]; k++) res[0][k] = g[k];\n"
     "    for (int k = 0; k < NU && res[1]; k++) res[1][k] = g[NX + k];\n",
     USUAL_NAMES ", \"weight\", \"change_x\", \"change_u\"", "\"hess_x\", \"hess_u\"",
     USUAL ", of_x, of_x, of_u", "of_x, of_u", 7, 2, NULL},
    // As CasADi looks for them: after what F takes come what F gives, which is not needed, and
    // directions; there is a block for each of t, x, u, p.
    {"jac_", "f",
     "    double *J = w + @NAME@_NWORK;\n"
     "    if (res[1] || res[2]) @name@_jacobian(t, x, u, p, mode, J, w);\n"
     "    for (int k = 0; k < ENTRIES_BY_x && res[1]; k++) res[1][k] = J[order_by_x[k]];\n"
     "    for (int k = 0; k < ENTRIES_BY_u && res[2]; k++) res[2][k] = J[order_by_u[k]];\n"
     "    if (res[0]) by_one(t, x, u, p, 0, res[0], J);\n"
     "    for (int k = 0; k < NP && res[3]; k++) by_one(t, x, u, p, k + 1, res[3] + k * NX, J);\n",
     USUAL_NAMES ", \"out_dx\"", "\"jac_dx_t\", \"jac_dx_x\", \"jac_dx_u\", \"jac_dx_p\"",
     USUAL ", none_x", "of_x, by_x, by_u, all_by_p", 5, 4, NULL},
    {"fwd1_", "f",
     "    double *change = w + @NAME@_NWORK;\n    gather(change, arg[5], arg[6], arg[7], arg[8]);\n"
     "    if (res[0]) @name@_tangent(t, x, u, p, mode, change, res[0], w);\n",
     USUAL_NAMES ", \"out_dx\", \"fwd_t\", \"fwd_x\", \"fwd_u\", \"fwd_p\"", "\"fwd_dx\"",
     USUAL ", none_x, " USUAL, "of_x", 9, 1, NULL},
    {"adj1_", "f",
     "    const double *weight = arg[5] ? arg[5] : zeros;\n    double *g = w + @NAME@_NWORK;\n"
     "    @name@_gradient(t, x, u, p, mode, weight, g, w);\n    give(res, g, 0);\n"
     "    for (int k = 0; k <= NP; k++) {\n"
     "        double *to = k == 0 ? res[0] : res[3] ? res[3] + (k - 1) : 0;\n"
     "        if (to) by_one(t, x, u, p, k, g + NV, g);\n"
     "        for (int i = 0; i < NX && to; i++) *to += weight[i] * g[NV + i];\n"
     "    }\n",
     USUAL_NAMES ", \"out_dx\", \"adj_dx\"", "\"adj_t\", \"adj_x\", \"adj_u\", \"adj_p\"",
     USUAL ", none_x, of_x", USUAL, 6, 4, "1, 1, 1, 1, 0, 1"},
    {"fwd1_adj1_", "f",
     "    const double *weight = arg[5] ? arg[5] : zeros, *other = arg[15] ? arg[15] : zeros;\n"
     "    double *g = w + @NAME@_NWORK, *change = g + NV, *more = change + NV;\n"
     "    gather(change, arg[10], arg[11], arg[12], arg[13]);\n"
     "    @name@_hessian(t, x, u, p, mode, weight, change, g, w);\n"
     "    @name@_gradient(t, x, u, p, mode, other, more, w);\n"
     "    int is_known = 1; /* second slopes are by x and u alone */\n"
     "    for (int k = NX + NU; k < NV; k++) is_known = is_known && change[k] == 0;\n"
     "    for (int k = 0; k < NX + NU; k++) g[k] = is_known ? g[k] + more[k] : (double)NAN;\n"
     "    give(res, g, (double)NAN);\n",
     USUAL_NAMES ", \"out_dx\", \"adj_dx\", \"out_adj_t\", \"out_adj_x\", \"out_adj_u\", "
                 "\"out_adj_p\", \"fwd_t\", \"fwd_x\", \"fwd_u\", \"fwd_p\", \"fwd_out_dx\", "
                 "\"fwd_adj_dx\"",
     "\"fwd_adj_t\", \"fwd_adj_x\", \"fwd_adj_u\", \"fwd_adj_p\"",
     USUAL ", none_x, of_x, none_one, none_x, none_u, none_p, " USUAL ", none_x, of_x", USUAL, 16,
     4, NULL}};

static const char *const tails[] = {"n_in",      "n_out",       "default_in",   "name_in",
                                    "name_out",  "sparsity_in", "sparsity_out", "work",
                                    "alloc_mem", "init_mem",    "free_mem",     "checkout",
                                    "release",   "incref",      "decref"};
static const char *const shapes[] = {
    "casadi_int %s(void)",
    "casadi_int %s(void)",
    "casadi_real %s(casadi_int i)",
    "const char *%s(casadi_int i)",
    "const char *%s(casadi_int i)",
    "const casadi_int *%s(casadi_int i)",
    "const casadi_int *%s(casadi_int i)",
    "int %s(casadi_int *sz_arg, casadi_int *sz_res, casadi_int *sz_iw, casadi_int *sz_w)",
    "int %s(void)",
    "int %s(int mem)",
    "void %s(int mem)",
    "int %s(void)",
    "void %s(int mem)",
    "void %s(void)",
    "void %s(void)"};

enum { FULL_NAME = 120 };

static void full_name(const char *name, const Loaded *f, char out[FULL_NAME])
{
    snprintf(out, FULL_NAME, "%s%s_%s", f->prefix, name, f->name);
}

static void write_prototypes(const char *name, Buffer *out)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        char full[FULL_NAME];
        full_name(name, &functions[i], full);
        tr_buffer_print(out,
                        "CASADI_EXPORT int %s(const casadi_real **arg, casadi_real **res, "
                        "casadi_int *iw, casadi_real *w, int mem);\n",
                        full);
        for (size_t k = 0; k < sizeof tails / sizeof *tails; k++) {
            const char *at = strstr(shapes[k], "%s");
            tr_buffer_print(out, "CASADI_EXPORT %.*s%s_%s%s;\n", (int)(at - shapes[k]), shapes[k],
                            full, tails[k], at + 2);
        }
        if (functions[i].varies)
            tr_buffer_print(out, "CASADI_EXPORT int %s_diff_in(casadi_int i);\n", full);
    }
}

// Which inputs derivatives are by
static void write_varies(const char *full, const Loaded *f, Buffer *out)
{
    if (!f->varies) return;
    tr_buffer_print(out,
                    "CASADI_EXPORT int %s_diff_in(casadi_int i)\n{\n"
                    "    static const int varies[] = {%s};\n"
                    "    return i >= 0 && i < %d ? varies[i] : -1;\n}\n\n",
                    full, f->varies, f->n_in);
}

static void write_one(const Mark *marks, const char *name, const Loaded *f, Buffer *out)
{
    char full[FULL_NAME], n_in[12], n_out[12];
    Buffer body = {0};
    full_name(name, f, full);
    snprintf(n_in, sizeof n_in, "%d", f->n_in);
    snprintf(n_out, sizeof n_out, "%d", f->n_out);
    tr_fill_in(&body, text_of(f->body), marks);
    const Mark own[] = {{"f", full},
                        {"n_in", n_in},
                        {"n_out", n_out},
                        {"names_in", f->names_in},
                        {"names_out", f->names_out},
                        {"sparsity_in", f->sparsity_in},
                        {"sparsity_out", f->sparsity_out},
                        {"body", body.at ? body.at : ""},
                        {NULL, NULL}};
    tr_fill_in(out, tr_embedded_casadi_function(), own);
    write_varies(full, f, out);
    out->failed = out->failed || body.failed;
    tr_buffer_free(&body);
}

bool tr_print_casadi(Export *code, Folder *folder, tr_error *err)
{
    const char *name = code->options.name;
    char upper[64];
    Buffer prototypes = {0}, sparsities = {0}, title = {0}, modes = {0};
    if (!tr_print_c(code, folder, err)) return false;
    Buffer *out = tr_folder_add(folder, "%s_casadi.c", name);
    if (!out) return tr_fail_memory(err), false;
    tr_upper_name(name, upper, sizeof upper);
    write_prototypes(name, &prototypes);
    write_block(code, &sparsities, "x", 0, code->x.count);
    write_block(code, &sparsities, "u", code->x.count, code->u.count);
    tr_buffer_comment(&title, code->system->title ? code->system->title : name);
    for (uint32_t k = 0; k < code->latches.count; k++)
        tr_buffer_print(&modes, "%s%u", k ? ", " : "", code->mode[k]);
    const Mark marks[] = {{"name", name},
                          {"NAME", upper},
                          {"title", title.at ? title.at : name},
                          {"prototypes", prototypes.at},
                          {"sparsities", sparsities.at},
                          {"modes", modes.at ? modes.at : "0"},
                          {NULL, NULL}};
    if (prototypes.at && sparsities.at) {
        tr_fill_in(out, tr_embedded_casadi_head(), marks);
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
            write_one(marks, name, &functions[i], out);
    } else
        tr_fail_memory(err);
    tr_buffer_free(&prototypes);
    tr_buffer_free(&sparsities);
    tr_buffer_free(&title);
    tr_buffer_free(&modes);
    return !has_failed(err);
}
