// SPDX-License-Identifier: Apache-2.0
// A sweep in several processes: the first deals blocks to all, works on some itself, and alone
// writes. What the others do is taken from their messages; a process that is lost takes its blocks
// with it, which the next start does again.
//
//   ASK     to the first: which settings there are, and for how many blocks there is room
//   DEAL    from it: blocks; none of them: there will be no more
//   RESULT  to the first: a finished block
//   BYE     to the first: all was sent, and what went wrong
//   STOP    from the first: give up
//   END     from it: the last message
#ifndef TR_SWEEP_RANKS_H
#define TR_SWEEP_RANKS_H

#include "base/peers.h"
#include "sweep/pool.h"

// The first: `deck` may be NULL, when there is nothing to deal because of an error. False when it
// was interrupted, or with an error, also of others.
bool tr_ranks_lead(Peers *peers, Sweep *sweep, Deck *deck, const Writer *writer, tr_error *err);
// The others; an error is told to the first, and is none any more. `sweep` may be NULL, too.
void tr_ranks_follow(Peers *peers, Sweep *sweep, tr_error *err);

#endif
