// SPDX-License-Identifier: Apache-2.0
// A sweep from its options to its results.
#include "sweep/sweep.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/options.h"
#include "sweep/pool.h"
#include "sweep/ranks.h"
#include "sweep/simulating.h"
#include "sweep/store.h"
#include "sweep/variant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const Task tasks[] = {
#define TASK(name, ...) {name, __VA_ARGS__},
#include "sweep/task.def"
};
enum { TASKS = sizeof tasks / sizeof *tasks };

void tr_sweep_fill(tr_sweep_options *options, size_t size)
{
    const double open = (double)NAN;
    const tr_sweep_options plain = {
        .end = open, .every = open, .step = open, .rtol = open, .atol = open};
    tr_give_options(options, size, &plain, sizeof plain);
}

// ---- columns --------------------------------------------------------------------------------

// Databases do not tell capitals: a name like one before gets a number behind it.
static const char *other_name(Arena *arena, const char *const *names, uint32_t count,
                              const char *const *reserved, const char *name)
{
    char other[300];
    const char *tried = name;
    for (int k = 2;; k++) {
        bool is_taken = false;
        for (uint32_t i = 0; i < count; i++) is_taken |= strcasecmp(names[i], tried) == 0;
        for (; *reserved && !is_taken; reserved++) is_taken = strcasecmp(*reserved, tried) == 0;
        if (!is_taken) return tried == name ? name : tr_arena_text(arena, other, strlen(other));
        snprintf(other, sizeof other, "%.280s_%d", name, k);
        tried = other;
    }
}

static bool tell_apart(Arena *arena, const char **names, uint32_t count,
                       const char *const *reserved, tr_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        names[i] = other_name(arena, names, i, reserved, names[i]);
        if (!names[i]) return tr_fail_memory(err), false;
    }
    return true;
}

bool tr_sweep_rows(Sweep *s, uint32_t count, tr_error *err)
{
    s->row_names = tr_arena_alloc(&s->arena, 2 * (size_t)count + 1, sizeof *s->row_names);
    if (!s->row_names) return tr_fail_memory(err), false;
    s->row_units = s->row_names + count, s->row_count = count;
    return true;
}

static void list_final(Buffer *list, bool is_run, const char *name)
{
    if (!tr_formula_is_name(text_of(name))) return;
    tr_buffer_print(list, list->length ? ", " : "");
    tr_buffer_print(list, is_run ? "final(%s)" : "%s=final(%s)", name, name);
}

// Of runs final values of outputs, or else of coordinates; of what has one row all of it
static const char *default_keep(Sweep *s, tr_error *err)
{
    Buffer list = {0};
    const System *y = s->system;
    const bool is_run = s->task == &tasks[0];
    for (uint32_t i = 0; is_run && i < y->output_count; i++)
        if (y->outputs[i].label && begins_with(y->outputs[i].name, "outputs."))
            list_final(&list, true, y->outputs[i].label);
    for (uint32_t i = 0; is_run && !list.length && i < y->input_count; i++)
        if (y->inputs[i].kind == TR_POSITION) list_final(&list, true, y->inputs[i].name);
    for (uint32_t i = 0; !is_run && i < s->row_count; i++)
        if (strcmp(s->row_names[i], "t") != 0) list_final(&list, false, s->row_names[i]);
    const char *text = tr_arena_text(&s->arena, list.at ? list.at : "", list.length);
    if (list.failed || !text) tr_fail_memory(err);
    tr_buffer_free(&list);
    return text;
}

static bool name_columns(Sweep *s, tr_error *err)
{
    static const char *const of_runs[] = {"run", "seconds", "status", "words", NULL};
    static const char *const of_rows[] = {"run", "row", NULL};
    static const char *const figures[] = {
#define FIGURE(id, name, unit) name,
#include "sweep/figure.def"
    };
    static const char *const units[] = {
#define FIGURE(id, name, unit) unit,
#include "sweep/figure.def"
    };
    const uint32_t count = figures_at(s) + FIGURES;
    s->names = tr_arena_alloc(&s->arena, 2 * (size_t)count, sizeof *s->names);
    if (!s->names) return tr_fail_memory(err), false;
    s->units = s->names + count, s->column_count = count;
    for (uint32_t i = 0; i < count; i++) s->units[i] = "";
    for (uint32_t i = 0; i < s->design.count; i++) {
        s->names[i] = s->design.varied[i].name;
        s->units[i] = tr_input_unit(s->system, s->design.varied[i].input);
    }
    for (uint32_t i = 0; i < s->keep.count; i++) s->names[kept_at(s) + i] = s->keep.kept[i].name;
    for (uint32_t i = 0; i < FIGURES; i++) {
        s->names[figures_at(s) + i] = figures[i];
        s->units[figures_at(s) + i] = units[i];
    }
    return tell_apart(&s->arena, s->names, count, of_runs, err) &&
           tell_apart(&s->arena, s->row_names, s->row_count, of_rows, err);
}

// ---- before ---------------------------------------------------------------------------------

static bool refuse_option(const Task *task, const char *option, tr_error *err)
{
    char others[100] = "";
    for (int i = 0; i < TASKS; i++)
        if (tr_is_listed(tasks[i].options, option))
            tr_list_name(others, sizeof others, tasks[i].name);
    tr_fail(err, TR_USAGE, (Place){0}, "%s has no effect with '%s': it is for %s", option,
            task->name, others);
    return false;
}

// What was given for something else than is done
static bool check_options(const Sweep *s, tr_error *err)
{
    const tr_sweep_options *o = s->options;
    const struct {
        const char *name;
        bool is_given;
    } options[] = {
        {"--end", !isnan(o->end)},   {"--every", !isnan(o->every)}, {"--method", o->method},
        {"--step", !isnan(o->step)}, {"--rtol", !isnan(o->rtol)},   {"--atol", !isnan(o->atol)},
        {"--free", o->free},         {"--hold", o->hold_count},     {"--by", o->by},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].is_given && !tr_is_listed(s->task->options, options[i].name))
            return refuse_option(s->task, options[i].name, err);
    return true;
}

static bool choose_task(Sweep *s, tr_error *err)
{
    const char *what = s->options->what ? s->options->what : tasks[0].name;
    char names[100] = "";
    for (int i = 0; i < TASKS; i++) {
        if (strcmp(what, tasks[i].name) == 0) return s->task = &tasks[i], true;
        tr_list_name(names, sizeof names, tasks[i].name);
    }
    tr_fail(err, TR_USAGE, (Place){0}, "there is no '%.60s' to do: there are %s", what, names);
    return false;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// Large enough to be worth the way to a GPU, and small enough that all have something to do; of
// what is many, several times, so that some are there while others start runs.
static void share_out(Sweep *s)
{
    enum { FEW = 64, MANY = 256, TIMES = 4 };
    const size_t threads = tr_pool_threads(s, s->options->jobs);
    const uint64_t each = threads ? (s->block_count + threads - 1) / threads : 1;
    const uint64_t wanted = each / TIMES > MANY ? each / TIMES : least(each, MANY);
    s->hand = (uint32_t)least(s->hand, wanted > FEW ? wanted : FEW);
    if (s->block_count < s->hand) s->hand = (uint32_t)s->block_count;
}

static bool check_place(const Sweep *s, tr_error *err)
{
    const char *on = s->options->on;
    if (!on || strcmp(on, "cpu") == 0) return true;
    if (strcmp(on, "gpu") != 0)
        tr_fail(err, TR_USAGE, (Place){0}, "runs are made on 'cpu' or 'gpu', not on '%.60s'", on);
    else if (s->task != &tasks[0])
        tr_fail(err, TR_USAGE, (Place){0}, "a GPU makes steps of runs, and '%s' has none",
                s->task->name);
    return !has_failed(err);
}

static bool open_sweep(Sweep *s, tr_error *err)
{
    const tr_sweep_options *o = s->options;
    if (!choose_task(s, err) || !check_options(s, err) || !check_place(s, err)) return false;
    if (o->shard && o->shard >= o->shards) {
        tr_fail(err, TR_USAGE, (Place){0}, "there is no shard %zu of %zu", o->shard + 1, o->shards);
        return false;
    }
    s->system = tr_derive(s->model, s->derive, err);
    s->plan = tr_plan_new(s->system, err);
    if (!s->plan || !tr_design_make(&s->design, s->system, o, err) || !s->task->prepare(s, err))
        return false;
    const char *keep = o->keep ? o->keep : default_keep(s, err);
    if (has_failed(err) ||
        !tr_keep_make(&s->keep, keep, o->stop, s->row_names, s->row_count, &s->design, err) ||
        !tr_keep_ends(&s->keep, s->end, err))
        return false;
    s->block_count = (s->design.runs + s->block_size - 1) / s->block_size;
    share_out(s);
    return name_columns(s, err);
}

void tr_sweep_tell_place(const Sweep *s, const char *words, size_t steps)
{
    MadeOn *m = s->made_on;
    if (!m) return;
    pthread_mutex_lock(&m->lock);
    m->steps += steps;
    if (!m->words[0] || begins_with(words, "the CPU")) // what went wrong is told
        snprintf(m->words, sizeof m->words, "%s", words);
    pthread_mutex_unlock(&m->lock);
}

static void close_sweep(Sweep *s)
{
    tr_keep_free(&s->keep);
    tr_design_free(&s->design);
    tr_plan_free(s->plan);
    tr_system_free(s->system);
    tr_arena_free(&s->arena);
}

// ---- writing --------------------------------------------------------------------------------

#define COMMIT 0.5 // [s] so that no more than a second is lost

typedef struct Writing {
    Sweep *sweep;
    Store *store; // NULL when there is none
    tr_sweep_summary *summary;
    double committed; // when
} Writing;

static void note(const Block *b, uint32_t i, tr_sweep_summary *summary)
{
    summary->done++;
    if (!b->status[i]) return;
    if (!summary->words[0] || b->run[i] < summary->first_failed) {
        summary->first_failed = b->run[i];
        snprintf(summary->words, sizeof summary->words, "%s", b->words[i] ? b->words[i] : "");
    }
    summary->failed++;
}

static bool tell(const Sweep *s, const Block *b, uint32_t i, tr_error *err)
{
    const tr_sweep_run run = {.number = b->run[i],
                              .status = b->status[i],
                              .is_stopped = b->is_stopped[i],
                              .words = b->words[i] ? b->words[i] : "",
                              .values = block_values(s, b, i),
                              .seconds = b->seconds[i],
                              .rows = b->rows[i].at,
                              .row_count = b->rows[i].count,
                              .row_names = s->row_names,
                              .row_units = s->row_units,
                              .row_columns = s->row_count};
    for (size_t k = 0; k < s->options->sink_count; k++) {
        const tr_sweep_sink *sink = &s->options->sinks[k];
        if (sink->run && !sink->run(sink->owner, &run, err)) return false;
    }
    return true;
}

static bool write_block(void *owner, const Block *b, tr_error *err)
{
    Writing *w = owner;
    if (w->store && !w->store->block(w->store, b, err)) return false;
    for (uint32_t i = 0; i < b->count; i++) {
        note(b, i, w->summary);
        if (!tell(w->sweep, b, i, err)) return false;
    }
    return true;
}

static bool pause_writing(void *owner, tr_error *err)
{
    Writing *w = owner;
    const tr_sweep_options *o = w->sweep->options;
    const tr_sweep_summary *s = w->summary;
    const double now = seconds_now();
    if (w->store && w->store->commit && now >= w->committed + COMMIT) {
        w->committed = now;
        if (!w->store->commit(w->store, err)) return false;
    }
    if (!o->progress || o->progress(o->owner, s->done, s->failed, s->runs)) return true;
    w->summary->interrupted = true;
    return false;
}

static bool begin_sinks(const Sweep *s, tr_error *err)
{
    for (size_t i = 0; i < s->options->sink_count; i++) {
        const tr_sweep_sink *sink = &s->options->sinks[i];
        if (sink->begin &&
            !sink->begin(sink->owner, s->design.runs, s->names, s->units, s->column_count, err))
            return false;
    }
    return !has_failed(err);
}

// "x.db" or a table; NULL and an error
static Store *open_store(const Sweep *s, const char *path, tr_error *err)
{
    if (ends_with(path, ".db")) return tr_runs_database_open(s, path, err);
    if (s->options->record && !s->options->sink_count) {
        tr_fail(err, TR_USAGE, (Place){0},
                "rows of runs go to a .db file; '%.200s' has the table of runs alone", path);
        return NULL;
    }
    if (ends_with(path, ".csv") || strcmp(path, "-") == 0 || !strchr(path, '.'))
        return tr_table_open(s, path, err);
    tr_fail(err, TR_USAGE, (Place){0}, "results go to a .db or .csv file, not to '%.200s'", path);
    return NULL;
}

static void run_all(Sweep *s, Peers *peers, tr_sweep_summary *summary, tr_error *err)
{
    const char *output = s->options->output;
    Deck deck;
    Writing w = {.sweep = s, .summary = summary, .committed = seconds_now()};
    const Writer writer = {write_block, pause_writing, &w, 0.1};
    const Dealer dealer = {tr_deck_deal, &deck};
    if (output) w.store = open_store(s, output, err);
    tr_deck_open(&deck, s, w.store && w.store->done ? w.store->is_done : NULL);
    summary->runs = deck.runs, summary->before = summary->done = deck.before;
    if (w.store) summary->failed = w.store->failed;
    const bool has_begun = !has_failed(err) && begin_sinks(s, err);
    if (peers) // of whom one alone may have been stopped
        summary->interrupted |=
            !tr_ranks_lead(peers, s, has_begun ? &deck : NULL, &writer, err) && !has_failed(err);
    else if (has_begun)
        tr_pool_run(s, &dealer, s->options->jobs, &writer, err);
    tr_deck_close(&deck);
    if (w.store) w.store->close(w.store, err);
}

// In one of several processes; what goes wrong before the work is told to the others, too.
static void share(Sweep *s, Peers *peers, tr_sweep_summary *summary, tr_error *err)
{
    Sweep *ready = has_failed(err) ? NULL : s;
    summary->follows = tr_peers_self(peers) > 0;
    if (summary->follows)
        tr_ranks_follow(peers, ready, err);
    else if (ready)
        run_all(s, peers, summary, err);
    else
        tr_ranks_lead(peers, NULL, NULL, NULL, err);
}

bool tr_sweep(const tr_model *model, const tr_derive_options *derive,
              const tr_sweep_options *options, tr_sweep_summary *summary, tr_error *err)
{
    tr_error local = {0};
    tr_sweep_summary unused;
    if (!err) err = &local;
    if (!summary) summary = &unused;
    *summary = (tr_sweep_summary){0};
    tr_sweep_options o = tr_sweep_defaults();
    tr_error own = {0}; // beside that of the model, which the others are told, too
    tr_take_options(&o, sizeof o, options, "tr_sweep_defaults", &own);
    if (!has_failed(err)) *err = own;
    if (own.status || (!model && !has_failed(err))) return false;
    const double started = seconds_now();
    MadeOn made_on = {.lock = PTHREAD_MUTEX_INITIALIZER};
    Sweep s = {.options = &o, .model = model, .derive = derive, .hand = 1, .made_on = &made_on};
    Peers *peers = o.shares ? tr_peers_open(&own) : NULL;
    if (!has_failed(err)) *err = own;
    if (!has_failed(err)) open_sweep(&s, err);
    if (peers)
        share(&s, peers, summary, err);
    else if (!has_failed(err))
        run_all(&s, NULL, summary, err);
    tr_peers_close(peers);
    close_sweep(&s);
    snprintf(summary->on, sizeof summary->on, "%s", made_on.words);
    summary->steps_on_gpu = made_on.steps;
    summary->seconds = seconds_now() - started;
    return !has_failed(err);
}
