// SPDX-License-Identifier: Apache-2.0
// What the results of a sweep depend on, as names and texts: two with the same give the same.
#ifndef TR_SWEEP_SETTINGS_H
#define TR_SWEEP_SETTINGS_H

#include "sweep/sweep.h"

typedef struct SweepSetting {
    const char *name;
    char *value;
    bool is_told_alone; // for who reads it; nothing depends on it
    bool is_formula;    // without blanks that do not count
} SweepSetting;

enum { MOST_SWEEP_SETTINGS = 32 };

typedef struct SweepSettings {
    SweepSetting at[MOST_SWEEP_SETTINGS];
    uint32_t count;
} SweepSettings;

bool tr_sweep_settings(const Sweep *sweep, SweepSettings *settings, tr_error *err);
// Whether what a database has under this name is the same
bool tr_sweep_setting_is(const SweepSetting *setting, const char *was, tr_error *err);
void tr_sweep_settings_free(SweepSettings *settings);

// Of what names say for a second time, as a person calls it
static inline const char *setting_words(const char *name)
{
    return strcmp(name, "keep as given") == 0 ? "keep" : name;
}

#endif
