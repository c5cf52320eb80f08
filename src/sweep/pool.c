// SPDX-License-Identifier: Apache-2.0
#include "sweep/pool.h"

#include "base/error.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

// Blocks for each thread that nobody has written yet, besides those of a hand
enum { MOST_THREADS = 1024, AHEAD = 3 };
enum { SECOND = 1000000000 }; // [ns]

typedef struct Pool {
    Sweep *sweep;
    const Dealer *dealer;
    pthread_mutex_t lock; // of all that follows, and of the dealer
    pthread_cond_t is_finished, has_room;
    Block *finished; // the first of a list
    size_t waiting;  // blocks in it
    size_t threads, at_work;
    tr_error err; // the first of all
} Pool;

// ---- threads --------------------------------------------------------------------------------

// The next block; NULL when there is none, or all is over, or it would have to wait.
static Block *take_block(Pool *p, bool waits, tr_error *err)
{
    Block *b = tr_block_new(p->sweep, err);
    Deal deal = {0};
    Dealt dealt = DEALT_NOTHING_YET;
    pthread_mutex_lock(&p->lock);
    while (b && dealt == DEALT_NOTHING_YET && !p->sweep->stops) {
        if (p->waiting <= (AHEAD + p->sweep->hand) * p->threads)
            dealt = p->dealer->deal(p->dealer->owner, &deal);
        if (dealt == DEALT_NOTHING_YET && !waits) break;
        if (dealt == DEALT_NOTHING_YET) pthread_cond_wait(&p->has_room, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    if (dealt == DEALT_BLOCK) return tr_block_begin(p->sweep, b, &deal), b;
    tr_block_free(b);
    return NULL;
}

// As many as a worker may have, of those that are there
static Block *take_hand(Pool *p, tr_error *err)
{
    Block *first = take_block(p, true, err), *last = first;
    for (uint32_t n = 1; last && n < p->sweep->hand; n++) {
        last->next = take_block(p, false, err);
        last = last->next;
    }
    return first;
}

static void give_back(Pool *p, Block *hand)
{
    pthread_mutex_lock(&p->lock);
    for (Block *next; hand; hand = next) {
        next = hand->next;
        hand->next = p->finished, p->finished = hand;
        p->waiting++;
    }
    pthread_cond_signal(&p->is_finished);
    pthread_mutex_unlock(&p->lock);
}

static void throw_away(Block *hand)
{
    for (Block *next; hand; hand = next) {
        next = hand->next;
        tr_block_free(hand);
    }
}

static void *work(void *owner)
{
    Pool *p = owner;
    tr_error err = {0};
    const Task *task = p->sweep->task;
    void *worker = task->open(p->sweep, &err);
    Block *hand;
    while (worker && (hand = take_hand(p, &err))) {
        if (!err.status && task->work(worker, hand, &err))
            give_back(p, hand);
        else
            throw_away(hand);
        if (err.status) break;
    }
    task->close(worker);
    pthread_mutex_lock(&p->lock);
    if (err.status && !p->err.status) p->err = err;
    if (err.status) p->sweep->stops = true;
    p->at_work--;
    pthread_cond_broadcast(&p->has_room);
    pthread_cond_signal(&p->is_finished);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

// ---- writing --------------------------------------------------------------------------------

// What is finished by now, or after a pause; false when nothing will be any more.
static bool wait_for_blocks(Pool *p, double most, Block **blocks)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(most * SECOND);
    if (until.tv_nsec >= SECOND) until.tv_sec++, until.tv_nsec -= SECOND;
    pthread_mutex_lock(&p->lock);
    int late = 0;
    while (!p->finished && p->at_work && !late)
        late = pthread_cond_timedwait(&p->is_finished, &p->lock, &until);
    *blocks = p->finished;
    p->finished = NULL, p->waiting = 0;
    const bool goes_on = *blocks || p->at_work;
    pthread_cond_broadcast(&p->has_room);
    pthread_mutex_unlock(&p->lock);
    return goes_on;
}

static void stop(Pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->sweep->stops = true;
    pthread_cond_broadcast(&p->has_room);
    pthread_mutex_unlock(&p->lock);
}

static void write_all(Pool *p, const Writer *w, tr_error *err)
{
    Block *blocks;
    bool goes_on = true;
    while (wait_for_blocks(p, w->most_pause, &blocks)) {
        for (Block *next; blocks; blocks = next) {
            next = blocks->next;
            goes_on = goes_on && w->block(w->owner, blocks, err);
            tr_block_free(blocks);
        }
        goes_on = goes_on && w->pause(w->owner, err) && !has_failed(err);
        if (!goes_on) stop(p);
    }
}

// ---- all of it ------------------------------------------------------------------------------

// Those that this process may run on
static size_t count_processors(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return (size_t)CPU_COUNT(&allowed);
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 ? (size_t)processors : 1;
}

size_t tr_pool_threads(const Sweep *s, size_t threads)
{
    if (!threads) threads = count_processors();
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    return threads > s->block_count ? (size_t)s->block_count : threads;
}

static void start(Pool *p, pthread_t *threads, size_t wanted)
{
    pthread_mutex_lock(&p->lock); // until all of them are counted
    for (; p->threads < wanted; p->threads++)
        if (pthread_create(&threads[p->threads], NULL, work, p)) break;
    p->at_work = p->threads;
    if (!p->threads) tr_fail(&p->err, TR_FAILED, (Place){0}, "no thread could be started");
    pthread_mutex_unlock(&p->lock);
}

bool tr_pool_run(Sweep *s, const Dealer *dealer, size_t wanted, const Writer *writer, tr_error *err)
{
    wanted = tr_pool_threads(s, wanted);
    Pool p = {.sweep = s,
              .dealer = dealer,
              .lock = PTHREAD_MUTEX_INITIALIZER,
              .is_finished = PTHREAD_COND_INITIALIZER,
              .has_room = PTHREAD_COND_INITIALIZER};
    pthread_t *threads = calloc(wanted + 1, sizeof *threads);
    if (!threads) return tr_fail_memory(err), false;
    start(&p, threads, wanted);
    write_all(&p, writer, err);
    for (size_t i = 0; i < p.threads; i++) pthread_join(threads[i], NULL);
    if (p.err.status) tr_fail(err, p.err.status, (Place){0}, "%s", p.err.text);
    free(threads);
    return !has_failed(err);
}
