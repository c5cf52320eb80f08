// SPDX-License-Identifier: Apache-2.0
// Functions of the CUDA driver, as its public interface has them: those that kernels need. They are
// found in libcuda at run time, so nothing of CUDA is needed to build.
#ifndef TR_GPU_DRIVER_H
#define TR_GPU_DRIVER_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

// In the order of the names in driver.c; 0 is success.
typedef struct GpuDriver {
    int (*init)(unsigned flags);
    int (*driver_version)(int *version);
    int (*device_count)(int *count);
    int (*device)(int *device, int index);
    int (*device_name)(char *name, int length, int device);
    int (*device_attribute)(int *value, int attribute, int device);
    int (*retain)(void **context, int device);
    int (*set_current)(void *context);
    int (*current)(void **context);
    int (*load_module)(void **module, const void *image);
    int (*unload_module)(void *module);
    int (*function)(void **function, void *module, const char *name);
    int (*set_attribute)(void *function, int attribute, int value);
    int (*free_memory)(size_t *free, size_t *total);
    int (*allocate)(uint64_t *at, size_t bytes);
    int (*release)(uint64_t at);
    int (*to_device)(uint64_t to, const void *from, size_t bytes);
    int (*from_device)(void *to, uint64_t from, size_t bytes);
    int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared, void *stream, void **parameters, void **extra);
    int (*synchronize)(void);
    int (*error_words)(int error, const char **words);
    int (*link_create)(unsigned count, int *options, void **values, void **state);
    int (*link_add)(void *state, int type, void *data, size_t size, const char *name,
                    unsigned count, int *options, void **values);
    int (*link_complete)(void *state, void **image, size_t *size);
    int (*link_destroy)(void *state);
} GpuDriver;

// NULL with words when there is none, or none that works.
const GpuDriver *tr_gpu_driver(tr_error *err);
// Whether a call went well; else words, with those of the driver
bool tr_gpu_good(const GpuDriver *driver, int code, const char *what, tr_error *err);

#endif
