// SPDX-License-Identifier: Apache-2.0
// A small interpreter of PTX for tests: one thread after the other, each instruction as the PTX ISA
// says what it does. It knows those that kernels of this library use, and ends with words at any
// other. Numbers are the C library's: + - * / and sqrt and fma, correctly rounded.
#ifndef TESTS_PTX_H
#define TESTS_PTX_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef union PtxWord {
    uint64_t u;
    double d;
    float f;
} PtxWord;

// An operand: a register, a number, or an address with a register
typedef struct PtxOperand {
    enum { PTX_NONE, PTX_REGISTER, PTX_NUMBER } kind;
    uint32_t reg;
    PtxWord number;
    uint32_t offset; // of an address
} PtxOperand;

typedef struct PtxLine {
    char name[24];
    int operation; // see ptx_operation
    PtxOperand o[8];
    int operands;
    int guard; // register of the predicate, -1 none
    bool guard_not;
    int target; // line, or function
} PtxLine;

typedef struct PtxFunction {
    char name[64];
    int first;           // line
    uint32_t formal[16]; // registers: results, then parameters
    int results, parameters;
    char parameter_name[16][32]; // of an entry
} PtxFunction;

typedef struct PtxList {
    char name[64];
    uint8_t *bytes;
    size_t size; // of one that each thread has for itself
} PtxList;

typedef struct Ptx_ {
    PtxLine *lines;
    int count, capacity;
    char (*names)[72]; // of registers, function::%r1
    uint32_t registers, register_capacity;
    PtxFunction functions[16];
    int function_count;
    PtxList lists[64];
    int list_count;
    char **labels; // by label: text, and line
    int *label_line, label_count, label_capacity;
    PtxWord parameters[16]; // of the launch
    uint32_t thread, block, block_size;
    uint8_t *shared;    // by the threads of a block
    uint32_t *owner;    // by number there: the thread that has it, + 1
    size_t shared_size; // bytes, said before it is launched
    size_t executed;    // instructions
    size_t issues; // of those on numbers: what a GPU makes of them, quotients and roots several
    // Names of registers, hashed
    uint32_t *slots, slot_count;
} PtxModule;

static void ptx_die(const char *what, const char *about)
{
    fprintf(stderr, "the interpreter of PTX: %s: %.100s\n", what, about);
    abort();
}

// ---- reading -------------------------------------------------------------------------------

static uint32_t ptx_register(PtxModule *m, const char *function, const char *name)
{
    char full[72];
    snprintf(full, sizeof full, "%s::%s", name[1] >= 'a' && strchr(name, '.') ? "" : function,
             name);
    uint32_t code = 2166136261u;
    for (const char *c = full; *c; c++) code = (code ^ (uint8_t)*c) * 16777619u;
    if (2 * m->registers + 2 > m->slot_count) {
        const uint32_t size = m->slot_count ? 2 * m->slot_count : 1024;
        free(m->slots);
        m->slots = calloc(size, sizeof *m->slots);
        m->slot_count = size;
        for (uint32_t i = 0; i < m->registers; i++) {
            uint32_t c = 2166136261u;
            for (const char *x = m->names[i]; *x; x++) c = (c ^ (uint8_t)*x) * 16777619u;
            while (m->slots[c % size]) c++;
            m->slots[c % size] = i + 1;
        }
    }
    for (; m->slots[code % m->slot_count]; code++) {
        const uint32_t at = m->slots[code % m->slot_count] - 1;
        if (strcmp(m->names[at], full) == 0) return at;
    }
    if (m->registers == m->register_capacity) {
        m->register_capacity = m->register_capacity ? 2 * m->register_capacity : 512;
        m->names = realloc(m->names, m->register_capacity * sizeof *m->names);
    }
    strcpy(m->names[m->registers], full);
    m->slots[code % m->slot_count] = m->registers + 1;
    return m->registers++;
}

static char *ptx_trim(char *text)
{
    while (*text == ' ' || *text == '\t') text++;
    size_t length = strlen(text);
    while (length && strchr(" \t\r\n", text[length - 1])) text[--length] = 0;
    return text;
}

static PtxOperand ptx_operand(PtxModule *m, const char *function, char *text)
{
    text = ptx_trim(text);
    PtxOperand o = {PTX_NUMBER, 0, {0}, 0};
    if (text[0] == '[') {
        text[strlen(text) - 1] = 0;
        text++;
        char *plus = strchr(text, '+');
        if (plus) {
            o.offset = (uint32_t)strtoul(plus + 1, NULL, 10);
            *plus = 0;
        }
    }
    if (text[0] == '%') {
        o.kind = PTX_REGISTER;
        o.reg = ptx_register(m, function, text);
    } else if (strncmp(text, "0d", 2) == 0)
        o.number.u = strtoull(text + 2, NULL, 16);
    else if (strncmp(text, "0f", 2) == 0)
        o.number.u = strtoull(text + 2, NULL, 16);
    else if ((text[0] >= '0' && text[0] <= '9') || text[0] == '-')
        o.number.u = text[0] == '-' ? (uint64_t)strtoll(text, NULL, 0) : strtoull(text, NULL, 0);
    else { // a parameter of the entry, or a list
        const PtxFunction *f = &m->functions[m->function_count - 1];
        for (int i = 0; i < f->parameters; i++)
            if (strcmp(f->parameter_name[i], text) == 0) {
                o.number.u = (uint64_t)i;
                return o;
            }
        if (strcmp(text, "tr_room") == 0) return o; // what a block shares begins at 0
        for (int i = 0; i < m->list_count; i++)
            if (strcmp(m->lists[i].name, text) == 0) {
                o.number.u = (uint64_t)(uintptr_t)m->lists[i].bytes;
                return o;
            }
        ptx_die("there is no", text);
    }
    return o;
}

static int ptx_label(PtxModule *m, const char *function, const char *name)
{
    char full[96];
    snprintf(full, sizeof full, "%s%s", function, name);
    for (int i = 0; i < m->label_count; i++)
        if (strcmp(m->labels[i], full) == 0) return i;
    if (m->label_count == m->label_capacity) {
        m->label_capacity = m->label_capacity ? 2 * m->label_capacity : 64;
        m->labels = realloc(m->labels, (size_t)m->label_capacity * sizeof *m->labels);
        m->label_line = realloc(m->label_line, (size_t)m->label_capacity * sizeof *m->label_line);
    }
    m->labels[m->label_count] = strdup(full);
    m->label_line[m->label_count] = -1;
    return m->label_count++;
}

static PtxLine *ptx_add(PtxModule *m)
{
    if (m->count == m->capacity) {
        m->capacity = m->capacity ? 2 * m->capacity : 1024;
        m->lines = realloc(m->lines, (size_t)m->capacity * sizeof *m->lines);
    }
    m->lines[m->count] = (PtxLine){.guard = -1, .target = -1};
    return &m->lines[m->count++];
}

// .func (.reg .f64 %a, ...) name (.reg .f64 %x)
static void ptx_function(PtxModule *m, char *line)
{
    PtxFunction *f = &m->functions[m->function_count++];
    char *name_at = strchr(line, ')') + 1, *open = strchr(name_at, '(');
    char own[64];
    snprintf(own, sizeof own, "%.*s", (int)(open - name_at), name_at);
    strcpy(f->name, ptx_trim(own));
    int which = 0;
    for (char *at = strchr(line, '%'); at; at = strchr(at + 1, '%')) {
        char name[16];
        size_t length = strcspn(at, ",) \n");
        memcpy(name, at, length);
        name[length] = 0;
        f->formal[which++] = ptx_register(m, f->name, name);
        if (at < open) f->results++;
    }
    f->parameters = 0;
    f->first = m->count;
}

static void ptx_list(PtxModule *m, char *line)
{
    PtxList *list = &m->lists[m->list_count++];
    const bool real = strstr(line, ".f64") != NULL, single = strstr(line, ".f32") != NULL;
    char *name = strstr(line, real     ? ".f64"
                              : single ? ".f32"
                                       : ".u32") +
                 5,
         *end = strchr(name, '[');
    *end = 0;
    strcpy(list->name, ptx_trim(name));
    const size_t count = strtoul(end + 1, NULL, 10);
    list->bytes = calloc(count + 1, 8);
    char *at = strchr(end + 1, '{') + 1;
    for (size_t i = 0; i < count; i++) {
        while (*at == ' ' || *at == ',') at++;
        if (real)
            ((uint64_t *)(void *)list->bytes)[i] = strtoull(at + 2, &at, 16);
        else if (single)
            ((uint32_t *)(void *)list->bytes)[i] = (uint32_t)strtoul(at + 2, &at, 16);
        else
            ((uint32_t *)(void *)list->bytes)[i] = (uint32_t)strtoul(at, &at, 0);
    }
}

// .local .align 8 .b8 name[bytes];
static void ptx_local(PtxModule *m, char *line)
{
    PtxList *list = &m->lists[m->list_count++];
    char *name = strstr(line, ".b8 ") + 4, *end = strchr(name, '[');
    *end = 0;
    strcpy(list->name, ptx_trim(name));
    list->size = strtoul(end + 1, NULL, 10);
    list->bytes = calloc(list->size + 1, 1);
}

// "name a, b, (c), [d];" without its guard
static void ptx_instruction(PtxModule *m, const char *function, PtxLine *l, char *text)
{
    size_t head = strcspn(text, " \t;");
    snprintf(l->name, sizeof l->name, "%.*s", (int)head, text);
    char *at = text + head, operands[512];
    snprintf(operands, sizeof operands, "%s", at);
    char *end = strrchr(operands, ';');
    if (!end) ptx_die("a line does not end", text);
    *end = 0;
    if (strcmp(l->name, "bra") == 0) {
        l->target = ptx_label(m, function, ptx_trim(operands));
        return;
    }
    if (strcmp(l->name, "call") == 0) {
        for (char *c = operands; *c; c++)
            if (*c == '(' || *c == ')') *c = ' ';
    }
    for (char *token = strtok(operands, ","); token; token = strtok(NULL, ",")) {
        char *clean = ptx_trim(token);
        if (strcmp(l->name, "call") == 0 && clean[0] != '%') {
            for (int i = 0; i < m->function_count; i++)
                if (strcmp(m->functions[i].name, clean) == 0) l->target = i;
            if (l->target < 0) ptx_die("there is no function", clean);
            continue;
        }
        l->o[l->operands++] = ptx_operand(m, function, clean);
    }
}

static PtxModule *ptx_read(const char *source)
{
    PtxModule *m = calloc(1, sizeof *m);
    char function[64] = "", *text = strdup(source), *rest = text;
    bool heads = false;
    while (rest && *rest) {
        char *line = rest, *end = strchr(rest, '\n');
        rest = end ? end + 1 : NULL;
        if (end) *end = 0;
        char *comment = strstr(line, "//");
        if (comment) *comment = 0;
        line = ptx_trim(line);
        if (!*line || *line == '{' || *line == '}') {
            heads = heads && *line != '{';
            continue;
        }
        if (strncmp(line, ".func", 5) == 0) {
            ptx_function(m, line);
            strcpy(function, m->functions[m->function_count - 1].name);
        } else if (strncmp(line, ".visible .entry", 15) == 0) {
            PtxFunction *f = &m->functions[m->function_count++];
            *strchr(line, '(') = 0;
            strcpy(f->name, ptx_trim(line + 15));
            strcpy(function, f->name);
            f->first = m->count;
            heads = true;
        } else if (heads && strncmp(line, ".param", 6) == 0) {
            PtxFunction *f = &m->functions[m->function_count - 1];
            line[strcspn(line, ",)")] = 0;
            strcpy(f->parameter_name[f->parameters++], strrchr(line, ' ') + 1);
            heads = true;
        } else if (strncmp(line, ".const", 6) == 0 || strncmp(line, ".global", 7) == 0)
            ptx_list(m, line);
        else if (strncmp(line, ".local", 6) == 0)
            ptx_local(m, line);
        else if (line[0] == '.' || strncmp(line, "{", 1) == 0)
            continue; // .reg, .version, .target
        else if (line[strlen(line) - 1] == ':') {
            line[strlen(line) - 1] = 0;
            const int label = ptx_label(m, function, line); // lists may move
            m->label_line[label] = m->count;
        } else {
            PtxLine *l = ptx_add(m);
            if (line[0] == '@') {
                l->guard_not = line[1] == '!';
                char *name = line + 1 + l->guard_not, *after = strchr(name, ' ');
                *after = 0;
                l->guard = (int)ptx_register(m, function, name);
                line = ptx_trim(after + 1);
            }
            ptx_instruction(m, function, l, line);
        }
    }
    free(text);
    for (int i = 0; i < m->label_count; i++)
        if (m->label_line[i] < 0) ptx_die("there is no label", m->labels[i]);
    return m;
}

static void ptx_free(PtxModule *m)
{
    for (int i = 0; i < m->list_count; i++) free(m->lists[i].bytes);
    for (int i = 0; i < m->label_count; i++) free(m->labels[i]);
    free(m->labels);
    free(m->label_line);
    free(m->lines);
    free(m->names);
    free(m->slots);
    free(m);
}

// ---- running -------------------------------------------------------------------------------

enum {
    PTX_UNKNOWN,
#define PTX(key, name, issues, ...) PTX_##key,
#include "ptx.def"
};

static const struct {
    const char *name;
    size_t issues; // of the unit for doubles
} ptx_rows[] = {
    {"", 0},
#define PTX(key, name, issues, ...) {name, issues},
#include "ptx.def"
};

static int ptx_operation(const char *name)
{
    for (size_t i = 1; i < sizeof ptx_rows / sizeof *ptx_rows; i++)
        if (strcmp(ptx_rows[i].name, name) == 0) return (int)i;
    ptx_die("there is no instruction", name);
    return PTX_UNKNOWN;
}

// Shifts by as much as there are bits, or more, give 0.
static uint64_t ptx_shifted(uint64_t x, uint32_t by, int bits, bool left)
{
    if (by >= (uint32_t)bits) return 0;
    return left ? x << by : x >> by;
}

static void ptx_execute(PtxModule *m, PtxWord *r, int from);

static PtxWord ptx_value(const PtxModule *m, const PtxWord *r, const PtxOperand *o)
{
    if (o->kind != PTX_REGISTER) return (PtxWord){.u = o->number.u + o->offset};
    const char *name = strstr(m->names[o->reg], "::") + 2;
    if (name[1] == 'c' && strcmp(name, "%ctaid.x") == 0) return (PtxWord){.u = m->block};
    if (name[1] == 'n' && strcmp(name, "%ntid.x") == 0) return (PtxWord){.u = m->block_size};
    if (name[1] == 't' && strcmp(name, "%tid.x") == 0) return (PtxWord){.u = m->thread};
    return o->offset ? (PtxWord){.u = r[o->reg].u + o->offset} : r[o->reg];
}

// Where a thread's number is in what a block shares; no other thread may have it.
static void *ptx_shared(PtxModule *m, uint64_t at)
{
    if (at % 8 || at + 8 > m->shared_size) ptx_die("a block does not share so much", "");
    uint32_t *owner = &m->owner[at / 8];
    if (*owner && *owner != m->thread + 1) ptx_die("two threads have one place", "");
    *owner = m->thread + 1;
    return m->shared + at;
}

static void ptx_call(PtxModule *m, PtxWord *r, const PtxLine *l)
{
    const PtxFunction *f = &m->functions[l->target];
    for (int i = f->results; i < l->operands; i++) r[f->formal[i]] = ptx_value(m, r, &l->o[i]);
    ptx_execute(m, r, f->first);
    for (int i = 0; i < f->results; i++) r[l->o[i].reg] = r[f->formal[i]];
}

static void ptx_execute(PtxModule *m, PtxWord *r, int from)
{
    for (int at = from; at < m->count; at++) {
        PtxLine *l = &m->lines[at];
        if (!l->operation) l->operation = ptx_operation(l->name);
        if (l->guard >= 0 && (r[l->guard].u != 0) == l->guard_not) continue;
        m->executed++;
        m->issues += ptx_rows[l->operation].issues;
        PtxWord x[4] = {{0}}, *to = x;
        if (l->operands && l->o[0].kind == PTX_REGISTER && !l->o[0].offset)
            to = &r[l->o[0].reg];
        else if (l->operands && l->operation != PTX_CALL)
            x[0] = ptx_value(m, r, &l->o[0]);
        for (int i = 1; i < l->operands && i < 4 && l->operation != PTX_CALL; i++)
            x[i] = ptx_value(m, r, &l->o[i]);
        const double a = x[1].d, b = x[2].d, c = x[3].d;
        const float fa = x[1].f, fb = x[2].f, fc = x[3].f;
        const uint32_t p = (uint32_t)x[1].u, q = (uint32_t)x[2].u, s = (uint32_t)x[3].u;
        const int32_t sp = (int32_t)p, sq = (int32_t)q;
        const uint64_t u = x[1].u, v = x[2].u, w = x[3].u;
        switch (l->operation) {
#define PTX(key, name, issues, ...) \
    case PTX_##key:                 \
        __VA_ARGS__;                \
        break;
#include "ptx.def"
        default: ptx_die("this is not done", l->name);
        }
    }
}

// Threads of an entry, the last function of the module, one after the other
static void ptx_launch(PtxModule *m, uint32_t blocks, uint32_t block_size)
{
    PtxWord *r = calloc(m->registers + 1u, sizeof *r);
    m->block_size = block_size;
    m->shared = malloc(m->shared_size + 1), m->owner = malloc(m->shared_size + 1);
    for (m->block = 0; m->block < blocks; m->block++) {
        memset(m->shared, 0xab, m->shared_size);
        memset(m->owner, 0, m->shared_size);
        for (m->thread = 0; m->thread < block_size; m->thread++) {
            for (int i = 0; i < m->list_count; i++)
                memset(m->lists[i].bytes, 0xab, m->lists[i].size);
            for (uint32_t i = 0; i < m->registers; i++) r[i].u = 0xfff7dead0000dead; // not set
            ptx_execute(m, r, m->functions[m->function_count - 1].first);
        }
    }
    free(m->shared);
    free(m->owner);
    free(r);
}

#endif
