// SPDX-License-Identifier: Apache-2.0
#include "sweep/deck.h"

static uint64_t runs_before(const Deck *d, uint64_t number)
{
    const Sweep *s = d->sweep;
    const uint64_t first = number * s->block_size;
    uint64_t before = 0;
    for (uint32_t i = 0; d->is_done && i < s->block_size; i++) {
        const uint64_t run = first + i;
        if (run < s->design.runs && d->is_done[run / 8] >> run % 8 & 1) before |= UINT64_C(1) << i;
    }
    return before;
}

static uint32_t block_runs(const Sweep *s, uint64_t number)
{
    const uint64_t left = s->design.runs - number * s->block_size;
    return left < s->block_size ? (uint32_t)left : s->block_size;
}

static uint64_t stride(const Sweep *s) { return s->options->shards ? s->options->shards : 1; }

void tr_deck_open(Deck *d, const Sweep *s, const uint8_t *is_done)
{
    *d = (Deck){.sweep = s, .is_done = is_done, .next = s->options->shard};
    pthread_mutex_init(&d->lock, NULL);
    if (d->next >= s->block_count) return;
    const uint64_t blocks = (s->block_count - d->next - 1) / stride(s) + 1;
    const uint64_t last = d->next + (blocks - 1) * stride(s);
    d->runs = (size_t)((blocks - 1) * s->block_size + block_runs(s, last));
    for (uint64_t number = d->next; is_done && number < s->block_count; number += stride(s))
        d->before += (size_t)__builtin_popcountll(runs_before(d, number));
}

void tr_deck_close(Deck *d) { pthread_mutex_destroy(&d->lock); }

Dealt tr_deck_deal(void *owner, Deal *deal)
{
    Deck *d = owner;
    const Sweep *s = d->sweep;
    pthread_mutex_lock(&d->lock);
    bool has = false;
    while (!has && d->next < s->block_count) {
        *deal = (Deal){d->next, runs_before(d, d->next)};
        has = (uint32_t)__builtin_popcountll(deal->before) < block_runs(s, d->next);
        d->next += stride(s);
    }
    pthread_mutex_unlock(&d->lock);
    return has ? DEALT_BLOCK : DEALT_ALL;
}
