// SPDX-License-Identifier: Apache-2.0
// Bodies that bend by modes from elsewhere: tables of what nodes weigh and how modes move them, and
// of the stiffness of modes (T29, T31). Integrals are sums over nodes, and must be those of some
// body: with all that is rigid in front, the matrix of
//
//   V.mV / 2 + V.(W x mc + P) + W.IW / 2 + W.L + e'.m e' / 2          at e = 0
//
// has no negative eigenvalue, and m and the stiffness have none that is not positive.
#include "mech/tree.h"

#include "base/sheet.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SLACK 1e-9 // of what should be symmetric, zero or not negative

// What the two files say. By node, and by mode and node.
typedef struct NodeTable {
    uint32_t nodes, modes;
    bool turns;             // there are columns for how nodes turn
    const double *number;   // of each node; NULL: its row
    const double *at[3];    // x y z
    const double *m, *J[3]; // J may be NULL
    const double **U[3], **R[3];
    const double *K, *M; // by pairs; M NULL where nodes have it all
} NodeTable;

// ---- reading -------------------------------------------------------------------------------

__attribute__((format(printf, 3, 4))) static void refuse(Tree *tree, Value file, const char *format,
                                                         ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    tr_fail(tree->err, TR_INVALID, file.place, "'%.*s' %s", TEXT(file.text), text);
}

// The file stands beside the model, and what is wrong with it is said where the model names it.
static Sheet *read_table(Tree *tree, const Modal *modal, Value file, const char *what)
{
    if (!file.given)
        tr_fail(tree->err, TR_INVALID, modal->name.place, "this modal body needs '%s'", what);
    if (has_failed(tree->err)) return NULL;
    tr_error why = {0};
    size_t length = 0;
    char *text = tr_tree_file(tree, file, &length);
    if (!text) return NULL;
    Sheet *sheet = tr_sheet_take(text, length, NULL, &why);
    tr_tree_refuse_file(tree, file, &why);
    return sheet;
}

// A copy of the column, NULL when there is none; every one of its fields is a number.
static const double *take_column(Tree *tree, Value file, const Sheet *sheet, const char *name,
                                 bool is_needed)
{
    const double *values = tr_sheet_column(sheet, name);
    if (!values && is_needed) refuse(tree, file, "needs a column '%s'", name);
    if (!values || has_failed(tree->err)) return NULL;
    for (size_t i = 0; i < sheet->rows; i++)
        if (!isfinite(values[i]))
            refuse(tree, file, "has no number in column '%s' of row %zu", name, i + 1);
    double *kept = tr_tree_room(tree, sheet->rows, sizeof *kept);
    if (kept) memcpy(kept, values, sheet->rows * sizeof *kept);
    return kept;
}

// The mode of a column like "ux3"; 0 when it is none
static uint32_t mode_of_column(const char *name)
{
    if ((name[0] != 'u' && name[0] != 'r') || name[1] < 'x' || name[1] > 'z') return 0;
    char *end;
    const unsigned long k = name[2] >= '1' && name[2] <= '9' ? strtoul(name + 2, &end, 10) : 0;
    return k && !*end && k < 1000 ? (uint32_t)k : 0;
}

static uint32_t count_modes(Tree *tree, Value file, const Sheet *sheet, bool *turns)
{
    uint32_t most = 0;
    for (size_t i = 0; i < sheet->columns; i++) {
        const char *name = sheet->names[i];
        const uint32_t k = mode_of_column(name);
        if (!k && !tr_is_listed("node x y z m jx jy jz", name))
            refuse(tree, file,
                   "has a column, number %zu, which is none of node x y z m jx ux1 rx1 and so on",
                   i + 1);
        if (k > most) most = k;
        *turns = *turns || (k && name[0] == 'r');
    }
    if (!has_failed(tree->err) && !most)
        refuse(tree, file, "has no modes: columns ux1 uy1 uz1 and so on");
    if (!has_failed(tree->err) && most > MAX_MODES)
        refuse(tree, file, "has more than %d modes", MAX_MODES);
    return has_failed(tree->err) ? 0 : most;
}

static void take_shapes(Tree *tree, Value file, const Sheet *sheet, char letter, NodeTable *t,
                        const double **into[3])
{
    for (int i = 0; i < 3; i++) {
        into[i] = tr_tree_room(tree, t->modes, sizeof *into[i]);
        for (uint32_t k = 0; into[i] && k < t->modes && !has_failed(tree->err); k++) {
            char name[20];
            snprintf(name, sizeof name, "%c%c%u", letter, 'x' + i, k + 1);
            into[i][k] = take_column(tree, file, sheet, name, true);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Points are found by the numbers of nodes.
static void check_numbers(Tree *tree, Value file, const NodeTable *t)
{
    double *sorted = t->number ? tr_tree_room(tree, t->nodes, sizeof *sorted) : NULL;
    if (!sorted) return;
    memcpy(sorted, t->number, t->nodes * sizeof *sorted);
    qsort(sorted, t->nodes, sizeof *sorted, by_size);
    for (uint32_t n = 1; n < t->nodes && !has_failed(tree->err); n++)
        if (sorted[n] == sorted[n - 1]) refuse(tree, file, "has the node %.9g twice", sorted[n]);
}

static void take_nodes(Tree *tree, Value file, const Sheet *sheet, NodeTable *t)
{
    static const char *const at[] = {"x", "y", "z"}, *const J[] = {"jx", "jy", "jz"};
    t->nodes = (uint32_t)sheet->rows;
    t->modes = count_modes(tree, file, sheet, &t->turns);
    if (!t->nodes) refuse(tree, file, "has no nodes");
    if (has_failed(tree->err)) return;
    t->number = take_column(tree, file, sheet, "node", false);
    check_numbers(tree, file, t);
    t->m = take_column(tree, file, sheet, "m", true);
    for (int i = 0; i < 3; i++) {
        t->at[i] = take_column(tree, file, sheet, at[i], true);
        t->J[i] = take_column(tree, file, sheet, J[i], false);
    }
    take_shapes(tree, file, sheet, 'u', t, t->U);
    if (t->turns) take_shapes(tree, file, sheet, 'r', t, t->R);
    if (tree->graph->failed) return;
    for (uint32_t n = 0; n < t->nodes && !has_failed(tree->err); n++)
        if (t->m[n] < 0 || (t->J[0] && t->J[0][n] < 0) || (t->J[1] && t->J[1][n] < 0) ||
            (t->J[2] && t->J[2][n] < 0))
            refuse(tree, file, "has a negative mass or inertia in row %u", n + 1);
}

// A symmetric matrix, from the columns k1 k2 ... or m1 m2 ...
static const double *take_matrix(Tree *tree, Value file, const Sheet *sheet, char letter,
                                 uint32_t n, const char *what)
{
    double *pairs = tr_tree_room(tree, (size_t)n * n, sizeof *pairs);
    for (uint32_t k = 0; pairs && k < n && !has_failed(tree->err); k++) {
        char name[20];
        snprintf(name, sizeof name, "%c%u", letter, k + 1);
        const double *column = take_column(tree, file, sheet, name, true);
        for (uint32_t j = 0; column && j < n; j++) pairs[j * n + k] = column[j];
    }
    for (uint32_t i = 0; pairs && i < n * n && !has_failed(tree->err); i++) {
        const double other = pairs[i % n * n + i / n];
        const double size = sqrt(fabs(pairs[i / n * (n + 1)] * pairs[i % n * (n + 1)]));
        if (fabs(pairs[i] - other) > SLACK * size)
            refuse(tree, file, "has a %s that is not symmetric", what);
    }
    return pairs;
}

static void take_modes(Tree *tree, Value file, const Sheet *sheet, NodeTable *t)
{
    const uint32_t n = t->modes;
    const bool weighs = tr_sheet_column(sheet, "m1") != NULL;
    const size_t columns = weighs ? 2 * (size_t)n : n;
    if (sheet->rows != n)
        refuse(tree, file, "has %zu rows: one for each mode of the nodes is wanted", sheet->rows);
    t->K = take_matrix(tree, file, sheet, 'k', n, "stiffness");
    if (weighs) t->M = take_matrix(tree, file, sheet, 'm', n, "mass");
    if (!has_failed(tree->err) && sheet->columns != columns)
        refuse(tree, file, "has %zu columns: k1 k2 and so on for each mode, or these and m1 m2",
               sheet->columns);
}

// ---- sums ----------------------------------------------------------------------------------

static double node_inertia(const NodeTable *t, int i, uint32_t node)
{
    return t->J[i] ? t->J[i][node] : 0;
}

// sum m U_j . U_k + R_j . J R_k
static double modal_mass(const NodeTable *t, uint32_t j, uint32_t k)
{
    double sum = 0;
    if (t->M) return t->M[j * t->modes + k];
    for (uint32_t n = 0; n < t->nodes; n++)
        for (int i = 0; i < 3; i++) {
            sum += t->m[n] * t->U[i][j][n] * t->U[i][k][n];
            if (t->turns) sum += t->R[i][j][n] * node_inertia(t, i, n) * t->R[i][k][n];
        }
    return sum;
}

static Expr sum_over(Graph *g, const NodeTable *t, const double *a, const double *b)
{
    double sum = 0;
    for (uint32_t n = 0; n < t->nodes; n++) sum += t->m[n] * a[n] * (b ? b[n] : 1);
    return number(g, sum);
}

static void sum_mode(Graph *g, const NodeTable *t, Flex *flex, uint32_t k)
{
    const uint32_t n = t->modes;
    for (int i = 0; i < 3; i++) {
        double h = 0;
        *vec_place(&flex->p[k], i) = sum_over(g, t, t->U[i][k], NULL);
        for (int c = 0; c < 3; c++)
            mat_set(&flex->A[k], i, c, sum_over(g, t, t->U[i][k], t->at[c]));
        for (uint32_t node = 0; t->turns && node < t->nodes; node++)
            h += node_inertia(t, i, node) * t->R[i][k][node];
        *vec_place(&flex->h[k], i) = number(g, h);
        for (uint32_t j = 0; j < n; j++)
            for (int c = 0; c < 3; c++)
                mat_set(&flex->B[k * n + j], i, c, sum_over(g, t, t->U[i][k], t->U[c][j]));
    }
    for (uint32_t j = 0; j < n; j++) {
        flex->m[k * n + j] = number(g, modal_mass(t, k, j));
        flex->K[k * n + j] = number(g, t->K[k * n + j]);
    }
}

// Shape integrals as sums over nodes                                                    (T29)
static void sum_nodes(Graph *g, const NodeTable *t, Flex *flex)
{
    double mass = 0, J[3] = {0};
    for (uint32_t n = 0; n < t->nodes; n++) {
        mass += t->m[n];
        for (int i = 0; i < 3; i++) J[i] += node_inertia(t, i, n);
    }
    flex->still = (Rigid){number(g, mass), vec_zero(g), sym_zero(g)};
    for (int i = 0; i < 3; i++) {
        *vec_place(&flex->still.mc, i) = sum_over(g, t, t->at[i], NULL);
        *sym_place(&flex->spinning, i, i) = number(g, J[i]);
        for (int k = i; k < 3; k++)
            *sym_place(&flex->moments, i, k) = sum_over(g, t, t->at[i], t->at[k]);
    }
    for (uint32_t k = 0; k < t->modes; k++) sum_mode(g, t, flex, k);
}

// ---- checks --------------------------------------------------------------------------------

// Whether a symmetric matrix has no eigenvalue below zero, or none at all that is not above it, by
// elimination; it is used up.
static bool is_positive(double *A, uint32_t n, bool strictly)
{
    double scale[6 + MAX_MODES];
    for (uint32_t k = 0; k < n; k++) scale[k] = fabs(A[k * n + k]);
    for (uint32_t k = 0; k < n; k++) {
        const double pivot = A[k * n + k];
        const bool is_zero_pivot = pivot <= SLACK * scale[k];
        if (pivot < -SLACK * scale[k] || (strictly && is_zero_pivot)) return false;
        for (uint32_t i = k + 1; i < n; i++) {
            const double l = is_zero_pivot ? 0 : A[i * n + k] / pivot;
            if (is_zero_pivot && fabs(A[i * n + k]) > sqrt(SLACK * scale[i] * scale[k]))
                return false;
            for (uint32_t j = k; j < n; j++) A[i * n + j] -= l * A[k * n + j];
        }
    }
    return true;
}

// The matrix of the kinetic energy at e = 0, the modes last                               (T31)
static void whole_mass(const Flex *flex, double *A)
{
    const uint32_t n = 6 + flex->count;
    const Mat I = sym_mat(sym_plus(inertia_of(flex->moments), flex->spinning)),
              c = hat(flex->still.mc);
    for (uint32_t i = 0; i < 3; i++) {
        A[i * n + i] = value_of(flex->still.m);
        for (uint32_t k = 0; k < 3; k++) {
            A[(3 + i) * n + 3 + k] = value_of(mat_at(I, (int)i, (int)k));
            A[(3 + i) * n + k] = A[k * n + 3 + i] = value_of(mat_at(c, (int)i, (int)k));
        }
    }
    for (uint32_t k = 0; k < flex->count; k++) {
        const Vec L = plus(vee(flex->A[k]), flex->h[k]);
        for (uint32_t i = 0; i < 3; i++) {
            const double l = value_of(vec_at(L, (int)i));
            A[i * n + 6 + k] = A[(6 + k) * n + i] = value_of(vec_at(flex->p[k], (int)i));
            A[(3 + i) * n + 6 + k] = A[(6 + k) * n + 3 + i] = l;
        }
        for (uint32_t j = 0; j < flex->count; j++)
            A[(6 + k) * n + 6 + j] = value_of(flex->m[k * flex->count + j]);
    }
}

static void check_positive(Tree *tree, const Modal *modal, const NodeTable *t, const Flex *flex)
{
    const uint32_t n = t->modes, all = 6 + n;
    double *A = calloc((size_t)all * all, sizeof *A);
    const Value heavy = t->M ? modal->modes : modal->nodes;
    if (!A) {
        tree->graph->failed = true;
        return;
    }
    memcpy(A, t->K, (size_t)n * n * sizeof *A);
    if (!is_positive(A, n, true))
        refuse(tree, modal->modes, "has a stiffness that is not positive");
    for (uint32_t i = 0; i < n * n; i++) A[i] = value_of(flex->m[i]);
    if (!is_positive(A, n, true)) refuse(tree, heavy, "has a mass of modes that is not positive");
    memset(A, 0, (size_t)all * all * sizeof *A);
    whole_mass(flex, A);
    if (!is_positive(A, all, false))
        refuse(tree, heavy, "has a mass of modes that is too small for what nodes weigh");
    free(A);
}

// Modes are those of a body whose frame is held.
static void check_origin(Tree *tree, const Modal *modal, const NodeTable *t)
{
    double size = 0, turn = 0;
    for (uint32_t n = 0; n < t->nodes; n++)
        for (int i = 0; i < 3; i++)
            for (uint32_t k = 0; k < t->modes; k++) {
                size = fmax(size, fabs(t->U[i][k][n]));
                if (t->turns) turn = fmax(turn, fabs(t->R[i][k][n]));
            }
    for (uint32_t n = 0; n < t->nodes; n++) {
        if (t->at[0][n] != 0 || t->at[1][n] != 0 || t->at[2][n] != 0) continue;
        for (int i = 0; i < 3; i++)
            for (uint32_t k = 0; k < t->modes; k++)
                if (fabs(t->U[i][k][n]) > SLACK * size ||
                    (t->turns && fabs(t->R[i][k][n]) > SLACK * turn))
                    refuse(tree, modal->nodes,
                           "moves the node at the origin: modes are those of a body whose frame is "
                           "held, mode %u is not",
                           k + 1);
    }
}

// ---- the links -----------------------------------------------------------------------------

static uint32_t node_called(Tree *tree, const NodeTable *t, const Pair *pair)
{
    const Expr node = tr_tree_formula(tree, pair->value);
    const double wanted = tr_tree_decide(tree, RULE_STAYS, &node, pair->value.place,
                                         "'%.*s' is another node", WHOLE(pair->key.text));
    for (uint32_t n = 0; n < t->nodes && !has_failed(tree->err); n++)
        if ((t->number ? t->number[n] : n + 1) == wanted) return n;
    tr_fail(tree->err, TR_INVALID, pair->value.place, "there is no node %.9g", wanted);
    return 0;
}

static void add_points(Tree *tree, uint32_t i, const NodeTable *t)
{
    const Modal *modal = &tree->links[i].body->modal;
    if (modal->points.count && !t->turns)
        refuse(tree, modal->nodes,
               "does not say how nodes turn: points need columns rx1 ry1 rz1 and so on");
    for (uint32_t k = 0; k < modal->points.count && !has_failed(tree->err); k++) {
        const Pair *pair = &modal->points.at[k];
        const uint32_t n = node_called(tree, t, pair);
        Buffer text = {0};
        for (int c = 0; c < 3; c++) {
            tr_buffer_number(&text, t->at[c][n]);
            if (c < 2) tr_buffer_print(&text, ", ");
        }
        if (text.failed) tree->graph->failed = true;
        if (!text.failed && !has_failed(tree->err))
            tr_section_add(tree, i, pair->key,
                           (Value){{text.at, text.length}, pair->value.place, true}, "");
        tr_buffer_free(&text);
    }
}

void tr_modal_begin(Tree *tree, uint32_t i)
{
    const Link *link = &tree->links[i];
    const Modal *modal = &link->body->modal;
    NodeTable *t = tr_tree_room(tree, 1, sizeof *t);
    Sheet *nodes = t ? read_table(tree, modal, modal->nodes, "nodes") : NULL;
    Sheet *modes = nodes ? read_table(tree, modal, modal->modes, "modes") : NULL;
    if (modes) take_nodes(tree, modal->nodes, nodes, t);
    if (modes && !has_failed(tree->err)) take_modes(tree, modal->modes, modes, t);
    tr_sheet_free(nodes);
    tr_sheet_free(modes);
    if (!modes || has_failed(tree->err) || tree->graph->failed) return;
    Flex *flex = tr_flex_new(tree, i, t->modes);
    if (!flex) return;
    flex->table = t;
    for (uint32_t k = 0; k < t->modes; k++) {
        char part[20];
        snprintf(part, sizeof part, "e%u", k + 1);
        flex->names[k] = tr_flex_name(tree, link, part);
    }
    add_points(tree, i, t);
}

static void take_node(Graph *g, const NodeTable *t, uint32_t n, Section *at)
{
    for (int i = 0; i < 3; i++) {
        *vec_place(&at->X, i) = number(g, t->at[i][n]);
        for (uint32_t k = 0; k < t->modes; k++) {
            *vec_place(&at->U[k], i) = number(g, t->U[i][k][n]);
            if (t->turns) *vec_place(&at->Theta[k], i) = number(g, t->R[i][k][n]);
        }
    }
}

// It is drawn by nodes that weigh something, a hundred of them at most.
static void make_pieces(Tree *tree, const NodeTable *t, Flex *flex)
{
    const uint32_t every = t->nodes / 100 + 1;
    flex->pieces = tr_tree_room(tree, t->nodes / every + 1, sizeof *flex->pieces);
    for (uint32_t n = 0; flex->pieces && n < t->nodes; n += every) {
        struct Piece *piece = &flex->pieces[flex->piece_count];
        piece->at = tr_section_new(tree, flex);
        if (!piece->at) return;
        take_node(tree->graph, t, n, piece->at);
        for (uint32_t k = n; k < n + every && k < t->nodes; k++) piece->mass += t->m[k];
        flex->piece_count++;
    }
}

void tr_modal_make(Tree *tree, uint32_t i)
{
    Link *link = &tree->links[i];
    const Modal *modal = &link->body->modal;
    const NodeTable *t = link->flex->table;
    sum_nodes(tree->graph, t, link->flex);
    check_origin(tree, modal, t);
    if (!has_failed(tree->err)) check_positive(tree, modal, t, link->flex);
    tr_flex_damp(tree, link->flex, modal->damping);
    uint32_t which = 0;
    for (uint32_t k = i + 1; k < tree->link_count && !has_failed(tree->err); k++)
        if (tree->links[k].parent == i && tree->links[k].section)
            take_node(tree->graph, t, node_called(tree, t, &modal->points.at[which++]),
                      tree->links[k].section);
    make_pieces(tree, t, link->flex);
}
