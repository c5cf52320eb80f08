// SPDX-License-Identifier: Apache-2.0
#include "sweep/pool.h"

#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 1024, AHEAD = 4 }; // blocks for each thread that nobody has written yet
enum { PAUSE = 100000000, SECOND = 1000000000 }; // [ns]

typedef struct Pool {
    Sweep *sweep;
    const uint8_t *is_done;
    pthread_mutex_t lock; // of all that follows
    pthread_cond_t is_finished, has_room;
    uint64_t next;   // block
    Block *finished; // the first of a list
    size_t waiting;  // blocks in it
    size_t threads, at_work;
    tr_error err; // the first of all
} Pool;

// ---- threads --------------------------------------------------------------------------------

// The next block that has runs; NULL when there is none, or all is over.
static Block *take_block(Pool *p, tr_error *err)
{
    Block *b = tr_block_new(p->sweep, err);
    uint64_t number;
    bool good = b != NULL;
    do {
        pthread_mutex_lock(&p->lock);
        while (!p->sweep->stops && p->waiting > AHEAD * p->threads)
            pthread_cond_wait(&p->has_room, &p->lock);
        number = p->next;
        good = good && number < p->sweep->block_count && !p->sweep->stops;
        p->next += good;
        pthread_mutex_unlock(&p->lock);
    } while (good && !tr_block_number(p->sweep, b, number, p->is_done));
    if (good) return b;
    tr_block_free(b);
    return NULL;
}

static void give_back(Pool *p, Block *b)
{
    pthread_mutex_lock(&p->lock);
    b->next = p->finished, p->finished = b;
    p->waiting++;
    pthread_cond_signal(&p->is_finished);
    pthread_mutex_unlock(&p->lock);
}

static void *work(void *owner)
{
    Pool *p = owner;
    tr_error err = {0};
    const Task *task = p->sweep->task;
    void *worker = task->open(p->sweep, &err);
    Block *b;
    while (worker && (b = take_block(p, &err))) {
        if (task->work(worker, b, &err))
            give_back(p, b);
        else
            tr_block_free(b);
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
static bool wait_for_blocks(Pool *p, Block **blocks)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PAUSE;
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
    while (wait_for_blocks(p, &blocks)) {
        for (Block *next; blocks; blocks = next) {
            next = blocks->next;
            if (!has_failed(err) && !w->block(w->owner, blocks, err)) stop(p);
            tr_block_free(blocks);
        }
        if (!has_failed(err) && !w->pause(w->owner, err)) stop(p);
        if (has_failed(err)) stop(p);
    }
}

// ---- all of it ------------------------------------------------------------------------------

static size_t choose_threads(const Sweep *s, size_t threads)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (!threads) threads = processors > 0 ? (size_t)processors : 1;
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

bool tr_pool_run(Sweep *s, const uint8_t *is_done, size_t wanted, const Writer *writer,
                 tr_error *err)
{
    wanted = choose_threads(s, wanted);
    Pool p = {.sweep = s,
              .is_done = is_done,
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
