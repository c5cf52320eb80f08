// SPDX-License-Identifier: Apache-2.0
// CUDA C++ that people read and put into programs of their own: the exported C, each function for
// host and device, each constant where the device finds it, and numbers of a type whose operations
// are rounded one by one (cuda_number.txt). So nothing is written twice, and a host's compiler
// takes the same file. Behind it stands a kernel over runs, whose layout is that of PTX
// (export/ptx.c).
#include "export/embedded.h"
#include "export/identifier.h"
#include "export/paste.h"
#include "export/target.h"

#include <string.h>

static bool drop(Text *line, const char *what)
{
    if (!text_begins_with(*line, what)) return false;
    line->at += strlen(what), line->length -= strlen(what);
    return true;
}

// With the number's own type in the place of C's
static void copy_line(const Export *code, Buffer *out, Text line)
{
    const char *was = code->options.is_single ? "float" : "double";
    const size_t length = strlen(was);
    for (size_t i = 0; i < line.length;) {
        size_t end = i;
        while (end < line.length && is_word(line.at[end])) end++;
        if (end - i == length && memcmp(line.at + i, was, length) == 0)
            tr_buffer_print(out, "real");
        else
            tr_buffer_add(out, line.at + i, end - i + (end == i));
        i = end + (end == i);
    }
}

// Definitions begin with their line; what is within them is indented.
static bool is_definition(Text line)
{
    return line.length && is_word(line.at[0]) && !text_begins_with(line, "typedef ") &&
           !text_begins_with(line, "enum ") && !text_begins_with(line, "extern ");
}

static void copy_definition(const Export *code, Buffer *out, Text line, const char *upper)
{
    const bool is_static = drop(&line, "static ");
    const char *kind = "FUNCTION";
    if (drop(&line, "const "))
        kind = "TABLE";
    else if (is_static && drop(&line, "PART "))
        kind = "PART";
    else
        drop(&line, "inline ");
    tr_buffer_print(out, "%s_%s ", upper, kind);
    copy_line(code, out, line);
}

static void copy_code(const Export *code, Buffer *out, Text text, const char *upper)
{
    while (text.length) {
        const Text line = take_line(&text);
        if (text_begins_with(line, "//"))
            tr_buffer_add(out, line.at, line.length);
        else if (is_definition(line))
            copy_definition(code, out, line, upper);
        else
            copy_line(code, out, line);
    }
}

// From the line that begins so
static Text from(Text text, const char *beginning)
{
    while (text.length && !text_begins_with(text, beginning)) take_line(&text);
    return text;
}

// A header of C without what only C has: guards, linkage, declarations of what is constant
static void copy_header(const Export *code, Buffer *out, Text text, const char *upper)
{
    Buffer kept = {0};
    while (text.length) {
        Text line = take_line(&text);
        const bool is_extern = text_begins_with(line, "extern const");
        while (is_extern && text.length && !memchr(line.at, ';', line.length))
            line = take_line(&text);
        if (!is_extern && !text_begins_with(line, "#") && !text_begins_with(line, "extern") &&
            !text_begins_with(line, "}\n"))
            tr_buffer_add(&kept, line.at, line.length);
    }
    copy_code(code, out, (Text){kept.at, kept.length}, upper);
    out->failed = out->failed || kept.failed;
    tr_buffer_free(&kept);
}

static const char promise[] = "\n\n   Every operation is rounded by itself, on the device, too: "
                              "the bits are those of trundle.";
static const char keep_u[] =
    "    for (int i = 0; i < @NAME@_NU; i++) u[(size_t)i * stride + k] = (@number@)in[i];\n";
static const char first_sample[] = "    if (@name@_sample(0, x, u, p, mode, w)) return 1;\n";

static void fill_in(const Export *code, Buffer *out, Text text)
{
    const bool acts = code->samples.clock.count, single = code->options.is_single;
    char upper[64];
    tr_upper_name(code->options.name, upper, sizeof upper);
    Buffer first = {0}, title = {0};
    const System *s = code->system;
    tr_buffer_comment(&title, s->title && s->title[0] ? s->title : code->options.name);
    const Mark known[] = {{"name", code->options.name},
                          {"NAME", upper},
                          {"number", single ? "float" : "double"},
                          {"digits", single ? "9" : "17"},
                          {"title", title.at ? title.at : ""},
                          {"promise", single ? "" : promise},
                          {"own_u", acts ? "" : "const "},
                          {NULL, NULL}};
    Buffer type = {0}, kept = {0};
    tr_fill_in(&type, single ? tr_embedded_cuda_single() : tr_embedded_cuda_number(), known);
    tr_fill_in(&first, text_of(acts ? first_sample : ""), known);
    tr_fill_in(&kept, text_of(acts ? keep_u : ""), known);
    Mark marks[12];
    memcpy(marks, known, sizeof known);
    Mark *more = marks + sizeof known / sizeof *known - 1;
    *more++ = (Mark){"type", type.at ? type.at : ""};
    *more++ = (Mark){"first_sample", first.at ? first.at : ""};
    *more++ = (Mark){"keep_u", kept.at ? kept.at : ""};
    *more = (Mark){NULL, NULL};
    tr_fill_in(out, text, marks);
    out->failed = out->failed || type.failed || first.failed || kept.failed || title.failed;
    tr_buffer_free(&type);
    tr_buffer_free(&first);
    tr_buffer_free(&kept);
    tr_buffer_free(&title);
}

static void write_cuda(const Export *code, Buffer *out, Text header, Text source)
{
    char upper[64];
    tr_upper_name(code->options.name, upper, sizeof upper);
    const Text rest = from(header, "#ifndef");
    tr_buffer_add(out, header.at, header.length - rest.length); // what it is, and of what model
    fill_in(code, out, tr_embedded_cuda_head());
    copy_header(code, out, rest, upper);
    copy_code(code, out, from(source, "/* ---- names"), upper);
    fill_in(code, out, tr_embedded_cuda_tail());
}

bool tr_print_cuda(Export *code, Folder *folder, tr_error *err)
{
    const char *name = code->options.name;
    Buffer header = {0}, source = {0};
    Buffer *out = tr_folder_add(folder, "%s.cuh", name);
    Buffer *demo = out ? tr_folder_add(folder, "%s_demo.cu", name) : NULL;
    Buffer *makefile = demo ? tr_folder_add(folder, "Makefile") : NULL;
    if (!makefile) return tr_fail_memory(err), false;
    if (tr_write_c(code, &header, &source, err)) {
        write_cuda(code, out, (Text){header.at, header.length}, (Text){source.at, source.length});
        fill_in(code, demo, tr_embedded_cuda_demo());
        fill_in(code, makefile, tr_embedded_cuda_makefile());
    }
    tr_buffer_free(&header);
    tr_buffer_free(&source);
    return !has_failed(err);
}
