// SPDX-License-Identifier: Apache-2.0
// A CUDA driver for tests without a GPU: its devices' memory is this program's, and an interpreter
// executes PTX (ptx.h). What it has and what goes wrong is said by the environment, call by call:
//
//   FAKE_CUDA_DEVICES   how many there are; 1 when not given
//   FAKE_CUDA_MEMORY    bytes that a device has; a gigabyte when not given
//   FAKE_CUDA_PIECE     bytes that it has in one piece at most
//   FAKE_CUDA_FULL      a device that has no memory left
//   FAKE_CUDA_BUSY      a device that cannot be opened
//   FAKE_CUDA_WEAK      a device that is of an old kind
//   FAKE_CUDA_LAUNCHES  launches that go well; then the device is lost
//   FAKE_CUDA_OLD       the driver does not know the PTX
#include "ptx.h"

#include <stddef.h>

enum { OUT_OF_MEMORY = 2, BUSY = 46, LOST = 719, OLD_PTX = 222, MOST_DEVICES = 4 };

static int current = -1; // a context is the device's number, and one more
static size_t used[MOST_DEVICES];

static size_t said(const char *name, size_t otherwise)
{
    const char *text = getenv(name);
    return text ? (size_t)strtoull(text, NULL, 10) : otherwise;
}

static bool is(const char *name, int device)
{
    return getenv(name) && said(name, 0) == (size_t)device;
}

static size_t memory(void)
{
    return is("FAKE_CUDA_FULL", current) ? 0 : said("FAKE_CUDA_MEMORY", 1 << 30);
}

int cuInit(unsigned flags);
int cuInit(unsigned flags) { return flags != 0; }

int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuDeviceGetCount(int *count);
int cuDeviceGetCount(int *count) { return *count = (int)said("FAKE_CUDA_DEVICES", 1), 0; }
int cuDeviceGet(int *device, int index);
int cuDeviceGet(int *device, int index) { return *device = index, 0; }
int cuDeviceGetName(char *name, int length, int device);
int cuDeviceGetName(char *name, int length, int device)
{
    snprintf(name, (size_t)length, "interpreter %d", device);
    return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75                      ? (is("FAKE_CUDA_WEAK", device) ? 6 : 9)
             : attribute == 81 || attribute == 97 ? 34 << 10
                                                  : 0;
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = (void *)(intptr_t)(device + 1);
    return is("FAKE_CUDA_BUSY", device) ? BUSY : 0;
}
int cuCtxSetCurrent(void *context);
int cuCtxSetCurrent(void *context) { return current = (int)(intptr_t)context - 1, 0; }
int cuCtxGetCurrent(void **context);
int cuCtxGetCurrent(void **context) { return *context = (void *)(intptr_t)(current + 1), 0; }

// ---- kernels -------------------------------------------------------------------------------

// Its image is the PTX text.
int cuLinkCreate_v2(unsigned count, int *options, void **values, void **state);
int cuLinkCreate_v2(unsigned count, int *options, void **values, void **state)
{
    (void)count, (void)options, (void)values;
    *state = calloc(1, sizeof(char *));
    return 0;
}
int cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name,
                     unsigned count, int *options, void **values);
int cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name,
                     unsigned count, int *options, void **values)
{
    (void)name, (void)count, (void)options, (void)values;
    if (type != 1 || getenv("FAKE_CUDA_OLD")) return OLD_PTX;
    char *text = malloc(size);
    memcpy(text, data, size);
    *(char **)state = text;
    return 0;
}
int cuLinkComplete(void *state, void **image, size_t *size);
int cuLinkComplete(void *state, void **image, size_t *size)
{
    *image = *(char **)state;
    *size = strlen(*image) + 1;
    return 0;
}
int cuLinkDestroy(void *state);
int cuLinkDestroy(void *state)
{
    free(*(char **)state);
    free(state);
    return 0;
}

typedef struct Module {
    PtxModule *ptx;
    bool is_wide[16]; // by parameter
    unsigned most_shared;
} Module;

int cuModuleLoadData(void **module, const void *image);
int cuModuleLoadData(void **module, const void *image)
{
    Module *m = calloc(1, sizeof *m);
    m->ptx = ptx_read(image);
    const char *at = strstr(image, ".entry"), *end = strchr(at, '{');
    for (int i = 0; (at = strstr(at, ".param .")) && at < end; at++, i++)
        m->is_wide[i] = strncmp(at + 8, "u32", 3) != 0;
    *module = m;
    return 0;
}
int cuModuleUnload(void *module);
int cuModuleUnload(void *module)
{
    ptx_free(((Module *)module)->ptx);
    free(module);
    return 0;
}
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    const PtxModule *m = ((Module *)module)->ptx;
    *function = module;
    return strcmp(m->functions[m->function_count - 1].name, name) == 0 ? 0 : 500;
}

// So many bytes may a block share.
int cuFuncSetAttribute(void *function, int attribute, int value);
int cuFuncSetAttribute(void *function, int attribute, int value)
{
    if (attribute == 8) ((Module *)function)->most_shared = (unsigned)value;
    return attribute == 8 || attribute == 9 ? 0 : 1;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **parameters, void **extra);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **parameters, void **extra)
{
    static size_t launches;
    Module *m = function;
    (void)gy, (void)gz, (void)by, (void)bz, (void)stream, (void)extra;
    const size_t good = said("FAKE_CUDA_LAUNCHES", SIZE_MAX);
    launches = good == SIZE_MAX ? 0 : launches + 1;
    if (launches > good) return LOST;
    if (shared > m->most_shared) return 1;
    m->ptx->shared_size = shared;
    PtxFunction *f = &m->ptx->functions[m->ptx->function_count - 1];
    for (int i = 0; i < f->parameters; i++) {
        m->ptx->parameters[i].u = 0;
        memcpy(&m->ptx->parameters[i], parameters[i], m->is_wide[i] ? 8 : 4);
    }
    ptx_launch(m->ptx, gx, bx);
    return 0;
}
int cuCtxSynchronize(void);
int cuCtxSynchronize(void) { return 0; }

// ---- memory --------------------------------------------------------------------------------

int cuMemGetInfo_v2(size_t *free_, size_t *total);
int cuMemGetInfo_v2(size_t *free_, size_t *total)
{
    *total = memory();
    *free_ = used[current] < *total ? *total - used[current] : 0;
    return 0;
}
int cuMemAlloc_v2(uint64_t *at, size_t bytes);
int cuMemAlloc_v2(uint64_t *at, size_t bytes)
{
    if (used[current] + bytes > memory() || bytes > said("FAKE_CUDA_PIECE", SIZE_MAX))
        return OUT_OF_MEMORY;
    size_t *room = malloc(bytes + 16);
    room[0] = bytes;
    used[current] += bytes;
    *at = (uint64_t)(uintptr_t)(room + 2);
    return 0;
}
int cuMemFree_v2(uint64_t at);
int cuMemFree_v2(uint64_t at)
{
    size_t *room = (size_t *)(uintptr_t)at - 2;
    used[current] -= room[0];
    free(room);
    return 0;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

int cuGetErrorString(int error, const char **words);
int cuGetErrorString(int error, const char **words)
{
    *words = error == OUT_OF_MEMORY ? "out of memory"
             : error == LOST        ? "unspecified launch failure"
             : error == BUSY        ? "all CUDA-capable devices are busy or unavailable"
             : error == OLD_PTX     ? "the provided PTX was compiled with an unsupported toolchain"
                                    : "an error of the fake driver";
    return 0;
}
