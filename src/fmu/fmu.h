// SPDX-License-Identifier: Apache-2.0
// An FMU as a file: its archive and what it says of itself. Nothing of it is run here.
#ifndef TR_FMU_FMU_H
#define TR_FMU_FMU_H

#include "base/temporary.h"
#include "base/zip.h"
#include "fmu/description.h"

typedef struct Fmu {
    const char *path;
    Arena arena;
    char *bytes; // of the archive
    Zip zip;
    char *text; // modelDescription.xml
    Description description;
    Findings findings;
} Fmu;

// Reads and checks it. False with an error when the file cannot be read or memory runs out; what is
// wrong with it is among the findings. To be closed in any case.
bool tr_fmu_open(Fmu *fmu, const char *path, tr_error *err);
// The same of an archive in memory, which is not copied
bool tr_fmu_take(Fmu *fmu, const void *bytes, size_t length, tr_error *err);
void tr_fmu_close(Fmu *fmu);

// The name in the archive of the binary for this machine, or NULL
const char *tr_fmu_binary(const Fmu *fmu, const Interface *interface);
// "linux64, win64": machines that there are binaries for; empty where there are none
void tr_fmu_platforms(const Fmu *fmu, char *words, size_t size);
// Whether anything is in a folder, whose name ends with '/'
bool tr_fmu_has_folder(const Fmu *fmu, const char *folder);
bool tr_fmu_has_sources(const Fmu *fmu);
// Tells what is wrong with what is in the archive beside modelDescription.xml. (contents.c)
void tr_fmu_check_contents(Fmu *fmu);

// ---- running it ----------------------------------------------------------------------------

// A folder with those files that it needs to run, and its binary there
typedef struct Unpacked {
    TemporaryFolder folder;
    char *binary;    // path
    char *resources; // path with '/' at its end; NULL where an FMU of 3.0 has none
} Unpacked;

// `build` compiles its sources where there is no binary for this machine. (unpack.c)
bool tr_fmu_unpack(const Fmu *fmu, const Interface *interface, bool build, Unpacked *to,
                   tr_error *err);
void tr_unpacked_remove(Unpacked *unpacked);
// Compiles the sources that are in the folder already into its binary. (build.c)
bool tr_fmu_build(const Fmu *fmu, const Interface *interface, Unpacked *in, tr_error *err);
// fmi2Functions.h, fmi3Functions.h and those beside them, in a folder `standard`
bool tr_fmu_write_headers(TemporaryFolder *folder, int version, tr_error *err);

#endif
