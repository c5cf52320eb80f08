// SPDX-License-Identifier: Apache-2.0
#include "sweep/ranks.h"

#include "base/error.h"
#include "base/sha256.h"
#include "sweep/pack.h"
#include "sweep/settings.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ASK, DEAL, RESULT, BYE, STOP, END };
enum { ROOM = 64 };             // blocks that a process may have before it
static const double nap = 1e-3; // [s] between looks at what has come

typedef struct Ask {
    char settings[TR_SHA256_SIZE];
    uint32_t room;
} Ask;

typedef struct Bye {
    tr_status status;
    bool is_interrupted;
    char words[sizeof((tr_error *)0)->text];
} Bye;

static bool hash_settings(const Sweep *s, char hex[TR_SHA256_SIZE], tr_error *err)
{
    Sha256 sha;
    SweepSettings settings = {0};
    tr_sweep_settings(s, &settings, err);
    tr_sha256_begin(&sha);
    for (uint32_t i = 0; i < settings.count; i++)
        tr_sha256_add(&sha, settings.at[i].value, strlen(settings.at[i].value) + 1);
    tr_sha256_end(&sha, hex);
    tr_sweep_settings_free(&settings);
    return !has_failed(err);
}

static void rest(void) { nanosleep(&(struct timespec){.tv_nsec = (long)(nap * 1e9)}, NULL); }

// ---- the first ------------------------------------------------------------------------------

typedef struct Lead {
    Peers *peers;
    Sweep *sweep;
    Deck *deck; // NULL: there is nothing more to deal
    const Writer *writer;
    char settings[TR_SHA256_SIZE];
    int there; // others that have not said good-bye
    bool is_interrupted, has_stopped;
} Lead;

static void stop_all(Lead *l, tr_error *err)
{
    if (l->has_stopped) return;
    l->has_stopped = true, l->deck = NULL;
    tr_error unused = {0};
    if (!has_failed(err)) err = &unused;
    for (int i = 1; i < tr_peers_count(l->peers); i++)
        tr_peers_send(l->peers, i, STOP, NULL, 0, &unused);
}

static void answer(Lead *l, int from, const Buffer *message, tr_error *err)
{
    Ask ask;
    Deal deals[ROOM];
    uint32_t count = 0;
    if (message->length != sizeof ask) return;
    memcpy(&ask, message->at, sizeof ask);
    if (l->deck && memcmp(ask.settings, l->settings, sizeof ask.settings) != 0)
        tr_fail(err, TR_USAGE, (Place){0},
                "process %d has another model, or other settings, than the first", from);
    while (l->deck && !has_failed(err) && count < ask.room && count < ROOM &&
           tr_deck_deal(l->deck, &deals[count]) == DEALT_BLOCK)
        count++;
    tr_peers_send(l->peers, from, DEAL, deals, count * sizeof *deals, err);
}

static void take_result(const Lead *l, const Buffer *message, tr_error *err)
{
    Block *b = l->sweep && !has_failed(err)
                   ? tr_block_unpack(l->sweep, message->at, message->length, err)
                   : NULL;
    if (b) l->writer->block(l->writer->owner, b, err);
    tr_block_free(b);
}

static void take_bye(Lead *l, int from, const Buffer *message, tr_error *err)
{
    Bye bye;
    l->there--;
    tr_peers_send(l->peers, from, END, NULL, 0, err);
    if (message->length != sizeof bye) return;
    memcpy(&bye, message->at, sizeof bye);
    bye.words[sizeof bye.words - 1] = 0;
    if (bye.status) tr_fail(err, bye.status, (Place){0}, "process %d: %s", from, bye.words);
    l->is_interrupted |= bye.is_interrupted;
}

// All that has come
static void attend(Lead *l, tr_error *err)
{
    int from, tag;
    Buffer message = {0};
    while (tr_peers_receive(l->peers, &from, &tag, &message, err)) {
        if (tag == ASK) answer(l, from, &message, err);
        if (tag == RESULT) take_result(l, &message, err);
        if (tag == BYE) take_bye(l, from, &message, err);
        message.length = 0;
    }
    tr_buffer_free(&message);
    if (has_failed(err) || l->is_interrupted) stop_all(l, err);
}

static bool lead_on(void *owner, tr_error *err)
{
    Lead *l = owner;
    attend(l, err);
    if (!has_failed(err) && !l->writer->pause(l->writer->owner, err)) l->is_interrupted = true;
    return !has_failed(err) && !l->is_interrupted;
}

static bool lead_block(void *owner, const Block *b, tr_error *err)
{
    const Lead *l = owner;
    return l->writer->block(l->writer->owner, b, err);
}

bool tr_ranks_lead(Peers *peers, Sweep *s, Deck *deck, const Writer *writer, tr_error *err)
{
    Lead l = {.peers = peers,
              .sweep = s,
              .deck = deck,
              .writer = writer,
              .there = tr_peers_count(peers) - 1};
    if (deck && hash_settings(s, l.settings, err)) {
        const Dealer dealer = {tr_deck_deal, deck};
        const Writer own = {lead_block, lead_on, &l, nap};
        tr_pool_run(s, &dealer, s->options->jobs, &own, err);
    }
    while (l.there) {
        if (deck && !l.is_interrupted && !has_failed(err))
            lead_on(&l, err);
        else
            stop_all(&l, err), attend(&l, err);
        rest();
    }
    return !has_failed(err) && !l.is_interrupted;
}

// ---- the others -----------------------------------------------------------------------------

typedef struct Follow {
    Peers *peers;
    Sweep *sweep;
    Ask ask;
    bool has_asked, is_interrupted, has_ended;
    pthread_mutex_t lock; // of all that follows
    Deal deals[ROOM];     // a ring
    uint32_t first, count;
    bool has_all; // no more will come
} Follow;

static Dealt deal_own(void *owner, Deal *deal)
{
    Follow *f = owner;
    pthread_mutex_lock(&f->lock);
    const Dealt dealt = f->count ? DEALT_BLOCK : f->has_all ? DEALT_ALL : DEALT_NOTHING_YET;
    if (f->count) {
        *deal = f->deals[f->first];
        f->first = (f->first + 1) % ROOM, f->count--;
    }
    pthread_mutex_unlock(&f->lock);
    return dealt;
}

static void take_deals(Follow *f, const Buffer *message)
{
    const size_t count = message->length / sizeof(Deal);
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < count && f->count < ROOM; i++)
        memcpy(&f->deals[(f->first + f->count++) % ROOM], message->at + i * sizeof(Deal),
               sizeof(Deal));
    f->has_all = count == 0;
    f->has_asked = false;
    pthread_mutex_unlock(&f->lock);
}

static void listen_to_first(Follow *f, tr_error *err)
{
    int from, tag;
    Buffer message = {0};
    while (tr_peers_receive(f->peers, &from, &tag, &message, err)) {
        if (tag == DEAL) take_deals(f, &message);
        if (tag == STOP && f->sweep) f->sweep->stops = true;
        if (tag == END) f->has_ended = true;
        message.length = 0;
    }
    tr_buffer_free(&message);
}

// As many as are being worked on are wanted beforehand: then nobody waits, and the last are shared.
static void ask_for_more(Follow *f, uint32_t at_work, tr_error *err)
{
    pthread_mutex_lock(&f->lock);
    if (at_work > ROOM / 2) at_work = ROOM / 2;
    const bool asks = !f->has_asked && !f->has_all && f->count < at_work;
    f->ask.room = 2 * at_work - f->count;
    pthread_mutex_unlock(&f->lock);
    if (!asks) return;
    f->has_asked = true;
    tr_peers_send(f->peers, 0, ASK, &f->ask, sizeof f->ask, err);
}

static bool follow_on(void *owner, tr_error *err)
{
    Follow *f = owner;
    const tr_sweep_options *o = f->sweep->options;
    ask_for_more(f, (uint32_t)tr_pool_threads(f->sweep, o->jobs), err);
    listen_to_first(f, err);
    f->is_interrupted = o->progress && !o->progress(o->owner, 0, 0, f->sweep->design.runs);
    return !has_failed(err) && !f->is_interrupted && !f->sweep->stops;
}

static bool send_block(void *owner, const Block *b, tr_error *err)
{
    const Follow *f = owner;
    Buffer bytes = {0};
    tr_block_pack(f->sweep, b, &bytes);
    if (bytes.failed) tr_fail_memory(err);
    const bool is_sent =
        !has_failed(err) && tr_peers_send(f->peers, 0, RESULT, bytes.at, bytes.length, err);
    tr_buffer_free(&bytes);
    return is_sent;
}

static void say_good_bye(Follow *f, const tr_error *why)
{
    tr_error err = {0};
    Bye bye = {.status = why->status, .is_interrupted = f->is_interrupted};
    snprintf(bye.words, sizeof bye.words, "%s", why->text);
    tr_peers_send(f->peers, 0, BYE, &bye, sizeof bye, &err);
    while (!f->has_ended && !err.status) {
        listen_to_first(f, &err);
        rest();
    }
}

void tr_ranks_follow(Peers *peers, Sweep *s, tr_error *err)
{
    Follow f = {.peers = peers, .sweep = s, .lock = PTHREAD_MUTEX_INITIALIZER};
    if (s && hash_settings(s, f.ask.settings, err)) {
        const Dealer dealer = {deal_own, &f};
        const Writer writer = {send_block, follow_on, &f, nap};
        tr_pool_run(s, &dealer, s->options->jobs, &writer, err);
    }
    say_good_bye(&f, err);
    *err = (tr_error){0};
}
