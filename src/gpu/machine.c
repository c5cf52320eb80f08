// SPDX-License-Identifier: Apache-2.0
// Work is divided among devices, and into chunks that their memory holds. Threads take turns.
#include "gpu/machine.h"

#include "gpu/cache.h"
#include "gpu/driver.h"
#include "gpu/spill.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 16, STEPS = 256, WORTH_IT = 256, WORTH_A_KERNEL = 16384, INPUT_PTX = 1 };
// As the driver counts them: of a device, and of a function
enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76, SHARED_OF_BLOCK = 97, SHARED_OF_ALL = 81 };
enum { MOST_SHARED = 8, PART_SHARED = 9, ALL_OF_IT = 100 };
enum { OUT_OF_MEMORY = 2, LEAST_CAPABILITY = 75 }; // 10 major + minor
enum { IN_A_ROW = 8 }; // launches of both kernels, before somebody looks what became of them
enum { BLOCKS_AT_ONCE = 2, KEPT_BY_DRIVER = 1024 }; // of a block's memory

typedef struct Device {
    void *context;
    char name[100], besides[140]; // what decides what a kernel becomes
    size_t room;                  // that a block may share
} Device;

typedef struct Machine {
    const GpuDriver *driver;
    Device devices[MOST_DEVICES];
    int count;
    char words[400];
    pthread_mutex_t turn;
    void *of_caller; // the context of the thread whose turn it is, before
} Machine;

struct GpuKernel {
    void *module[MOST_DEVICES], *function[MOST_DEVICES];
    uint64_t resident; // of a batch whose states are the caller's
    uint32_t shared;   // bytes, of a block
};

// Of one device: columns that it has at the time
typedef struct Share {
    uint64_t memory;
    size_t room; // columns
    size_t from, count;
} Share;

static bool enter(const Machine *m, int device, tr_error *err)
{
    return tr_gpu_good(m->driver, m->driver->set_current(m->devices[device].context),
                       "turn to a device", err);
}

// ---- kernels -------------------------------------------------------------------------------

// Blocks have more memory than they get without asking.
static bool share_memory(const GpuDriver *d, void *function, uint32_t bytes, tr_error *err)
{
    return !bytes || (tr_gpu_good(d, d->set_attribute(function, MOST_SHARED, (int)bytes),
                                  "share memory in a block", err) &&
                      tr_gpu_good(d, d->set_attribute(function, PART_SHARED, ALL_OF_IT),
                                  "divide memory", err));
}

static bool load_image(const Machine *m, GpuKernel *k, int device, const void *image,
                       const char *entry, tr_error *err)
{
    const GpuDriver *d = m->driver;
    return tr_gpu_good(d, d->load_module(&k->module[device], image), "load a kernel", err) &&
           tr_gpu_good(d, d->function(&k->function[device], k->module[device], entry),
                       "find a kernel", err) &&
           share_memory(d, k->function[device], k->shared, err);
}

static bool assemble(const Machine *m, GpuKernel *k, int device, const char *ptx, const char *entry,
                     const char *path, tr_error *err)
{
    const GpuDriver *d = m->driver;
    void *link = NULL, *image = NULL;
    size_t size = 0;
    bool good = tr_gpu_good(d, d->link_create(0, NULL, NULL, &link), "assemble", err) &&
                tr_gpu_good(d,
                            d->link_add(link, INPUT_PTX, (void *)ptx, strlen(ptx) + 1,
                                        "steps of a model", 0, NULL, NULL),
                            "assemble a kernel", err) &&
                tr_gpu_good(d, d->link_complete(link, &image, &size), "finish a kernel", err) &&
                load_image(m, k, device, image, entry, err);
    if (good && path) tr_gpu_cache_write(path, image, size);
    if (link) d->link_destroy(link);
    return good;
}

static bool load_on(const Machine *m, GpuKernel *k, int device, const char *ptx, const char *entry,
                    tr_error *err)
{
    char path[3400];
    Buffer image = {0};
    tr_error old = {0};
    const bool has_path = tr_gpu_cache_path(ptx, m->devices[device].besides, path, sizeof path);
    if (!enter(m, device, err)) return false;
    const bool is_there = has_path && tr_gpu_cache_read(path, &image) &&
                          load_image(m, k, device, image.at, entry, &old);
    tr_buffer_free(&image);
    return is_there || assemble(m, k, device, ptx, entry, has_path ? path : NULL, err);
}

// Devices are turned to by contexts, of which a thread has one at a time: whose turn ends has its
// own again.
static void take_turn(Machine *m)
{
    pthread_mutex_lock(&m->turn);
    if (m->driver->current(&m->of_caller) != 0) m->of_caller = NULL;
}

static void end_turn(Machine *m)
{
    m->driver->set_current(m->of_caller);
    pthread_mutex_unlock(&m->turn);
}

static void forget(const Machine *m, GpuKernel *k)
{
    tr_error none = {0};
    for (int i = 0; k && i < m->count; i++) {
        if (!k->module[i] || !enter(m, i, &none)) continue;
        m->driver->unload_module(k->module[i]);
        if (i == 0 && k->resident) m->driver->release(k->resident);
    }
    free(k);
}

static void unload(void *self, GpuKernel *k)
{
    take_turn(self);
    forget(self, k);
    end_turn(self);
}

static GpuKernel *load(void *self, const char *ptx, const char *entry, uint32_t shared,
                       tr_error *err)
{
    const Machine *m = self;
    GpuKernel *k = has_failed(err) ? NULL : calloc(1, sizeof *k);
    if (!k) return tr_fail_memory(err), NULL;
    k->shared = shared;
    bool good = true;
    take_turn(self);
    for (int i = 0; good && i < m->count; i++) good = load_on(m, k, i, ptx, entry, err);
    if (!good) forget(m, k);
    end_turn(self);
    return good ? k : NULL;
}

// ---- memory --------------------------------------------------------------------------------

// Room for as many columns as are wanted, or as there is memory for in one piece; maybe none
static bool take_room(const Machine *m, int device, const GpuWork *w, size_t wanted, Share *share,
                      tr_error *err)
{
    const GpuDriver *d = m->driver;
    const size_t column = w->numbers * sizeof(double);
    size_t free = 0, total = 0;
    if (!enter(m, device, err) ||
        !tr_gpu_good(d, d->free_memory(&free, &total), "say how much memory there is", err))
        return false;
    const size_t fit = free / 10 * 9 / column;
    int code = 0;
    for (share->room = wanted < fit ? wanted : fit; share->room; share->room /= 2) {
        code = d->allocate(&share->memory, share->room * column);
        if (code != OUT_OF_MEMORY) return tr_gpu_good(d, code, "give memory", err);
    }
    return true;
}

// On all devices; one without memory has no share as long as another has one.
static bool take_rooms(const Machine *m, const GpuWork *w, Share *shares, tr_error *err)
{
    const size_t each = (w->count + (size_t)m->count - 1) / (size_t)m->count;
    bool any = false;
    for (int i = 0; i < m->count; i++) {
        if (!take_room(m, i, w, each, &shares[i], err)) return false;
        any = any || shares[i].room;
    }
    if (!any) tr_fail(err, TR_FAILED, (Place){0}, "a GPU has no memory left");
    return any;
}

static uint64_t row_of(const Share *s, size_t row)
{
    return s->memory + row * s->room * sizeof(double);
}

static bool bring(const Machine *m, const GpuWork *w, const Share *s, tr_error *err)
{
    const size_t bytes = s->count * sizeof(double);
    for (size_t i = 0; i < w->numbers; i++)
        if (!tr_gpu_good(
                m->driver,
                m->driver->to_device(row_of(s, i), w->block + i * w->count + s->from, bytes),
                "bring numbers", err))
            return false;
    return true;
}

static bool fetch(const Machine *m, const GpuWork *w, const Share *s, size_t row, double *to,
                  tr_error *err)
{
    (void)w;
    return tr_gpu_good(m->driver,
                       m->driver->from_device(to, row_of(s, row), s->count * sizeof(double)),
                       "fetch numbers", err);
}

// ---- running -------------------------------------------------------------------------------

static bool launch(const Machine *m, const GpuKernel *k, int device, const GpuWork *w,
                   const Share *s, uint64_t state, uint64_t inputs, uint32_t steps, tr_error *err)
{
    uint64_t record = s->memory, stride = s->room;
    uint32_t threads = (uint32_t)s->count;
    double step = w->step;
    void *parameters[] = {&record, &state, &inputs, &stride, &threads, &steps, &step};
    const unsigned blocks = (threads + SPILL_THREADS - 1) / SPILL_THREADS;
    return enter(m, device, err) &&
           tr_gpu_good(m->driver,
                       m->driver->launch(k->function[device], blocks, 1, 1, SPILL_THREADS, 1, 1,
                                         k->shared, NULL, parameters, NULL),
                       "launch a kernel", err);
}

// Whether any thread has more to do
static bool has_more(const Machine *m, int device, const GpuWork *w, const Share *s, double *fates,
                     bool *more, tr_error *err)
{
    if (!enter(m, device, err) ||
        !tr_gpu_good(m->driver, m->driver->synchronize(), "run a kernel", err) ||
        !fetch(m, w, s, w->fate, fates, err))
        return false;
    for (size_t i = 0; i < s->count && !*more; i++) *more = fates[i] == 0;
    return true;
}

static bool launch_all(const Machine *m, const GpuKernel *k, const GpuWork *w, const Share *shares,
                       tr_error *err)
{
    for (int i = 0; i < m->count; i++)
        if (shares[i].count && !launch(m, k, i, w, &shares[i], row_of(&shares[i], w->state),
                                       row_of(&shares[i], w->inputs), STEPS, err))
            return false;
    return true;
}

// One chunk on each device, until nothing is left to do there
static bool run_chunks(const Machine *m, GpuKernel *k, const GpuWork *w, const Share *shares,
                       double *fates, tr_error *err)
{
    for (int i = 0; i < m->count; i++)
        if (shares[i].count && !(enter(m, i, err) && bring(m, w, &shares[i], err))) return false;
    for (bool more = true; more;) {
        more = false;
        for (int n = 0; n < (w->after ? IN_A_ROW : 1); n++)
            if (!launch_all(m, k, w, shares, err) ||
                (w->after && !launch_all(m, w->after, w, shares, err)))
                return false;
        for (int i = 0; i < m->count; i++)
            if (shares[i].count && !has_more(m, i, w, &shares[i], fates, &more, err)) return false;
        if (more && w->goes_on && !w->goes_on(w->owner)) break;
    }
    for (int i = 0; i < m->count; i++)
        for (size_t row = 0; shares[i].count && row < w->numbers; row++)
            if (!enter(m, i, err) ||
                !fetch(m, w, &shares[i], row, w->block + row * w->count + shares[i].from, err))
                return false;
    return true;
}

static bool run_all(const Machine *m, GpuKernel *k, const GpuWork *w, double *fates, tr_error *err)
{
    Share shares[MOST_DEVICES] = {{0}};
    bool good = take_rooms(m, w, shares, err);
    for (size_t from = 0; good && from < w->count;) {
        for (int i = 0; i < m->count; i++) {
            const size_t left = w->count - from;
            shares[i].from = from;
            shares[i].count = left < shares[i].room ? left : shares[i].room;
            from += shares[i].count;
        }
        good = run_chunks(m, k, w, shares, fates, err);
    }
    tr_error none = {0};
    for (int i = 0; i < m->count; i++)
        if (shares[i].memory && enter(m, i, &none)) m->driver->release(shares[i].memory);
    return good;
}

static bool run(void *self, GpuKernel *k, const GpuWork *w, tr_error *err)
{
    double *fates = malloc((w->count + 1) * sizeof *fates);
    if (!fates) return tr_fail_memory(err), false;
    take_turn(self);
    const bool good = run_all(self, k, w, fates, err);
    end_turn(self);
    free(fates);
    return good;
}

// ---- states of the caller's ----------------------------------------------------------------

// All columns to the first device, where they stay
static bool bring_all(const Machine *m, GpuKernel *k, const GpuWork *w, Share *share, tr_error *err)
{
    if (!take_room(m, 0, w, w->count, share, err)) return false;
    if (share->room < w->count)
        tr_fail(err, TR_FAILED, (Place){0}, "the GPU has memory for %zu runs, not for %zu",
                share->room, w->count);
    if (!has_failed(err) && bring(m, w, share, err))
        k->resident = share->memory;
    else if (share->room)
        m->driver->release(share->memory);
    return k->resident != 0;
}

static bool step_all(const Machine *m, GpuKernel *k, const GpuWork *w, uint64_t state,
                     uint64_t inputs, uint32_t steps, tr_error *err)
{
    Share share = {.memory = k->resident, .room = w->count, .count = w->count};
    if (!enter(m, 0, err) || (!share.memory && !bring_all(m, k, w, &share, err))) return false;
    if (steps)
        return launch(m, k, 0, w, &share, state, inputs ? inputs : row_of(&share, w->inputs), steps,
                      err) &&
               tr_gpu_good(m->driver, m->driver->synchronize(), "run a kernel", err) &&
               fetch(m, w, &share, w->fate, w->block + w->fate * w->count, err);
    for (size_t row = 0; row < w->numbers; row++)
        if (!fetch(m, w, &share, row, w->block + row * w->count, err)) return false;
    if (!tr_gpu_good(m->driver,
                     m->driver->from_device(w->block + w->state * w->count, state,
                                            w->states * w->count * sizeof *w->block),
                     "fetch states", err))
        return false;
    m->driver->release(k->resident);
    k->resident = 0;
    return true;
}

static bool step(void *self, GpuKernel *k, const GpuWork *w, uint64_t state, uint64_t inputs,
                 uint32_t steps, tr_error *err)
{
    take_turn(self);
    const bool good = step_all(self, k, w, state, inputs, steps, err);
    end_turn(self);
    return good;
}

// ---- the devices that there are ------------------------------------------------------------

// Two blocks at a time, side by side
static bool find_room(const GpuDriver *d, int handle, size_t *room, tr_error *err)
{
    int block = 0, all = 0;
    if (!tr_gpu_good(d, d->device_attribute(&block, SHARED_OF_BLOCK, handle), "ask a device",
                     err) ||
        !tr_gpu_good(d, d->device_attribute(&all, SHARED_OF_ALL, handle), "ask a device", err))
        return false;
    const int each = all / BLOCKS_AT_ONCE - KEPT_BY_DRIVER, most = each < block ? each : block;
    *room = most > 0 ? (size_t)most : 0;
    return true;
}

static bool open_device(Machine *m, int index, int version, tr_error *err)
{
    const GpuDriver *d = m->driver;
    Device *device = &m->devices[m->count];
    int handle = 0, major = 0, minor = 0;
    if (!tr_gpu_good(d, d->device(&handle, index), "find a device", err) ||
        !tr_gpu_good(d, d->device_name(device->name, sizeof device->name, handle), "name a device",
                     err) ||
        !tr_gpu_good(d, d->device_attribute(&major, CAPABILITY_MAJOR, handle), "ask a device",
                     err) ||
        !tr_gpu_good(d, d->device_attribute(&minor, CAPABILITY_MINOR, handle), "ask a device", err))
        return false;
    if (10 * major + minor < LEAST_CAPABILITY) {
        tr_fail(err, TR_FAILED, (Place){0},
                "no GPU can be used: %s has compute capability %d.%d, and 7.5 is the least",
                device->name, major, minor);
        return false;
    }
    if (!find_room(d, handle, &device->room, err) ||
        !tr_gpu_good(d, d->retain(&device->context, handle), "open a device", err))
        return false;
    snprintf(device->besides, sizeof device->besides, "%d.%d %d", major, minor, version);
    const size_t length = strlen(m->words);
    snprintf(m->words + length, sizeof m->words - length, "%s%s", length ? ", " : "", device->name);
    m->count++;
    return true;
}

// Those that can be used; when there is none, why the last one cannot
static bool open_devices(Machine *m, tr_error *err)
{
    const GpuDriver *d = m->driver = tr_gpu_driver(err);
    int count = 0, version = 0;
    if (!d || !tr_gpu_good(d, d->driver_version(&version), "say its version", err) ||
        !tr_gpu_good(d, d->device_count(&count), "count devices", err))
        return false;
    if (count < 1) tr_fail(err, TR_FAILED, (Place){0}, "no GPU can be used: the driver sees none");
    tr_error why = {0};
    for (int i = 0; i < count && m->count < MOST_DEVICES; i++) {
        why = (tr_error){0};
        open_device(m, i, version, &why);
    }
    if (!m->count && !has_failed(err)) *err = why;
    return !has_failed(err);
}

static size_t least_room(const Machine *m)
{
    size_t least = m->devices[0].room;
    for (int i = 1; i < m->count; i++)
        least = m->devices[i].room < least ? m->devices[i].room : least;
    return least;
}

const GpuMachine *tr_gpu_machine(tr_error *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static Machine machine;
    static GpuMachine is;
    if (has_failed(err)) return NULL;
    pthread_mutex_lock(&lock);
    if (!is.run) {
        machine = (Machine){.turn = PTHREAD_MUTEX_INITIALIZER};
        if (open_devices(&machine, err))
            is = (GpuMachine){.self = &machine,
                              .words = machine.words,
                              .least = WORTH_IT,
                              .many = WORTH_A_KERNEL,
                              .room = least_room(&machine),
                              .load = load,
                              .unload = unload,
                              .run = run,
                              .step = step};
    }
    const bool is_there = is.run != NULL;
    pthread_mutex_unlock(&lock);
    return is_there ? &is : NULL;
}
