// SPDX-License-Identifier: Apache-2.0
// Processes that mpirun started beside this one, and messages between them: bytes with a tag. MPI
// is loaded under mpirun alone; peers.c is the only file that knows it. Whoever sends goes on at
// once, so nobody waits for another; whoever receives asks now and then.
#ifndef TR_BASE_PEERS_H
#define TR_BASE_PEERS_H

#include "base/error.h"

typedef struct Peers Peers;

// NULL where this process is alone, and with an error where it should not be, but is.
Peers *tr_peers_open(tr_error *err);
void tr_peers_close(Peers *peers); // when all that was sent has arrived
int tr_peers_self(const Peers *peers);
int tr_peers_count(const Peers *peers);

bool tr_peers_send(Peers *peers, int to, int tag, const void *bytes, size_t count, tr_error *err);
// A message that is there, behind what `bytes` holds; false when there is none.
bool tr_peers_receive(Peers *peers, int *from, int *tag, Buffer *bytes, tr_error *err);

#endif
