// SPDX-License-Identifier: Apache-2.0
// Contacts that open, stick and slip, all together, as numbers: what is found is checked against
// the conditions themselves, and against closed forms.
#include "num/cone.h"
#include "random.h"
#include "test.h"

#include <float.h>

enum { MOST_CONTACTS = 12, MOST_ROWS = 3 * MOST_CONTACTS + 2, MOST_COLUMNS = 20 };

typedef struct Problem {
    double B[MOST_ROWS * MOST_COLUMNS], b[MOST_ROWS], size[MOST_ROWS], weight[MOST_ROWS];
    double lambda[MOST_ROWS], rate[MOST_ROWS];
    bool holds[MOST_ROWS];
    Cone at[MOST_CONTACTS];
    Cones cones;
} Problem;

// Contacts of three rows each, the normal first, that touch and stick; `more` rows hold anyway.
static void begin(Problem *p, uint32_t contacts, uint32_t more, uint32_t columns, double mu)
{
    *p = (Problem){0};
    p->cones = (Cones){.rows = 3 * contacts + more, .columns = columns, .count = contacts};
    p->cones.B = p->B, p->cones.b = p->b, p->cones.size = p->size, p->cones.weight = p->weight;
    p->cones.holds = p->holds, p->cones.at = p->at;
    p->cones.lambda = p->lambda, p->cones.rate = p->rate;
    for (uint32_t i = 0; i < p->cones.rows; i++) p->weight[i] = 1, p->holds[i] = i >= 3 * contacts;
    for (uint32_t i = 0; i < contacts; i++)
        p->at[i] = (Cone){.rows = {3 * i},
                          .row_count = 1,
                          .across = {3 * i + 1, 3 * i + 2},
                          .across_count = 2,
                          .opens = true,
                          .hold = mu,
                          .slide = mu,
                          .mode = CONE_STICKS};
}

static void find(Problem *p)
{
    for (uint32_t i = 0; i < p->cones.rows; i++) p->size[i] = fabs(p->b[i]);
    assert_true(tr_cones_find(&p->cones));
}

// s = b + B B^T lambda, by its own way
static void rates_of(const Problem *p, double *s)
{
    const Cones *c = &p->cones;
    double a[MOST_COLUMNS] = {0};
    for (uint32_t i = 0; i < c->rows; i++)
        for (uint32_t k = 0; k < c->columns; k++) a[k] += p->B[i * c->columns + k] * p->lambda[i];
    for (uint32_t i = 0; i < c->rows; i++) {
        s[i] = p->b[i];
        for (uint32_t k = 0; k < c->columns; k++) s[i] += p->B[i * c->columns + k] * a[k];
    }
}

// Every contact is what it should be: to within `close`.
static void check(const Problem *p, double close)
{
    const Cones *c = &p->cones;
    double s[MOST_ROWS];
    rates_of(p, s);
    for (uint32_t i = 3 * c->count; i < c->rows; i++) assert_close(s[i], 0, close);
    for (uint32_t i = 0; i < c->count; i++) {
        const Cone *cone = &p->at[i];
        const double *L = p->lambda + 3 * i, *v = s + 3 * i, held = hypot(L[1], L[2]),
                     slip = hypot(v[1], v[2]);
        assert_true(L[0] >= -close && v[0] >= -close);
        assert_below(fmin(fabs(L[0]), fabs(v[0])), close);
        assert_true(held <= cone->hold * L[0] + close);
        if (cone->mode == CONE_OPEN) assert_true(L[0] == 0 && held == 0);
        if (cone->mode == CONE_STICKS) assert_below(slip, close);
        if (cone->mode != CONE_SLIPS) continue;
        assert_close(held, cone->slide * L[0], close);
        // against the slip, where there is any
        assert_close(L[1] * slip + held * v[1], 0, close * (1 + slip));
        assert_close(L[2] * slip + held * v[2], 0, close * (1 + slip));
    }
}

// ---- one contact ---------------------------------------------------------------------------

// A point mass on a plane that is pulled at: it opens, sticks or slips as it should.
static void test_point(void **state)
{
    (void)state;
    static const struct {
        double b[3];
        ConeMode mode;
    } ways[] = {{{1, 2, 0}, CONE_OPEN},
                {{-9.81, 2, 1}, CONE_STICKS},
                {{-9.81, 3, 4.1}, CONE_SLIPS},
                {{-9.81, 0, 0}, CONE_STICKS}};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        Problem p;
        begin(&p, 1, 0, 3, 0.5);
        for (int i = 0; i < 3; i++) p.B[4 * i] = 1, p.b[i] = ways[k].b[i];
        find(&p);
        assert_int_equal(p.at[0].mode, ways[k].mode);
        assert_true(p.cones.violation <= CONE_TOLERANCE);
        check(&p, 1e-12);
        if (p.at[0].mode != CONE_SLIPS) continue;
        assert_close(p.at[0].heads[0], 3 / hypot(3, 4.1), 1e-12);
        assert_close(p.rate[1], 3 - 0.5 * 9.81 * p.at[0].heads[0], 1e-12);
    }
}

// Where it is heavier along x than along y it slips neither along the pull nor along the slip
// without friction.
static void test_direction(void **state)
{
    (void)state;
    Problem p;
    begin(&p, 1, 0, 3, 0.3);
    p.B[0] = 1, p.B[4] = 1, p.B[8] = 3, p.B[1] = 0.2;
    p.b[0] = -9.81, p.b[1] = 4, p.b[2] = 9;
    find(&p);
    assert_int_equal(p.at[0].mode, CONE_SLIPS);
    check(&p, 1e-11);
    const double pull = atan2(9, 4), goes = atan2(p.rate[2], p.rate[1]);
    assert_true(fabs(goes - pull) > 0.01);
}

// A rod that slides on its tip, so steep and rough that more load would lift it off by friction:
// it can neither stay nor leave [Painleve].
static void test_painleve(void **state)
{
    (void)state;
    Problem p;
    begin(&p, 1, 0, 3, 1);
    static double H[9];
    H[0] = -2; // friction of its slip, which is given
    p.at[0].across_count = 0;
    p.cones.H = H;
    p.B[0] = p.B[4] = p.B[8] = 1;
    p.b[0] = -1;
    find(&p);
    assert_true(p.cones.violation > 1e-3 && p.at[0].is_wrong);
    p.b[0] = 1; // it may leave; pressing harder would do as well, and is not asked for
    p.at[0].mode = CONE_OPEN;
    find(&p);
    assert_true(p.cones.violation <= CONE_TOLERANCE && p.at[0].mode == CONE_OPEN);
}

// ---- many ----------------------------------------------------------------------------------

static void randomise(Problem *p, Random *r)
{
    const Cones *c = &p->cones;
    for (uint32_t i = 0; i < c->rows * c->columns; i++) p->B[i] = any(r);
    // what is reached from somewhere: b = B a
    double a[MOST_COLUMNS];
    for (uint32_t k = 0; k < c->columns; k++) a[k] = random_between(r, -5, 5);
    for (uint32_t i = 0; i < c->rows; i++)
        for (uint32_t k = 0; k < c->columns; k++) p->b[i] += p->B[i * c->columns + k] * a[k];
}

// Contacts and rows that hold anyway, fewer velocities than rows among them: there reactions are
// not unique. Every problem has a solution, and it is found.
static void test_random(void **state)
{
    (void)state;
    static const struct {
        uint32_t contacts, more, columns;
        double mu;
    } kinds[] = {{1, 0, 4, 0.5},  {2, 0, 8, 0.3},  {3, 1, 12, 0.4}, {4, 0, 6, 0.5},
                 {4, 2, 16, 0.6}, {6, 1, 16, 0.6}, {8, 0, 12, 0.2}, {12, 0, 20, 0.3}};
    Random r = {1};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint32_t most = 0, modes[3] = {0};
        for (int i = 0; i < 200; i++) {
            static Problem p;
            begin(&p, kinds[k].contacts, kinds[k].more, kinds[k].columns, kinds[k].mu);
            randomise(&p, &r);
            find(&p);
            if (p.cones.violation > CONE_TOLERANCE)
                fail_msg("%u contacts, %d: off by %g", kinds[k].contacts, i, p.cones.violation);
            check(&p, 1e-6);
            for (uint32_t j = 0; j < kinds[k].contacts; j++) modes[p.at[j].mode]++;
            if (p.cones.tries > most) most = p.cones.tries;
        }
        print_message("%u contacts: %u open, %u stick, %u slip; at most %u sets\n",
                      kinds[k].contacts, modes[0], modes[1], modes[2], most);
        assert_true(modes[0] && modes[1] && modes[2]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_point),
        cmocka_unit_test(test_direction),
        cmocka_unit_test(test_painleve),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
