// SPDX-License-Identifier: Apache-2.0
// Printing and reading numbers, against the C library as an independent witness.
#include "base/number.h"
#include "comma.h"

enum { MANY = BRIEF ? 40000 : 200000 };

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double random_finite(uint64_t *state)
{
    for (;;) {
        const double value = double_of(next_random(state));
        if (isfinite(value)) return value;
    }
}

// Reads a whole text from memory of exactly its size, so that a sanitizer sees one byte too many.
static double read_all(const char *text)
{
    const size_t length = strlen(text);
    char *exact = malloc(length);
    assert_non_null(exact);
    memcpy(exact, text, length);
    size_t used = 0;
    double value = -1;
    if (!tr_number_read(exact, length, &used, &value)) fail_msg("'%.60s' is not read", text);
    if (used != length) fail_msg("'%.60s': %zu of %zu bytes read", text, used, length);
    free(exact);
    return value;
}

static void check_read(const char *text)
{
    const double got = read_all(text), want = strtod(text, NULL);
    if (!same_bits(got, want)) fail_msg("'%.60s' reads as %a, not %a", text, got, want);
}

static void check_round_trip(double value)
{
    char text[TR_NUMBER_SIZE];
    memset(text, '#', sizeof text);
    const size_t length = tr_number_print(value, text);
    if (length >= sizeof text || strlen(text) != length) fail_msg("%a: length %zu", value, length);
    if (!same_bits(strtod(text, NULL), value)) fail_msg("%a prints as '%s'", value, text);
    size_t used;
    double back;
    const size_t sign = text[0] == '-';
    if (!tr_number_read(text + sign, length - sign, &used, &back) || used != length - sign ||
        !same_bits(sign ? -back : back, value))
        fail_msg("%a prints as '%s', which is not read back", value, text);
}

// Significant digits, without leading and trailing zeros.
static int significant_digits(const char *text)
{
    int count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && count == 0)) continue;
        zeros = *text == '0' ? zeros + 1 : 0;
        count++;
    }
    return count - zeros;
}

// No longer than the shortest %.{n}g that reads back; as long: no farther from the value than that.
static void check_shortest(double value)
{
    char text[TR_NUMBER_SIZE], other[64];
    tr_number_print(value, text);
    int n = 1;
    for (;; n++) {
        snprintf(other, sizeof other, "%.*g", n, value);
        if (same_bits(strtod(other, NULL), value)) break;
    }
    const int ours = significant_digits(text), theirs = significant_digits(other);
    if (ours > theirs) fail_msg("%a prints as '%s', could be '%s'", value, text, other);
    const long double error = fabsl(strtold(text, NULL) - (long double)value);
    const long double other_error = fabsl(strtold(other, NULL) - (long double)value);
    if (ours == theirs && error > other_error)
        fail_msg("%a prints as '%s', '%s' is nearer", value, text, other);
}

static void assert_prints(double value, const char *expected)
{
    char text[TR_NUMBER_SIZE];
    assert_int_equal(tr_number_print(value, text), strlen(expected));
    assert_string_equal(text, expected);
}

static void prints_what_a_person_would_write(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {0.001, "0.001"},
        {0.0001, "0.0001"},
        {0.00012345678901234567, "0.00012345678901234567"},
        {0.00001, "1e-5"},
        {1.5e-7, "1.5e-7"},
        {10, "10"},
        {12345, "12345"},
        {100200, "100200"},
        {1234567.5, "1234567.5"},
        {9.81, "9.81"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3.0, "0.3333333333333333"},
        {3.141592653589793, "3.141592653589793"},
        {1e15, "1000000000000000"},
        {9007199254740993.0, "9007199254740992"},
        {9999999999999998.0, "9999999999999998"},
        {1e16, "1e16"},
        {123456789012345680.0, "1.2345678901234568e17"},
        {1e22, "1e22"},
        {1e23, "1e23"},
        {1e300, "1e300"},
        {-1.2345e-300, "-1.2345e-300"},
        {5e-324, "5e-324"},
        {1e-323, "1e-323"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {2.2250738585072011e-308, "2.225073858507201e-308"},
        {9007199254740992e-61, "9.007199254740992e-46"},
        {HUGE_VAL, "inf"},
        {-HUGE_VAL, "-inf"},
        {(double)NAN, "nan"},
        {-(double)NAN, "nan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_prints(cases[i].value, cases[i].text);
}

static void random_numbers_read_back(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 5 * MANY; i++) check_round_trip(random_finite(&seed));
    for (int i = 0; i < MANY; i++) check_round_trip((double)(next_random(&seed) >> (i % 64)));
    for (int i = 0; i < MANY; i++) check_round_trip(double_of(next_random(&seed) >> 12)); // tiny
    for (int i = 0; i < MANY; i++)
        check_round_trip((double)(next_random(&seed) % 100000) / 1000.0); // as people write them
}

static void nothing_shorter_reads_back(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < MANY / 2; i++) check_shortest(fabs(random_finite(&seed)));
    for (int i = 0; i < 20000; i++) check_shortest((double)(next_random(&seed) % 1000000) / 1e4);
    for (int i = 1; i < 20000; i++)
        check_shortest(double_of((uint64_t)i)); // the smallest denormals
}

static void powers_of_two_and_ten_with_neighbours(void **state)
{
    (void)state;
    for (int k = -1074; k < 1024; k++) {
        const double power = ldexp(1, k);
        check_round_trip(power);
        check_shortest(power);
        check_round_trip(nextafter(power, 0));
        if (k > -1074) check_shortest(nextafter(power, 0));
        check_shortest(nextafter(power, 1e308));
    }
    for (int e = -323; e <= 308; e++) {
        char text[32], printed[TR_NUMBER_SIZE];
        snprintf(text, sizeof text, "1e%d", e);
        check_read(text);
        tr_number_print(read_all(text), printed);
        assert_int_equal(significant_digits(printed), 1);
        check_shortest(nextafter(read_all(text), 0));
        check_shortest(nextafter(read_all(text), 1e308));
    }
}

static void reads_hard_cases(void **state)
{
    (void)state;
    static const char *const cases[] = {"0",
                                        "0.0",
                                        "000",
                                        ".5",
                                        "1.",
                                        "1.e2",
                                        "00012.5e1",
                                        "1e+5",
                                        "1E-5",
                                        "5e-324",
                                        "3e-324",
                                        "2e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "1e-400",
                                        "0e999999999999",
                                        "1e400",
                                        "1.7976931348623157e308",
                                        "1.7976931348623158e308",
                                        "1.7976931348623159e308",
                                        "179769313486231580793728971405301e276",
                                        "9007199254740991",
                                        "9007199254740992",
                                        "9007199254740993",
                                        "9007199254740993.0",
                                        "9007199254740993.00000000000000000000001",
                                        "9007199254740994",
                                        "9007199254740995",
                                        "9007199254740995.0e0",
                                        "900719925474099.3e1",
                                        "2.2250738585072011e-308",
                                        "2.2250738585072012e-308",
                                        "2.2250738585072013e-308",
                                        "2.2250738585072014e-308",
                                        "1e22",
                                        "1e23",
                                        "8.5e22",
                                        "7.2057594037927933e16",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "99999999999999999999999999999999",
                                        "1234567890123456789012345678901234567890e-20",
                                        "6.8e-302",
                                        "0.500000000000000166533453694",
                                        "3.518437208883201171875e13",
                                        "1e99999999999999999999",
                                        "1e-99999999999999999999",
                                        "0.1e-999999999999999999999999",
                                        "1000000000000000000000e-21",
                                        "0.000000000000000000001e21",
                                        "1.00000000000000011102230246251565404236316680908203125",
                                        "1.00000000000000011102230246251565404236316680908203124",
                                        "1.00000000000000011102230246251565404236316680908203126",
                                        "1.00000000000000033306690738754696212708950042724609375"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_read(cases[i]);
}

// Random digits with a point and an exponent somewhere.
static void reads_random_decimals(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 300000; i++) {
        char text[128];
        const int digits = 1 + (int)(next_random(&seed) % 40);
        const int point = (int)(next_random(&seed) % 42);
        int at = 0;
        for (int d = 0; d < digits; d++) {
            if (d == point) text[at++] = '.';
            text[at++] = (char)('0' + next_random(&seed) % 10);
        }
        const int e = (int)(next_random(&seed) % 720) - 370;
        text[at] = '\0';
        if (i % 4) snprintf(text + at, sizeof text - (size_t)at, "e%d", e);
        check_read(text);
    }
}

// The text just below: the last digit that is not zero lowered by one, nines behind it.
static void lower_last_digit(char *mantissa, size_t length)
{
    size_t i = length;
    while (i-- > 0 && (mantissa[i] == '0' || mantissa[i] == '.'))
        if (mantissa[i] == '0') mantissa[i] = '9';
    mantissa[i]--;
}

// Exactly halfway between neighbours, a hair below, a hair above.
static void reads_halfway_points(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int i = 0; i < 5000; i++) {
        const uint64_t denormal = next_random(&seed) >> (12 + i % 50);
        double a = i % 2 ? fabs(random_finite(&seed)) : double_of(denormal);
        if (a > 1e308) a /= 2;
        const long double halfway = ((long double)a + (long double)nextafter(a, HUGE_VAL)) / 2;
        char text[900];
        snprintf(text, sizeof text, "%.790Le", halfway);
        check_read(text);
        const size_t length = (size_t)(strchr(text, 'e') - text);
        text[length - 1] = '1';
        check_read(text);
        text[length - 1] = '0';
        lower_last_digit(text, length);
        check_read(text);
    }
}

static void reads_thousands_of_digits(void **state)
{
    (void)state;
    enum { ZEROS = 5000 };
    static const char *const cases[][2] = {{"9007199254740993.", "1"},
                                           {"9007199254740993.", "0"},
                                           {"9007199254740992.", "9"},
                                           {"0.", "123"},
                                           {".", "9e5001"},
                                           {"1", "e-5000"},
                                           {"17976931348623157", "9e-4693"},
                                           {"00000", "7"}};
    char *text = malloc(ZEROS + 100);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t start = strlen(cases[i][0]);
        memcpy(text, cases[i][0], start);
        memset(text + start, '0', ZEROS);
        strcpy(text + start + ZEROS, cases[i][1]);
        check_read(text);
        memset(text + start, '9', ZEROS);
        check_read(text);
    }
    free(text);
}

static void takes_the_longest_prefix(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t used;
        double value;
    } cases[] = {{"1e", 1, 1},     {"1e+", 1, 1},     {"1e-x", 1, 1},    {"2.5.1", 3, 2.5},
                 {"1..2", 2, 1},   {"12abc", 2, 12},  {"0x10", 1, 0},    {"1,5", 1, 1},
                 {".5e", 2, 0.5},  {"1.e1e1", 4, 10}, {"3e2.5", 3, 300}, {"1 2", 1, 1},
                 {"7e1+e", 3, 70}, {"5.e", 2, 5},     {"1_0", 1, 1},     {"1e5\0006", 3, 1e5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t used = 99;
        double value = -1;
        const size_t length = i == 15 ? 5 : strlen(cases[i].text);
        assert_true(tr_number_read(cases[i].text, length, &used, &value));
        assert_int_equal(used, cases[i].used);
        assert_true(same_bits(value, cases[i].value));
    }
    size_t used = 0;
    double value = 0;
    assert_true(tr_number_read("12345", 2, &used, &value));
    assert_int_equal(used, 2);
    assert_true(same_bits(value, 12));
}

static void refuses_what_is_no_number(void **state)
{
    (void)state;
    static const char *const cases[] = {"", ".", "e5", ".e5", "-1", "+1", "inf", "nan", " 1", "x"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t used = 77;
        double value = 5;
        assert_false(tr_number_read(cases[i], strlen(cases[i]), &used, &value));
        assert_int_equal(used, 77);
        assert_true(same_bits(value, 5));
    }
}

// Any jumble of the characters of numbers ends where strtod ends.
static void agrees_with_strtod_on_jumbles(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 300000; i++) {
        char text[16] = "1";
        for (int k = i % 2; k < 12; k++) text[k] = "0123456789..eE+-"[next_random(&seed) % 16];
        if (text[0] == '-' || text[0] == '+') continue;
        char *end;
        const double want = strtod(text, &end);
        size_t used = 0;
        double got = 0;
        assert_int_equal(tr_number_read(text, 12, &used, &got), end > text);
        assert_ptr_equal(text + used, end);
        assert_true(same_bits(got, want));
    }
}

static void the_locale_changes_nothing(void **state)
{
    (void)state;
    if (!use_commas()) skip();
    char text[TR_NUMBER_SIZE];
    tr_number_print(1234567.5, text);
    const double value = read_all("1234567.5");
    setlocale(LC_ALL, "C");
    assert_string_equal(text, "1234567.5");
    assert_true(same_bits(value, 1234567.5));
}

static void rounds_to_digits(void **state)
{
    (void)state;
    assert_true(same_bits(tr_number_rounded(1234.5678, 5), 1234.6));
    assert_true(same_bits(tr_number_rounded(-9.996e-7, 3), -1e-6));
    assert_true(same_bits(tr_number_rounded(0.15, 1), 0.1)); // the double is below 0.15
    assert_true(same_bits(tr_number_rounded(1.0 / 3, 17), 1.0 / 3));
    assert_true(same_bits(tr_number_rounded(-0.0, 4), -0.0));
    assert_true(isinf(tr_number_rounded((double)INFINITY, 4)));
    assert_true(isnan(tr_number_rounded((double)NAN, 4)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_to_digits),
        cmocka_unit_test(prints_what_a_person_would_write),
        cmocka_unit_test(random_numbers_read_back),
        cmocka_unit_test(nothing_shorter_reads_back),
        cmocka_unit_test(powers_of_two_and_ten_with_neighbours),
        cmocka_unit_test(reads_hard_cases),
        cmocka_unit_test(reads_random_decimals),
        cmocka_unit_test(reads_halfway_points),
        cmocka_unit_test(reads_thousands_of_digits),
        cmocka_unit_test(takes_the_longest_prefix),
        cmocka_unit_test(refuses_what_is_no_number),
        cmocka_unit_test(agrees_with_strtod_on_jumbles),
        cmocka_unit_test(the_locale_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
