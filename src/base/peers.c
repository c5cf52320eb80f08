// SPDX-License-Identifier: Apache-2.0
#include "base/peers.h"

#include <limits.h>
#include <stdlib.h>

// As mpirun tells those that it starts
static int started_together(void)
{
    const char *count = getenv("OMPI_COMM_WORLD_SIZE");
    return count ? atoi(count) : 1;
}

#ifdef TR_MPI
#include "base/late.h"

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#define LIBRARY ((size_t)32 << 20) // mapped

// The functions that are used
// clang-format off
#define MPI_FUNCTIONS(X)                                                            \
    X(Initialized) X(Init_thread) X(Finalize) X(Finalized) X(Comm_rank) X(Comm_size) \
    X(Iprobe) X(Get_count) X(Recv) X(Isend) X(Test)
// clang-format on

static struct Mpi {
#define MEMBER(name) __typeof__(MPI_##name) *name;
    MPI_FUNCTIONS(MEMBER)
#undef MEMBER
    void *world, *byte; // what stands for all processes, and for bytes
} mpi;

#define NAME(name) "MPI_" #name,
static const char *const names[] = {MPI_FUNCTIONS(NAME) "ompi_mpi_comm_world", "ompi_mpi_byte"};
#undef NAME
_Static_assert(sizeof mpi == sizeof names, "a pointer for each name");

// A message on its way
typedef struct Letter {
    MPI_Request request;
    struct Letter *next;
    char bytes[];
} Letter;

struct Peers {
    int self, count;
    Letter *letters;
};

static void finish(void)
{
    int is_over = 0;
    if (mpi.Finalized(&is_over) == MPI_SUCCESS && !is_over) mpi.Finalize();
}

static bool begin(tr_error *err)
{
    static Late library = {.need = "processes beside each other need MPI",
                           .files = {"libmpi.so.40", "libmpi.so"},
                           .names = names,
                           .count = sizeof names / sizeof *names,
                           .functions = &mpi,
                           .is_global = true}; // for what it loads itself
    int is_there = 0, level;
    if (!tr_late_load(&library, LIBRARY, err)) return false;
    mpi.Initialized(&is_there);
    if (is_there) return true;
    if (mpi.Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return tr_fail(err, TR_FAILED, (Place){0}, "MPI cannot be started"), false;
    return atexit(finish) == 0;
}

Peers *tr_peers_open(tr_error *err)
{
    if (has_failed(err) || started_together() < 2 || !begin(err)) return NULL;
    Peers *p = calloc(1, sizeof *p);
    if (!p) return tr_fail_memory(err), NULL;
    mpi.Comm_rank(mpi.world, &p->self);
    mpi.Comm_size(mpi.world, &p->count);
    return p;
}

static void forget_arrived(Peers *p)
{
    for (Letter **at = &p->letters; *at;) {
        Letter *letter = *at;
        int has_arrived = 0;
        mpi.Test(&letter->request, &has_arrived, MPI_STATUS_IGNORE);
        if (has_arrived) {
            *at = letter->next;
            free(letter);
        } else {
            at = &letter->next;
        }
    }
}

void tr_peers_close(Peers *p)
{
    while (p && p->letters) forget_arrived(p);
    free(p);
}

int tr_peers_self(const Peers *p) { return p->self; }
int tr_peers_count(const Peers *p) { return p->count; }

bool tr_peers_send(Peers *p, int to, int tag, const void *bytes, size_t count, tr_error *err)
{
    forget_arrived(p);
    Letter *letter = count < INT_MAX ? malloc(sizeof *letter + count) : NULL;
    if (!letter) return tr_fail_memory(err), false;
    if (count) memcpy(letter->bytes, bytes, count);
    letter->next = p->letters, p->letters = letter;
    return mpi.Isend(letter->bytes, (int)count, mpi.byte, to, tag, mpi.world, &letter->request) ==
           MPI_SUCCESS;
}

bool tr_peers_receive(Peers *p, int *from, int *tag, Buffer *bytes, tr_error *err)
{
    int is_there = 0;
    MPI_Status status;
    if (p->letters) forget_arrived(p);
    if (mpi.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, mpi.world, &is_there, &status) != MPI_SUCCESS ||
        !is_there)
        return false;
    int count = 0;
    mpi.Get_count(&status, mpi.byte, &count);
    char *room = malloc((size_t)count + 1);
    if (!room) return tr_fail_memory(err), false;
    *from = status.MPI_SOURCE, *tag = status.MPI_TAG;
    mpi.Recv(room, count, mpi.byte, *from, *tag, mpi.world, MPI_STATUS_IGNORE);
    tr_buffer_add(bytes, room, (size_t)count);
    free(room);
    if (bytes->failed) tr_fail_memory(err);
    return !bytes->failed;
}
#else
Peers *tr_peers_open(tr_error *err)
{
    if (!has_failed(err) && started_together() > 1)
        tr_fail(err, TR_FAILED, (Place){0},
                "this build has no MPI, for which mpi.h is needed: start each process by itself, "
                "with --shard");
    return NULL;
}

void tr_peers_close(Peers *p) { (void)p; }
int tr_peers_self(const Peers *p) { return (void)p, 0; }
int tr_peers_count(const Peers *p) { return (void)p, 1; }

bool tr_peers_send(Peers *p, int to, int tag, const void *bytes, size_t count, tr_error *err)
{
    (void)p, (void)to, (void)tag, (void)bytes, (void)count, (void)err;
    return false;
}

bool tr_peers_receive(Peers *p, int *from, int *tag, Buffer *bytes, tr_error *err)
{
    (void)p, (void)from, (void)tag, (void)bytes, (void)err;
    return false;
}
#endif
