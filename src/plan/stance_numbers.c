// SPDX-License-Identifier: Apache-2.0
// The rows and the mass matrix as numbers. Of a few velocities one program gives all entries. Of
// many, entries are as many as their square, and a program of them takes longer to make than
// anything else: it gives links and what rows take from one link's motion, and recursions do the
// rest (T20, T160).
#include "plan/stance_numbers.h"

#include "expr/forest.h"
#include "num/links.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_VELOCITIES = 60 };

// An inner slope that does not follow from the motion of the row's base
typedef struct Single {
    uint32_t row, velocity;
} Single;

struct StanceNumbers {
    Links links;
    Single *single;
    uint32_t single_count;
    double *values; // of the program
};

bool tr_stance_goes_along(const System *s)
{
    return s->forest && tr_system_velocities(s, NULL) > MANY_VELOCITIES;
}

// ---- rows ----------------------------------------------------------------------------------

bool tr_stance_is_before(const System *s, const Row *row, uint32_t velocity)
{
    for (uint32_t i = row->base; i != NO_LINK; i = s->forest->links[i].parent)
        if (velocity - s->forest->links[i].velocity < s->forest->links[i].velocity_count)
            return true;
    return false;
}

// Velocities of a link and of those before it
static void mark_path(const Forest *forest, uint32_t link, bool *marks, bool value)
{
    for (; link != NO_LINK; link = forest->links[link].parent)
        for (uint32_t k = 0; k < forest->links[link].velocity_count; k++)
            marks[forest->links[link].velocity + k] = value;
}

// Slopes of a row that are listed one by one: those behind its base, or all that there are
static uint32_t list_singles(const System *s, uint32_t row, uint32_t n, bool *marks, Single *out)
{
    uint32_t count = 0;
    if (!s->rows[row].inner_slopes) return 0;
    mark_path(s->forest, s->rows[row].base, marks, true);
    for (uint32_t k = 0; k < n; k++)
        if (!marks[k] && !is_zero(s->rows[row].inner_slopes[k])) out[count++] = (Single){row, k};
    mark_path(s->forest, s->rows[row].base, marks, false);
    return count;
}

// Of all rows; NULL when memory runs out
static Single *find_singles(const System *s, uint32_t *count)
{
    const uint32_t n = tr_system_velocities(s, NULL);
    bool *marks = calloc(n + 1u, sizeof *marks);
    Single *own = calloc(n + 1u, sizeof *own), *all = NULL;
    uint32_t capacity = 0;
    bool good = marks && own && tr_grow((void **)&all, &capacity, 1, sizeof *all);
    *count = 0;
    for (uint32_t i = 0; good && i < s->row_count; i++) {
        const uint32_t more = list_singles(s, i, n, marks, own);
        good = tr_grow((void **)&all, &capacity, *count + more + 1, sizeof *all);
        if (good) memcpy(all + *count, own, more * sizeof *all);
        *count += more;
    }
    free(marks);
    free(own);
    if (good) return all;
    free(all);
    return NULL;
}

// ---- what the program gives ----------------------------------------------------------------

static void list_vector(Exprs *list, Vec a)
{
    exprs_add(list, a.x);
    exprs_add(list, a.y);
    exprs_add(list, a.z);
}

static void list_link(Exprs *list, const ForestLink *link)
{
    const Rigid *J = &link->inertia;
    const Expr moments[] = {J->I.xx, J->I.xy, J->I.xz, J->I.yy, J->I.yz, J->I.zz};
    for (int i = 0; i < 3; i++) list_vector(list, link->across.X.R.row[i]);
    list_vector(list, link->across.X.p);
    exprs_add(list, J->m);
    list_vector(list, J->mc);
    tr_exprs_add(list, moments, 6);
}

static void list_along(const System *s, Exprs *list)
{
    const Forest *forest = s->forest;
    uint32_t count = 0;
    Single *single = find_singles(s, &count);
    if (!single) list->failed = true;
    for (uint32_t i = 0; i < forest->link_count; i++) list_link(list, &forest->links[i]);
    for (uint32_t i = 0; i < forest->link_count; i++)
        for (uint32_t k = 0; k < forest->links[i].velocity_count; k++) {
            list_vector(list, forest->links[i].S[k].V);
            list_vector(list, forest->links[i].S[k].W);
        }
    for (uint32_t i = 0; i < s->row_count; i++)
        if (s->rows[i].base != NO_LINK) tr_exprs_add(list, s->rows[i].on, 6);
    for (uint32_t k = 0; single && k < count; k++)
        exprs_add(list, s->rows[single[k].row].inner_slopes[single[k].velocity]);
    free(single);
}

void tr_stance_list(System *s, Exprs *list)
{
    const Expr nothing = zero(s->graph);
    const uint32_t n = tr_system_velocities(s, NULL);
    const bool goes_along = tr_stance_goes_along(s);
    if (goes_along) list_along(s, list);
    for (uint32_t i = 0; !goes_along && i < s->row_count; i++)
        tr_exprs_add(list, s->rows[i].inner_slopes, n);
    for (uint32_t i = 0; i < s->row_count; i++)
        for (uint32_t k = 0; k < 3; k++)
            exprs_add(list, s->rows[i].is_mixed ? s->rows[i].mix[k] : nothing);
    if (!goes_along && s->order != 1) tr_system_list(s, "M", list);
}

// ---- G and M -------------------------------------------------------------------------------

static bool open_links(const Forest *forest, uint32_t velocities, Links *links)
{
    const size_t count = forest->link_count, n = velocities;
    uint32_t *places = calloc(3 * count + 1, sizeof *places);
    *links = (Links){.count = (uint32_t)count, .velocities = velocities, .parent = places};
    links->at = calloc(count * LINK_NUMBERS + n * MOTION_NUMBERS + 1, sizeof *links->at);
    if (!places || !links->at) return false;
    links->first = places + count, links->own = places + 2 * count;
    links->S = links->at + count * LINK_NUMBERS;
    for (size_t i = 0; i < count; i++) {
        const ForestLink *link = &forest->links[i];
        links->parent[i] = link->parent == NO_LINK ? LINK_NO_PARENT : link->parent;
        links->first[i] = link->velocity, links->own[i] = link->velocity_count;
    }
    return true;
}

bool tr_stance_open(Stance *s)
{
    if (!tr_stance_goes_along(s->system)) return true;
    StanceNumbers *numbers = s->numbers = calloc(1, sizeof *numbers);
    if (!numbers || !open_links(s->system->forest, s->velocities, &numbers->links)) return false;
    numbers->single = find_singles(s->system, &numbers->single_count);
    numbers->values = calloc(numbers->links.count * (size_t)LINK_NUMBERS +
                                 (numbers->links.velocities + s->all) * (size_t)MOTION_NUMBERS +
                                 numbers->single_count + 3 * (size_t)s->all + 1,
                             sizeof *numbers->values);
    return numbers->single && numbers->values;
}

void tr_stance_close(Stance *s)
{
    if (!s->numbers) return;
    free(s->numbers->links.parent);
    free(s->numbers->links.at);
    free(s->numbers->single);
    free(s->numbers->values);
    free(s->numbers);
}

// Links as the program gives them; what follows
static const double *take_links(Links *links, const double *from)
{
    const size_t size = links->count * (size_t)LINK_NUMBERS;
    memcpy(links->at, from, size * sizeof *from);
    from += size;
    for (uint32_t i = 0; i < links->count; i++) {
        const size_t own = links->own[i] * (size_t)MOTION_NUMBERS;
        memcpy(links->S + links->first[i] * (size_t)MOTION_NUMBERS, from, own * sizeof *from);
        from += own;
    }
    return from;
}

static void take_along(Stance *s)
{
    StanceNumbers *numbers = s->numbers;
    const size_t n = s->velocities;
    const double *from = take_links(&numbers->links, numbers->values);
    memset(s->G, 0, s->all * n * sizeof *s->G);
    for (uint32_t i = 0; i < s->all; i++) {
        const uint32_t base = s->system->rows[i].base;
        if (base == NO_LINK) continue;
        tr_links_slopes(&numbers->links, base, from, s->G + i * n);
        from += 6;
    }
    for (uint32_t k = 0; k < numbers->single_count; k++)
        s->G[numbers->single[k].row * n + numbers->single[k].velocity] = *from++;
    memcpy(s->mix, from, 3 * (size_t)s->all * sizeof *from);
    if (s->system->order != 1) tr_links_mass(&numbers->links, s->M);
}

bool tr_stance_from_nodes(const System *system, const double *value, double *G, double *M)
{
    const uint32_t rows = system->row_count, n = tr_system_velocities(system, NULL);
    double *mix = calloc(3 * (size_t)rows + 1, sizeof *mix);
    Stance s = {.system = system, .all = rows, .velocities = n, .G = G, .M = M, .mix = mix};
    Exprs list = {0};
    list_along(system, &list);
    const bool good = mix && tr_stance_open(&s) && !list.failed && s.numbers;
    for (uint32_t i = 0; good && i < list.count; i++) s.numbers->values[i] = value[list.at[i].id];
    if (good) take_along(&s);
    tr_exprs_free(&list);
    tr_stance_close(&s);
    free(mix);
    return good;
}

// In first order ranks are taken in the unit metric, whatever the masses (T257).
static void take_unit_metric(Stance *s)
{
    for (uint32_t k = 0; k < s->velocities; k++)
        s->M[(size_t)k * s->velocities + k] = tr_system_unit_mass(s->system, s->v[k]);
}

void tr_stance_evaluate(Stance *s, const double *x)
{
    evaluate_into(&s->program, x, s->numbers ? s->numbers->values : s->G); // G, mix and M
    if (s->numbers) take_along(s);
    if (s->system->order == 1) take_unit_metric(s);
}
