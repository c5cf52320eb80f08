// SPDX-License-Identifier: Apache-2.0
// Generated C, compiled and loaded.
#ifndef TR_TESTS_EXPORTS_H
#define TR_TESTS_EXPORTS_H

#include "folder.h"
#include "model_list.h"
#include "models.h"

#include "base/random.h"
#include "plan/flow.h"
#include "program/list.h"
#include "sim/run.h"

#include <dlfcn.h>
#include <unistd.h>

#define STRICT "-Wall -Wextra -Wconversion -pedantic -Werror"

typedef struct Exported {
    void *library;
    size_t nx, nu, np, ny, nm, nj, nz, ns, nc, nk, room;
    double *x, *dx, *u, *p, *y, *J, *z, *w;
    int *mode;
    void (*parameters)(double *p);
    void (*inputs)(const double *p, double *u);
    int (*initial)(const double *p, double *x, int *mode, double *w);
    void (*rates)(double t, const double *x, const double *u, const double *p, const int *mode,
                  double *dx, double *w);
    void (*outputs)(double t, const double *x, const double *u, const double *p, const int *mode,
                    double *y, double *w);
    void (*jacobian)(double t, const double *x, const double *u, const double *p, const int *mode,
                     double *J, double *w);
    void (*speeds)(double t, double *x, const double *u, const double *p, double *w);
    void (*project)(double t, double *x, const double *u, const double *p, const int *mode,
                    double *w);
    // sets entries of u where there are controllers
    int (*step)(double t, double h, double *x, double *u, const double *p, int *mode, double *w);
    void (*indicators)(double t, const double *x, const double *u, const double *p, const int *mode,
                       double *z, double *w);
    int (*event)(double t, double *x, const double *u, const double *p, int *mode, double *w);
    void (*chart)(double t, double *x, const double *u, const double *p, int *mode, double *w);
    double (*next_time)(double t, double until, const double *x, const double *u, const double *p,
                        double *w);
    // where something acts at samples
    void (*periods)(const double *p, double *period, double *w);
    int (*sense)(double t, double *x, const double *u, const double *p, const int *mode, double *s,
                 double *w);
    int (*control)(const int *due, double t, const double *s, double *c, double *u, const double *p,
                   double *w);
    int (*sample)(double t, double *x, double *u, const double *p, const int *mode, double *w);
    const int *row, *column;
    const struct ExportedName {
        const char *name, *unit;
        double value, least, most;
    } * x_name, *u_name, *p_name, *y_name, *mode_name, *s_name, *c_name, *k_name;
} Exported;

static inline void *symbol_of(void *library, const char *name)
{
    char full[200];
    snprintf(full, sizeof full, "m_%s", name);
    void *at = dlsym(library, full);
    if (!at) fail_msg("there is no %s", full);
    return at;
}

// A model as a folder of C, with functions called m_...; the options may be NULL.
static inline void export_to(const tr_system *system, const tr_export_options *how,
                             const char *where)
{
    tr_error err = {0};
    tr_export_options o = how ? *how : tr_export_defaults();
    if (!o.name) o.name = "m";
    o.folder = where;
    if (!tr_export(system, &o, &err)) fail_msg("%s", err.text);
}

static inline double *room_for(size_t count) { return calloc(count + 1, sizeof(double)); }

// C's own, where a model is called so, too
static inline int system_call(const char *command) { return system(command); }

// m.c in the test's folder
static inline void compile_only(const char *compiler)
{
    char command[1000];
    snprintf(command, sizeof command, "cd %s && %s -c -o m.o m.c", in_folder("."), compiler);
    if (system(command) != 0) fail_msg("%s", command);
}

// By all compilers, as C and as C++, without a word
static inline void compile_by_all(void)
{
    compile_only("gcc -std=c99 -fsyntax-only " STRICT);
    compile_only("clang-14 -std=c99 -fsyntax-only " STRICT);
    compile_only("g++ -x c++ -std=c++17 -fsyntax-only " STRICT);
    compile_only("clang++-14 -x c++ -fsyntax-only " STRICT);
    compile_only("g++ -x c++ -std=c++20 -fsyntax-only " STRICT);
    compile_only("clang++-14 -x c++ -std=c++20 -fsyntax-only " STRICT);
}

// Compiled with these flags and loaded
static inline Exported load_exported(const char *where, const char *compile)
{
    Exported e = {0};
    char path[600];
    const size_t *sizes;
    snprintf(path, sizeof path, "%s/sizes.c", where);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#include \"m.h\"\n#include <stddef.h>\nextern const size_t m_sizes[];\n"
                  "const size_t m_sizes[] = {M_NX, M_NU, M_NP, M_NY, M_NM, M_NJ, M_NS, M_NC, M_NK, "
                  "M_NZ, M_NWORK};\n");
    fclose(file);
    char command[2000];
    snprintf(path, sizeof path, "%s/m.so", where);
    unlink(path);
    snprintf(command, sizeof command, "%s -shared -fPIC -o %s/m.so %s/m.c %s/sizes.c -lm", compile,
             where, where, where);
    if (system(command) != 0) fail_msg("%s", command);
    snprintf(path, sizeof path, "%s/m.so", where);
    e.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!e.library) fail_msg("%s", dlerror());
    sizes = symbol_of(e.library, "sizes");
    e.nx = sizes[0], e.nu = sizes[1], e.np = sizes[2], e.ny = sizes[3], e.nm = sizes[4];
    e.nj = sizes[5], e.ns = sizes[6], e.nc = sizes[7], e.nk = sizes[8], e.nz = sizes[9];
    e.room = sizes[10];
    e.x = room_for(e.nx), e.dx = room_for(e.nx), e.u = room_for(e.nu), e.p = room_for(e.np);
    e.y = room_for(e.ny), e.J = room_for(e.nj), e.z = room_for(e.nz), e.w = room_for(e.room);
    e.mode = calloc(e.nm + 1, sizeof *e.mode);
#define TAKE(name) *(void **)&e.name = symbol_of(e.library, #name)
    TAKE(parameters), TAKE(inputs), TAKE(initial), TAKE(rates), TAKE(outputs), TAKE(jacobian);
    TAKE(speeds), TAKE(project), TAKE(step), TAKE(x_name), TAKE(u_name), TAKE(p_name);
    TAKE(y_name), TAKE(mode_name), TAKE(s_name), TAKE(c_name), TAKE(k_name), TAKE(next_time);
    TAKE(indicators), TAKE(event), TAKE(chart);
    if (e.nk) TAKE(periods), TAKE(sense), TAKE(control), TAKE(sample);
#undef TAKE
    e.row = symbol_of(e.library, "jacobian_row"),
    e.column = symbol_of(e.library, "jacobian_column");
    e.parameters(e.p);
    e.inputs(e.p, e.u);
    assert_int_equal(e.initial(e.p, e.x, e.mode, e.w), 0);
    return e;
}

static inline void unload_exported(Exported *e)
{
    free(e->x), free(e->dx), free(e->u), free(e->p), free(e->y), free(e->J), free(e->z), free(e->w);
    free(e->mode);
    dlclose(e->library);
}

#endif
