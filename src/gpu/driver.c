// SPDX-License-Identifier: Apache-2.0
#include "gpu/driver.h"

#include "base/late.h"

#include <pthread.h>
#include <stdbool.h>

static const char *const names[] = {"cuInit",
                                    "cuDriverGetVersion",
                                    "cuDeviceGetCount",
                                    "cuDeviceGet",
                                    "cuDeviceGetName",
                                    "cuDeviceGetAttribute",
                                    "cuDevicePrimaryCtxRetain",
                                    "cuCtxSetCurrent",
                                    "cuCtxGetCurrent",
                                    "cuModuleLoadData",
                                    "cuModuleUnload",
                                    "cuModuleGetFunction",
                                    "cuFuncSetAttribute",
                                    "cuMemGetInfo_v2",
                                    "cuMemAlloc_v2",
                                    "cuMemFree_v2",
                                    "cuMemcpyHtoD_v2",
                                    "cuMemcpyDtoH_v2",
                                    "cuLaunchKernel",
                                    "cuCtxSynchronize",
                                    "cuGetErrorString",
                                    "cuLinkCreate_v2",
                                    "cuLinkAddData_v2",
                                    "cuLinkComplete",
                                    "cuLinkDestroy"};
_Static_assert(sizeof names / sizeof *names == sizeof(GpuDriver) / sizeof(void (*)(void)),
               "a name for each function");

static GpuDriver driver;
static Late library = {.need = "no GPU can be used",
                       .files = {"libcuda.so.1", "libcuda.so"},
                       .names = names,
                       .count = sizeof names / sizeof *names,
                       .functions = &driver};

bool tr_gpu_good(const GpuDriver *d, int code, const char *what, tr_error *err)
{
    if (code == 0) return true;
    const char *words = NULL;
    if (d->error_words(code, &words) != 0 || !words) words = "an error without words";
    tr_fail(err, TR_FAILED, (Place){0}, "the GPU's driver cannot %s: %.200s (error %d)", what,
            words, code);
    return false;
}

const GpuDriver *tr_gpu_driver(tr_error *err)
{
    enum { SOME_MEMORY = 64 << 20 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool is_begun;
    if (!tr_late_load(&library, SOME_MEMORY, err)) return NULL;
    pthread_mutex_lock(&lock);
    is_begun = is_begun || tr_gpu_good(&driver, driver.init(0), "begin", err);
    const bool good = is_begun;
    pthread_mutex_unlock(&lock);
    return good ? &driver : NULL;
}
