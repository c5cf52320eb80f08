// SPDX-License-Identifier: Apache-2.0
// Where the layers meet: model -> mech -> system.
#include "mech/derive.h"

#include <time.h>

tr_derive_options tr_derive_defaults(void) { return (tr_derive_options){0}; }

tr_system *tr_derive(const tr_model *model, const tr_derive_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!model || has_failed(err)) return NULL;
    const tr_derive_options o = options ? *options : tr_derive_defaults();
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    Model *variant = tr_model_variant(model, o.case_name, o.settings, o.setting_count, err);
    tr_system *system = tr_system_new(err);
    if (variant && system) tr_mech_derive(variant, system, err);
    tr_model_free(variant);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (system)
        system->seconds =
            (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    if (!has_failed(err)) return system;
    tr_system_free(system);
    return NULL;
}
