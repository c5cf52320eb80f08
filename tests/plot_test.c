// SPDX-License-Identifier: Apache-2.0
// Pictures of runs: axes that cover what they show, curves that lose nothing one can see, valid XML
// whatever the names are, two figures byte for byte.    plot_test [golden]
#include "base/sha256.h"
#include "folder.h"
#include "view/axis.h"
#include "view/curve.h"

#include <unistd.h>

// ---- strict XML ----------------------------------------------------------------------------

// An entity that the writer uses; NULL when it is another or none.
static const char *after_entity(const char *at)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(at, known[i], strlen(known[i])) == 0) return at + strlen(known[i]);
    return NULL;
}

// Characters up to `stop`, of which none may be '<'; NULL when one is not allowed in XML.
static const char *after_characters(const char *at, char stop)
{
    while (at && *at && *at != stop) {
        if (*at == '<') return NULL;
        if (*at == '&') {
            at = after_entity(at);
            continue;
        }
        const size_t length = tr_utf8_length(at, strlen(at));
        const bool is_control = (unsigned char)*at < ' ' && *at != '\n';
        const bool is_none = length == 3 && (unsigned char)at[0] == 0xef &&
                             (unsigned char)at[1] == 0xbf && (unsigned char)at[2] >= 0xbe;
        at = length && !is_control && !is_none ? at + length : NULL;
    }
    return at;
}

// A tag, from its '<'; NULL when it is not well formed. `depth` and `names` are of open elements.
static const char *after_tag(const char *at, int *depth, char names[8][16])
{
    const bool is_end = at[1] == '/';
    at += is_end ? 2 : 1;
    const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz");
    if (length == 0 || length > 15 || *depth > 7) return NULL;
    char name[16] = {0};
    memcpy(name, at, length);
    at += length;
    if (is_end) {
        if (*depth == 0 || strcmp(names[--*depth], name) != 0) return NULL;
        return *at == '>' ? at + 1 : NULL;
    }
    while (*at == ' ') {
        at += strspn(at, " ");
        const size_t attribute = strcspn(at, "= <>\"'/&");
        if (attribute == 0 || strncmp(at + attribute, "=\"", 2) != 0) return NULL;
        at = after_characters(at + attribute + 2, '"');
        if (!at || *at++ != '"') return NULL;
    }
    if (strncmp(at, "/>", 2) == 0) return at + 2;
    memcpy(names[(*depth)++], name, sizeof name);
    return *at == '>' ? at + 1 : NULL;
}

static bool is_xml(const char *text)
{
    char names[8][16];
    int depth = 0, roots = 0;
    while (text && *text) {
        if (*text == '<') {
            roots += depth == 0;
            text = after_tag(text, &depth, names);
        } else if (depth == 0) {
            if (*text++ != '\n') return false;
        } else {
            const char *end = strchr(text, '<');
            const char *reached = end ? after_characters(text, '<') : NULL;
            text = reached == end ? end : NULL;
        }
    }
    return text && depth == 0 && roots == 1;
}

static void test_checker(void **state)
{
    (void)state;
    assert_true(is_xml("<a b=\"1\"><c/>x &amp; y<d>é</d></a>\n"));
    static const char *const wrong[] = {
        "<a>",
        "<a></b>",
        "<a b=1/>",
        "<a b=\"<\"/>",
        "<a>&</a>",
        "<a>&nbsp;</a>",
        "<a/><b/>",
        "<a/>text",
        "<a>\x01</a>",
        "<a>\xff</a>",
        "</a>",
        "<a b=\"1/>",
        "<a b=\"&\"/>",
        "<a>\xef\xbf\xbf</a>",
        "<a b='1'/>",
        "",
        "<a><b></a></b>",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (is_xml(wrong[i])) fail_msg("'%s' counts as XML", wrong[i]);
}

// ---- axes ----------------------------------------------------------------------------------

// What a label says: digits, U+2212 for minus.
static double label_value(const char *label)
{
    const bool is_negative = strncmp(label, "\xe2\x88\x92", 3) == 0;
    double value;
    if (!tr_read_number(label + (is_negative ? 3 : 0), &value)) fail_msg("label '%s'", label);
    return is_negative ? -value : value;
}

static void check_axis(const Axis *axis, Range range, double most)
{
    assert_true(axis->factor == 1 || axis->factor == 2 || axis->factor == 5);
    assert_true(axis->low <= range.low && axis->high >= range.high);
    const double step = tr_axis_tick(axis, 1), span = axis->high - axis->low;
    const double first = tr_axis_tick(axis, axis->first), last = tr_axis_tick(axis, axis->last);
    assert_true(axis->last >= axis->first);
    assert_true((double)(axis->last - axis->first) <= most);
    const double rounding = 1e-9 * span + 1e-15 * fmax(fabs(first), fabs(last));
    assert_true(first >= axis->low - rounding);
    assert_true(last <= axis->high + rounding);
    assert_true(last + step > axis->high - rounding);
    assert_true(first - step < axis->low + rounding);
    char before[TR_LABEL_SIZE] = "";
    for (int64_t k = axis->first; k <= axis->last; k++) {
        char label[TR_LABEL_SIZE];
        tr_axis_label(axis, k, label);
        assert_true(strcmp(label, before) != 0);
        assert_true(tr_utf8_columns(label, strlen(label)) <= 9);
        assert_close(label_value(label) * pow(10, axis->power) / step, (double)(k - axis->offset),
                     1e-12);
        strcpy(before, label);
    }
}

static void test_axes(void **state)
{
    (void)state;
    Random r = {5};
    for (int i = 0; i < 20000; i++) {
        const double size = pow(10, random_between(&r, -280, 280));
        const double low = random_between(&r, -1, 1) * size;
        const double span = fabs(low) * pow(10, random_between(&r, -11, 3));
        const Range range = {low, low + span};
        const double length = random_between(&r, 40, 800);
        Axis axis = tr_axis_of(range, length, 40, true);
        check_axis(&axis, range, fmax(3, length / 40) + 2);
        assert_close((tr_axis_tick(&axis, axis.first) - axis.low) / span, 0, 1e-4);
        axis = tr_axis_of(range, length, 40, false);
        check_axis(&axis, range, fmax(3, length / 40) + 2);
    }
}

static void test_labels(void **state)
{
    (void)state;
    static const struct {
        double low, high;
        const char *first, *last, *title;
    } rows[] = {
        {0, 10, "0", "10", "y [m]"},
        {-0.31, 0.2, "−0.4", "0.2", "y [m]"},
        {0, 0.01, "0.000", "0.010", "y [m]"},
        {0, 0.001, "0.0", "1.0", "y [10⁻³ m]"},
        {0, 9e-5, "0", "100", "y [10⁻⁶ m]"},
        {-2e5, 3e5, "−200", "300", "y [10³ m]"},
        {0, 1e28, "0", "10", "y [10²⁷ m]"},
        {1042.9116, 1042.9117, "0", "100", "y − 1042.9116 [10⁻⁶ m]"},
        {-1042.9117, -1042.9116, "0", "100", "y + 1042.9117 [10⁻⁶ m]"},
        {5, 5, "4.4", "5.6", "y [m]"},
        {0, 0, "−1.0", "1.0", "y [m]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Axis axis = tr_axis_of((Range){rows[i].low, rows[i].high}, 200, 40, true);
        char first[TR_LABEL_SIZE], last[TR_LABEL_SIZE];
        tr_axis_label(&axis, axis.first, first);
        tr_axis_label(&axis, axis.last, last);
        Buffer title = {0};
        tr_axis_title(&axis, "y", "m", &title);
        assert_string_equal(first, rows[i].first);
        assert_string_equal(last, rows[i].last);
        assert_string_equal(title.at, rows[i].title);
        tr_buffer_free(&title);
    }
}

static void test_powers(void **state)
{
    (void)state;
    Random r = {6};
    for (int i = 0; i < 5000; i++) {
        const double low = pow(10, random_between(&r, -289, 280));
        const Range range = {low, low * pow(10, random_between(&r, 0, 9))};
        const Axis axis = tr_axis_of_powers(range, 200, 20);
        assert_true(axis.low <= log10(range.low) && axis.high >= log10(range.high));
        assert_true(axis.high - axis.low < log10(range.high / range.low) + 2);
        assert_true(axis.last > axis.first);
    }
    const Axis axis = tr_axis_of_powers((Range){1e-12, 0.5}, 300, 40);
    char label[TR_LABEL_SIZE];
    tr_axis_label(&axis, axis.first, label);
    assert_string_equal(label, "10⁻¹²");
    tr_axis_label(&axis, axis.last, label);
    assert_string_equal(label, "10⁰");
}

// ---- curves --------------------------------------------------------------------------------

static double distance_to_piece(Point p, Point a, Point b)
{
    const Point d = {b.x - a.x, b.y - a.y};
    const double square = d.x * d.x + d.y * d.y;
    const double along = square > 0 ? ((p.x - a.x) * d.x + (p.y - a.y) * d.y) / square : 0;
    const double s = fmin(1, fmax(0, along));
    return hypot(p.x - a.x - s * d.x, p.y - a.y - s * d.y);
}

enum { LONG = 4000 };

// Smooth, with corners, turning back, standing still.
static void wander(Random *r, Point *points)
{
    Point at = {300, 200}, speed = {1, 0};
    for (int i = 0; i < LONG; i++) {
        const double turn = i % 500 < 400 ? 0.03 : i % 7 == 0 ? random_between(r, -3, 3) : 0;
        speed = (Point){speed.x * cos(turn) - speed.y * sin(turn),
                        speed.x * sin(turn) + speed.y * cos(turn)};
        if (i % 900 == 899) speed = (Point){-speed.x, -speed.y};
        if (i % 300 > 20) at = (Point){at.x + 0.3 * speed.x, at.y + 0.3 * speed.y};
        points[i] = at;
    }
}

static void test_thin_lines(void **state)
{
    (void)state;
    static Point all[LONG], left[LONG];
    Random r = {7};
    wander(&r, all);
    memcpy(left, all, sizeof all);
    const size_t count = tr_thin_lines(left, LONG, 0.1);
    assert_true(count < LONG / 4);
    assert_memory_equal(&left[0], &all[0], sizeof *all);
    assert_memory_equal(&left[count - 1], &all[LONG - 1], sizeof *all);
    size_t piece = 0; // of those left, the one that all[i] belongs to
    for (size_t i = 0; i < LONG; i++) {
        if (piece + 2 < count && memcmp(&all[i], &left[piece + 1], sizeof *all) == 0) piece++;
        const double off =
            fmin(distance_to_piece(all[i], left[piece], left[piece + 1]),
                 piece ? distance_to_piece(all[i], left[piece - 1], left[piece]) : 9);
        if (off > 0.2) fail_msg("point %zu is %g off", i, off);
    }
    Point back[] = {{0, 0}, {5, 0}, {10, 0}, {3, 0}, {3, 0}}; // a cusp stays
    assert_int_equal(tr_thin_lines(back, 5, 0.1), 3);
    assert_close(back[1].x, 10, 0);
}

static void test_thin_columns(void **state)
{
    (void)state;
    static Point all[LONG], left[LONG];
    Random r = {8};
    for (int i = 0; i < LONG; i++) all[i] = (Point){i / 40.0, random_between(&r, 0, 100)};
    memcpy(left, all, sizeof all);
    const size_t count = tr_thin_columns(left, LONG);
    assert_true(count <= 4 * LONG / 40);
    for (int column = 0; column < LONG / 40; column++) {
        Range before = tr_range_empty(), after = tr_range_empty();
        for (int i = 0; i < LONG; i++)
            if ((int)all[i].x == column) before = tr_range_with(before, all[i].y);
        for (size_t i = 0; i < count; i++)
            if ((int)left[i].x == column) after = tr_range_with(after, left[i].y);
        assert_true(same_bits(before.low, after.low) && same_bits(before.high, after.high));
    }
    for (size_t i = 1; i < count; i++) assert_true(left[i].x > left[i - 1].x);
}

// ---- pictures ------------------------------------------------------------------------------

static void write_file(const char *path, const char *text)
{
    tr_error err = {0};
    if (!tr_write_text(path, text, &err)) fail_msg("%s", err.text);
}

static tr_plot_options options_for(const char *const *panels, size_t count)
{
    static const char *const runs[] = {"run.csv", "other.csv"};
    tr_plot_options o = tr_plot_defaults();
    o.runs = runs;
    o.run_count = 1;
    o.panels = panels;
    o.panel_count = count;
    o.output = "fig.svg";
    return o;
}

// The picture as text, valid; the caller frees it.
static char *picture(const tr_plot_options *o)
{
    tr_error err = {0};
    if (!tr_plot(o, &err)) fail_msg("%s", err.text);
    size_t length;
    char *svg = tr_file_read(o->output, 1 << 24, &length, &err);
    assert_non_null(svg);
    assert_int_equal(strlen(svg), length);
    if (!is_xml(svg)) fail_msg("no XML: %.3000s", svg);
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf"));
    return svg;
}

static char *picture_of(const char *csv, const char *columns)
{
    write_file("run.csv", csv);
    const char *const panels[] = {columns};
    const tr_plot_options o = options_for(panels, columns ? 1 : 0);
    return picture(&o);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) count++;
    return count;
}

static void has(const char *svg, const char *part)
{
    if (!strstr(svg, part)) fail_msg("no %s in\n%.6000s", part, svg);
}

static void fails_with(const tr_plot_options *o, tr_status status, const char *words)
{
    tr_error err = {0};
    assert_false(tr_plot(o, &err));
    assert_string_equal(err.text, words);
    assert_int_equal(err.status, status);
}

static void test_odd_columns(void **state)
{
    (void)state;
    char *svg = picture_of("t,c\n0,5\n1,5\n2,5\n", "c");
    has(svg, ">c</text>");
    has(svg, ">5.0</text>");
    assert_int_equal(count_of(svg, "<polyline"), 1);
    free(svg);
    svg = picture_of("t,c\n3,7\n", "c"); // one row is a dot
    assert_int_equal(count_of(svg, "<circle"), 1);
    assert_int_equal(count_of(svg, "<polyline"), 0);
    free(svg);
    svg = picture_of("t,c\n0,\n1,\n", "c");
    has(svg, "c (no numbers)");
    free(svg);
    svg = picture_of("t,c\n0,1\n1,2\n2,\n3,2\n4,\n5,1\n6,inf\n7,1\n8,2\n", "c"); // gaps
    assert_int_equal(count_of(svg, "<polyline"), 2);
    assert_int_equal(count_of(svg, "<circle"), 2);
    free(svg);
    svg = picture_of("t,c\n0,-1e289\n1,1e289\n2,1e-300\n3,1e308\n", "c");
    has(svg, "[10²⁸⁸]");
    free(svg);
    svg = picture_of("t,c\n0,1e300\n1,-1e308\n", "c");
    has(svg, "c (no numbers)");
    free(svg);
    svg = picture_of("t,c\n0,5e-324\n1,1e-310\n", "c");
    free(svg);
    svg = picture_of("t,c\n,1\n,2\n", "c"); // nowhere
    free(svg);
}

static void test_hostile_names(void **state)
{
    (void)state;
    static const char csv[] = "t,</script><script>alert(1)</script>,\"a\"\"b'c & "
                              "d\",\x01\x1b[31m,\xff\xfe,\xf0\x9f\x98\x80,"
                              "\xef\xbf\xbf,\"x,y\"\n0,1,2,3,4,5,6,7\n1,2,3,4,5,6,7,8\n";
    char *svg = picture_of(csv, NULL);
    has(svg, "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
    has(svg, "a&quot;b&#39;c &amp; d");
    has(svg, "\xf0\x9f\x98\x80");
    assert_null(strstr(svg, "<script"));
    free(svg);
    svg = picture_of(csv, "x,y"); // a name with a comma
    has(svg, ">x,y</text>");
    free(svg);
    svg = picture_of("t,\"two\nlines\",b\n0,1,2\n1,2,3\n", "two\nlines,b");
    has(svg, ">two lines</text>");
    free(svg);
    const char *const panels[] = {"t"};
    tr_plot_options o = options_for(panels, 1);
    o.title = "\"><script>alert(1)</script>]]>\x02";
    svg = picture(&o);
    assert_null(strstr(svg, "<script"));
    free(svg);
}

static void test_powers_of_values(void **state)
{
    (void)state;
    write_file("run.csv", "t,a,b\n0,0,-1\n1,1e-9,-2\n2,1e-3,-3\n3,-1,0\n");
    const char *const panels[] = {"a"};
    tr_plot_options o = options_for(panels, 1);
    o.log = true;
    char *svg = picture(&o);
    has(svg, "a (2 of 4 not positive, left out)");
    has(svg, "10⁻⁹");
    free(svg);
    const char *const negative[] = {"b"};
    o.panels = negative;
    fails_with(&o, TR_USAGE, "'b' has no positive values, so it has no logarithmic axis");
}

static void test_long_runs(void **state)
{
    (void)state;
    enum { ROWS = 60000 };
    Buffer csv = {0};
    Random r = {9};
    tr_buffer_print(&csv, "t,smooth,noise,w_x,w_y\n");
    for (int i = 0; i < ROWS; i++)
        tr_buffer_print(&csv, "%d,%.9f,%.9f,%.9f,%.9f\n", i, sin(i * 1e-3),
                        random_between(&r, -1, 1), i * 1e-4 * cos(i * 1e-3),
                        i * 1e-4 * sin(i * 1e-3));
    char *svg = picture_of(csv.at, "smooth,noise");
    assert_true(strlen(svg) < 60000);
    free(svg);
    tr_plot_options o = options_for(NULL, 0);
    o.track = true;
    svg = picture(&o);
    assert_true(strlen(svg) < 60000);
    free(svg);
    tr_buffer_free(&csv);
}

// ---- panels, columns, tracks ---------------------------------------------------------------

static void test_panels(void **state)
{
    (void)state;
    write_file("run.csv", "t,q,q_rate,lambda.w.normal,tau.q,energy.kinetic,angle,force\n"
                          "0,1,2,3,4,5,6,700\n1,2,3,4,5,6,7,800\n2,3,4,5,6,7,8,900\n");
    const char *const panels[] = {"q,tau.q", "energy.kinetic", "lambda.w.normal,lambda.w.normal"};
    tr_plot_options o = options_for(panels, 3);
    char *svg = picture(&o);
    has(svg, "<title>q, tau.q, energy.kinetic, lambda.w.normal, lambda.w.normal against t</title>");
    has(svg, ">t [s]</text>");
    has(svg, ">energy.kinetic [J]</text>");
    has(svg, ">[N]</text>");
    assert_int_equal(count_of(svg, ">0.5</text>"), 1); // numbers at the last x axis only
    free(svg);
    o.panel_count = 0; // outputs, in panels by size
    svg = picture(&o);
    has(svg, "<title>angle, force against t</title>");
    assert_int_equal(count_of(svg, "<rect x="), 2);
    free(svg);
    o.panel_count = 2;
    o.width = 500;
    o.height = 300;
    svg = picture(&o);
    has(svg, "viewBox=\"0 0 500 300\"");
    free(svg);
    o.height = 100;
    tr_error err = {0};
    assert_false(tr_plot(&o, &err));
    assert_non_null(strstr(err.text, "a height of 100 pixels is too little"));
    o.width = o.height = 0;
    o.from = 0.5;
    o.to = 1;
    svg = picture(&o);
    has(svg, "q: t from 1 to 1, values from 2 to 2");
    free(svg);
    o.from = 7;
    fails_with(&o, TR_USAGE, "'run.csv' has no rows there: its t is from 0 to 2");
}

static void test_two_runs(void **state)
{
    (void)state;
    write_file("run.csv", "t,a,b\n0,1,2\n1,2,3\n");
    write_file("other.csv", "\xef\xbb\xbft,b,a\r\n0,1,2\r\n2,2,3"); // as a spreadsheet writes it
    const char *const panels[] = {"a", "a,b"};
    tr_plot_options o = options_for(panels, 2);
    o.run_count = 2;
    char *svg = picture(&o);
    has(svg, ">run</text>");
    has(svg, ">other</text>");
    has(svg, ">other: b</text>");
    assert_int_equal(count_of(svg, "<polyline"), 6);
    free(svg);
}

// The certificates beside runs say what differs, and what columns are.
static void test_certified_runs(void **state)
{
    (void)state;
    static const char columns[] =
        "\"columns\": [{\"name\": \"t\", \"unit\": \"s\", \"quantity\": \"time\"},"
        "{\"name\": \"a\", \"unit\": \"rad\", \"quantity\": \"angle\", \"owner\": \"\", "
        "\"component\": \"output\"},"
        "{\"name\": \"b\", \"unit\": \"rad\", \"quantity\": \"angle\", \"owner\": \"\", "
        "\"component\": \"output\"},"
        "{\"name\": \"c\", \"unit\": \"m\", \"quantity\": \"length\", \"owner\": \"\", "
        "\"component\": \"output\"},"
        "{\"name\": \"q\", \"unit\": \"rad\", \"quantity\": \"angle\", \"owner\": \"q\", "
        "\"component\": \"\"}]";
    char text[1200];
    write_file("run.csv", "t,q,a,b,c\n0,5,1,2,1\n1,5,2,3,2\n");
    write_file("other.csv", "t,q,a,b,c\n0,5,1,2,1\n1,5,2,3,2\n");
    snprintf(text, sizeof text, "{\"case\": \"slow\", %s}", columns);
    write_file("run.json", text);
    snprintf(text, sizeof text, "{\"case\": \"fast\", %s}", columns);
    write_file("other.json", text);
    tr_plot_options o = options_for(NULL, 0);
    char *svg = picture(&o); // outputs, in panels by unit, and what they are
    has(svg, "<title>a, b, c against t</title>");
    has(svg, ">angle [rad]</text>");
    has(svg, ">c [m]</text>");
    free(svg);
    o.run_count = 2;
    svg = picture(&o);
    has(svg, ">run (slow): a</text>");
    has(svg, ">other (fast)</text>");
    free(svg);
    assert_int_equal(remove("run.json"), 0);
    assert_int_equal(remove("other.json"), 0);
}

// Where each curve of a picture lies: whether one of them is on the frame
static bool is_on_frame(const char *svg)
{
    double y = 0, height = 0, x, a, b;
    const char *frame = strstr(svg, "<rect x=");
    if (!frame || sscanf(strstr(frame, " y=") + 4, "%lf", &y) != 1 ||
        sscanf(strstr(frame, " height=") + 9, "%lf", &height) != 1)
        fail_msg("no frame in %.3000s", svg);
    bool is_on = false;
    for (const char *line = svg; (line = strstr(line, "<polyline points=\""));) {
        line += strlen("<polyline points=\"");
        if (sscanf(line, "%lf,%lf %*f,%lf", &x, &a, &b) != 3) fail_msg("%.200s", line);
        is_on = is_on || (fabs(a - b) < 0.01 && (a < y + 1.5 || a > y + height - 1.5));
    }
    return is_on;
}

static void test_constant_lines(void **state)
{
    (void)state;
    static const char *const tables[] = {"t,a,b\n0,0,0\n1,0,4\n",      // at the lower end
                                         "t,a,b\n0,4,0\n1,4,4\n",      // at the upper one
                                         "t,a,b\n0,3,0\n1,3.0001,0\n", // at both, hardly moving
                                         "t,a,b\n0,-2,-2\n1,-2,-2\n",  // alone
                                         "t,a,b\n0,1e-9,0\n1,1e-9,1e-9\n"}; // however small
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char *svg = picture_of(tables[i], "a,b");
        if (is_on_frame(svg)) fail_msg("%s\n%.4000s", tables[i], svg);
        free(svg);
    }
}

// Numbers of an attribute in the lines of the grid: where ticks are.
static double spacing(const char *svg, const char *same, const char *other)
{
    double last = -1;
    for (const char *line = strstr(svg, "#e0e0e0"); (line = strstr(line + 1, "<line"));) {
        double a = 0, b = 0;
        const char *one = strstr(line, same), *two = strstr(line, other);
        if (sscanf(one + 4, "%lf", &a) != 1 || sscanf(two + 4, "%lf", &b) != 1) fail();
        if (!same_bits(a, b)) continue;
        if (last >= 0) return fabs(a - last);
        last = a;
    }
    return 0;
}

static void test_tracks(void **state)
{
    (void)state;
    write_file("run.csv", "t,board.x,board.y,nose_x,nose_y\n0,0,0,1,0\n1,3,1,4,1\n2,6,0,7,0\n");
    tr_plot_options o = options_for(NULL, 0);
    o.track = true;
    for (int i = 0; i < 3; i++) { // one scale, whatever the size
        o.width = i == 0 ? 0 : i == 1 ? 400 : 900;
        o.height = i == 0 ? 0 : i == 1 ? 700 : 300;
        char *svg = picture(&o);
        assert_true(spacing(svg, "x1=\"", "x2=\"") > 30);
        // not a margin: places have two decimals
        assert_close(spacing(svg, "x1=\"", "x2=\""), spacing(svg, "y1=\"", "y2=\""), 3e-4);
        has(svg, "<title>track of board</title>");
        has(svg, ">start</text>");
        has(svg, ">x [m]</text>");
        assert_int_equal(count_of(svg, "<polygon"), 2);
        free(svg);
    }
    o.width = o.height = 0;
    o.tracks = "nose,board";
    char *svg = picture(&o);
    has(svg, "<title>track of nose, board</title>");
    free(svg);
    o.tracks = "noes";
    fails_with(&o, TR_USAGE, "'run.csv' has no track 'noes'; did you mean 'nose'?");
    o.tracks = "saddle";
    fails_with(&o, TR_USAGE, "'run.csv' has no track 'saddle'; there are 'board', 'nose'");
    o.tracks = NULL;
    free(picture(&(tr_plot_options){.size = sizeof(tr_plot_options),
                                    .runs = o.runs,
                                    .run_count = 1,
                                    .track = true,
                                    .from = -1,
                                    .to = 0,
                                    .output = "fig.svg"})); // one point, standing still
    write_file("run.csv", "t,a\n0,1\n");
    for (int i = 0; i < 2; i++) { // whichever is asked for
        tr_error err = {0};
        o.tracks = i ? "nose" : NULL;
        assert_false(tr_plot(&o, &err));
        assert_non_null(strstr(err.text, "'run.csv' has no track: "));
    }
}

static void note(void *owner, const char *words) { snprintf(owner, 200, "%s", words); }

// Ellipses where places are uncertain, no more than a dozen to a track; the axes have room for
// them.
static void test_ellipses(void **state)
{
    (void)state;
    Buffer rows = {0};
    tr_buffer_print(&rows, "t,a.x,a.y,sd(a.x),sd(a.y),cov(a.x:a.y)\n");
    for (int i = 0; i < 100; i++)
        tr_buffer_print(&rows, "%d,%g,0,%g,%g,%g\n", i, 0.01 * i, 0.01 * i, 0.02 * i, 1e-4 * i * i);
    write_file("run.csv", rows.at);
    tr_buffer_free(&rows);
    tr_plot_options o = options_for(NULL, 0);
    o.track = true;
    char *svg = picture(&o);
    has(svg, "95 % of such runs are inside");
    const size_t ellipses = count_of(svg, "<polygon") - 2; // and two arrows
    assert_true(ellipses >= 10 && ellipses <= 12);
    has(svg, ">4</text>"); // y: up to 2.45 times 1.98 m
    free(svg);
    write_file("run.csv", "t,a.x,a.y\n0,0,0\n1,1,0\n");
    svg = picture(&o);
    assert_null(strstr(svg, "95 %"));
    free(svg);
}

// Lines of equal height below a track, with numbers of their own, where the model is beside the
// run; without it the same picture without them.
static void test_hills(void **state)
{
    (void)state;
    static const char hill[] =
        "trundle: 1\n"
        "ground: {height: 0.1*(x^2 + y^2)}\n"
        "bodies: {a: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
        "contacts: {foot: {kind: slide, body: a}}\n";
    char hash[TR_SHA256_SIZE], certificate[300], other[sizeof hill];
    tr_sha256(hill, strlen(hill), hash);
    snprintf(certificate, sizeof certificate,
             "{\"model_file\": \"hill.yaml\", \"model_sha256\": \"%s\", \"case\": \"\", "
             "\"settings\": []}",
             hash);
    write_file("run.csv", "t,contact.foot.x,contact.foot.y\n0,-3,-2\n1,0,2\n2,3,-2\n");
    write_file("run.json", certificate);
    tr_plot_options o = options_for(NULL, 0);
    o.track = true;
    char *without = picture(&o);
    assert_null(strstr(without, "apart"));
    assert_int_equal(count_of(without, "<polyline"), 1);
    write_file("hill.yaml", hill);
    char *with = picture(&o);
    has(with, ">heights 0.2 m apart</text>");
    has(with, ">1</text>");
    assert_true(count_of(with, "<polyline") > 8);
    write_file("other.yaml", hill); // one that is given
    remove("hill.yaml");
    o.model = "other.yaml";
    char *given = picture(&o);
    assert_string_equal(given, with);
    free(given);
    char words[200] = "";
    o.say = note, o.owner = words;
    memcpy(strstr(strcpy(other, hill), "0.1*"), "0.2*", 4);
    write_file("other.yaml", other);
    given = picture(&o);
    assert_string_equal(words, "'other.yaml' has changed since the run was made");
    has(given, ">heights 0.5 m apart</text>");
    free(given);
    write_file("other.yaml", "trundle: 1\nbodies: {a: {mas: 1}}\n");
    fails_with(&o, TR_INVALID, "other.yaml:2: unknown key 'mas' in 'a'; did you mean 'mass'?");
    o.model = "gone.yaml";
    assert_false(tr_plot(&o, NULL));
    free(without), free(with);
    o.track = false;
    fails_with(&o, TR_USAGE, "a model has the ground below a track, and this is none");
    o.model = NULL; // no ground below other pictures
    const char *const panels[] = {"contact.foot.x"};
    o.panels = panels, o.panel_count = 1;
    with = picture(&o);
    assert_null(strstr(with, "apart"));
    free(with);
    remove("run.json"), remove("other.yaml");
}

static void test_mistakes(void **state)
{
    (void)state;
    write_file("run.csv", "t,roll,steer\n0,1,2\n1,2,3\n");
    const char *const wrong[] = {"roll,ster"};
    tr_plot_options o = options_for(wrong, 1);
    fails_with(&o, TR_USAGE, "'run.csv' has no column 'ster'; did you mean 'steer'?");
    const char *const right[] = {"roll"};
    o.panels = right;
    o.x = "T";
    fails_with(&o, TR_USAGE, "'run.csv' has no column 'T'; did you mean 't'?");
    o.x = NULL;
    o.output = "fig.png";
    fails_with(&o, TR_USAGE, "pictures are SVG: 'fig.png' should end in .svg");
    o.output = "fig.svg";
    o.track = true;
    fails_with(&o, TR_USAGE,
               "a track is a picture of its own: it has no other columns, and equal scales");
    o.track = false;
    o.width = 100000;
    o.height = 1;
    fails_with(&o, TR_USAGE,
               "a picture is 200 to 10000 pixels wide and at most 10000 high, not 100000 by 1");
    o.width = o.height = 0;
    write_file("run.csv", "t,roll\n");
    fails_with(&o, TR_INVALID, "'run.csv' has no rows");
    write_file("run.csv", "t,roll\n0,1\n1,one\n2,3\n");
    fails_with(&o, TR_INVALID, "run.csv:3: 'one' in column 'roll' is no number");
    o.run_count = 0;
    fails_with(&o, TR_USAGE, "there is no run to draw");
    fails_with(NULL, TR_USAGE, "there is no run to draw");
}

// ---- byte for byte -------------------------------------------------------------------------

static void golden(const char *name, tr_plot_options o, bool rewrite)
{
    char run[500], path[500];
    snprintf(run, sizeof run, "%s/%s.csv", PLOT_DIR, name);
    snprintf(path, sizeof path, "%s/%s.svg", PLOT_DIR, name);
    const char *const runs[] = {run};
    o.runs = runs;
    o.run_count = 1;
    o.output = rewrite ? path : "fig.svg";
    char *svg = picture(&o);
    size_t length;
    tr_error err = {0};
    char *wanted = tr_file_read(path, 1 << 20, &length, &err);
    if (!wanted || strcmp(svg, wanted) != 0)
        fail_msg("%s has changed: make golden, and read the difference", path);
    free(svg);
    free(wanted);
}

static void all_golden(bool rewrite)
{
    tr_plot_options o = tr_plot_defaults();
    static const char *const angles[] = {"roll,steer"};
    o.panels = angles;
    o.panel_count = 1;
    o.title = "Bicycle, uncontrolled at 4.6 m/s";
    golden("free", o, rewrite);
    o = tr_plot_defaults();
    o.track = true;
    o.tracks = "rear,front";
    golden("turn", o, rewrite);
    o.tracks = NULL;
    golden("hill", o, rewrite); // whose model stands beside it
}

static void test_golden(void **state) { (void)state, all_golden(false); }
static void rewrite_golden(void **state) { (void)state, all_golden(true); }

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "golden") == 0) {
        const struct CMUnitTest rewriting[] = {cmocka_unit_test(rewrite_golden)};
        return cmocka_run_group_tests(rewriting, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checker),          cmocka_unit_test(test_axes),
        cmocka_unit_test(test_labels),           cmocka_unit_test(test_powers),
        cmocka_unit_test(test_thin_lines),       cmocka_unit_test(test_thin_columns),
        cmocka_unit_test(test_odd_columns),      cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_powers_of_values), cmocka_unit_test(test_long_runs),
        cmocka_unit_test(test_panels),           cmocka_unit_test(test_two_runs),
        cmocka_unit_test(test_tracks),           cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_certified_runs),   cmocka_unit_test(test_constant_lines),
        cmocka_unit_test(test_golden),           cmocka_unit_test(test_hills),
        cmocka_unit_test(test_ellipses),
    };
    return cmocka_run_group_tests(tests, enter_folder, NULL);
}
