// SPDX-License-Identifier: Apache-2.0
#include "view/svg.h"

#include <assert.h>
#include <math.h>

static void add(Buffer *svg, const char *text) { tr_buffer_add(svg, text, strlen(text)); }

// Two decimals at most: 12, 12.5, 12.34, -0.5.
static void add_number(Buffer *svg, double value)
{
    assert(fabs(value) < 1e9); // pixels; also not NaN
    const long long hundredths = llround(value * 100),
                    size = hundredths < 0 ? -hundredths : hundredths;
    tr_buffer_print(svg, "%s%lld", hundredths < 0 ? "-" : "", size / 100);
    const int rest = (int)(size % 100);
    if (rest % 10)
        tr_buffer_print(svg, ".%02d", rest);
    else if (rest)
        tr_buffer_print(svg, ".%d", rest / 10);
}

static void add_attribute(Buffer *svg, const char *name, double value)
{
    tr_buffer_print(svg, " %s=\"", name);
    add_number(svg, value);
    add(svg, "\"");
}

// Any text as XML text. What XML cannot hold, or is not plain, becomes U+FFFD.
static void escape(Buffer *svg, const char *text)
{
    for (size_t left = strlen(text), length; left; text += length, left -= length) {
        length = tr_utf8_length(text, left);
        const bool is_valid = length > 0;
        if (!is_valid) length = 1;
        switch (*text) {
        case '&': add(svg, "&amp;"); break;
        case '<': add(svg, "&lt;"); break;
        case '>': add(svg, "&gt;"); break;
        case '"': add(svg, "&quot;"); break;
        case '\'': add(svg, "&#39;"); break;
        case '\t':
        case '\n':
        case '\r': add(svg, " "); break;
        default:
            if (is_valid && tr_is_plain(tr_utf8_code(text, length)))
                tr_buffer_add(svg, text, length);
            else
                add(svg, "\xef\xbf\xbd");
        }
    }
}

static void add_element(Buffer *svg, const char *name, const char *text)
{
    tr_buffer_print(svg, "<%s>", name);
    escape(svg, text);
    tr_buffer_print(svg, "</%s>\n", name);
}

void tr_svg_begin(Buffer *svg, double width, double height, const char *title,
                  const char *description)
{
    add(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"");
    add_attribute(svg, "width", width);
    add_attribute(svg, "height", height);
    add(svg, " viewBox=\"0 0 ");
    add_number(svg, width);
    add(svg, " ");
    add_number(svg, height);
    add(svg, "\" font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', "
             "Arial, sans-serif\">\n");
    add_element(svg, "title", title);
    add_element(svg, "desc", description);
    add(svg, "<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#fff\"/>\n");
}

void tr_svg_end(Buffer *svg) { add(svg, "</svg>\n"); }

void tr_svg_group(Buffer *svg, const char *attributes, const char *title)
{
    tr_buffer_print(svg, "<g %s>\n", attributes);
    if (title) add_element(svg, "title", title);
}

void tr_svg_group_end(Buffer *svg) { add(svg, "</g>\n"); }

void tr_svg_line(Buffer *svg, Point from, Point to)
{
    add(svg, "<line");
    add_attribute(svg, "x1", from.x);
    add_attribute(svg, "y1", from.y);
    add_attribute(svg, "x2", to.x);
    add_attribute(svg, "y2", to.y);
    add(svg, "/>\n");
}

void tr_svg_rect(Buffer *svg, Point corner, double width, double height)
{
    add(svg, "<rect");
    add_attribute(svg, "x", corner.x);
    add_attribute(svg, "y", corner.y);
    add_attribute(svg, "width", width);
    add_attribute(svg, "height", height);
    add(svg, "/>\n");
}

void tr_svg_circle(Buffer *svg, Point centre, double radius)
{
    add(svg, "<circle");
    add_attribute(svg, "cx", centre.x);
    add_attribute(svg, "cy", centre.y);
    add_attribute(svg, "r", radius);
    add(svg, "/>\n");
}

static void add_points(Buffer *svg, const char *shape, const Point *points, size_t count)
{
    tr_buffer_print(svg, "<%s points=\"", shape);
    for (size_t i = 0; i < count; i++) {
        if (i) add(svg, i % 8 ? " " : "\n");
        add_number(svg, points[i].x);
        add(svg, ",");
        add_number(svg, points[i].y);
    }
    add(svg, "\"/>\n");
}

void tr_svg_polyline(Buffer *svg, const Point *points, size_t count)
{
    add_points(svg, "polyline", points, count);
}

void tr_svg_polygon(Buffer *svg, const Point *points, size_t count)
{
    add_points(svg, "polygon", points, count);
}

void tr_svg_text(Buffer *svg, Point at, const char *text)
{
    add(svg, "<text");
    add_attribute(svg, "x", at.x);
    add_attribute(svg, "y", at.y);
    add(svg, ">");
    escape(svg, text);
    add(svg, "</text>\n");
}

void tr_svg_text_upwards(Buffer *svg, Point at, const char *text)
{
    add(svg, "<text transform=\"translate(");
    add_number(svg, at.x);
    add(svg, " ");
    add_number(svg, at.y);
    add(svg, ") rotate(-90)\">");
    escape(svg, text);
    add(svg, "</text>\n");
}

// In parts of the font size, as in a wide font.
static double width_of(unsigned code)
{
    if (code >= 0x1100 && !(code >= 0x2000 && code < 0x2300)) return 1.1; // ideographs, emoji
    if (code >= 0x80) return 0.65;
    if (strchr("ijl.,:;'|!", (int)code)) return 0.33;
    if (strchr("ftr()[]{} -/\\\"", (int)code)) return 0.42;
    if (strchr("mwMW@%", (int)code)) return 0.97;
    return code >= 'A' && code <= 'Z' ? 0.7 : 0.61;
}

double tr_svg_text_width(const char *text, double font_size)
{
    double width = 0;
    for (size_t left = strlen(text); left;) {
        const size_t length = tr_utf8_length(text, left);
        width += width_of(length ? tr_utf8_code(text, length) : 0xfffd);
        text += length ? length : 1;
        left -= length ? length : 1;
    }
    return width * font_size;
}
