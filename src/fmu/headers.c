// SPDX-License-Identifier: Apache-2.0
// The headers of the standard, which sources of FMUs include and need not bring: types and
// functions are those of our own tables. What is compiled becomes a library, so no name has a
// prefix.
#include "fmu/embedded.h"
#include "fmu/fmu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// As the standard declares them: a type for each function, then the function
static const char *const two[] = {
#define FMI2(kind, result, name, arguments)                   \
    "typedef " #result " fmi2" #name "TYPE" #arguments ";\n", \
        "FMI2_Export fmi2" #name "TYPE fmi2" #name ";\n",
#include "fmu/fmi2.def"
    NULL};
static const char *const three[] = {
#define FMI3(kind, result, name, arguments)                   \
    "typedef " #result " fmi3" #name "TYPE" #arguments ";\n", \
        "FMI3_Export fmi3" #name "TYPE fmi3" #name ";\n",
#include "fmu/fmi3.def"
    NULL};

static const char front[] =
    "#ifndef TR_FMU_FMI_H\n#define TR_FMU_FMI_H\n"
    "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n"
    "#define FMI2_Export __attribute__((visibility(\"default\")))\n"
    "#define FMI3_Export __attribute__((visibility(\"default\")))\n"
    "#define fmi2FullName(name) name\n#define fmi3FullName(name) name\n"
    "#define fmi2Version \"2.0\"\n#define fmi3Version \"3.0\"\n"
    "#define fmi2TypesPlatform \"default\"\n"
    "#define fmi2True 1\n#define fmi2False 0\n#define fmi3True true\n#define fmi3False false\n"
    "#define fmi3ClockActive true\n#define fmi3ClockInactive false\n"
    "typedef char fmi2Char;\ntypedef char fmi3Char;\n";

static const char behind[] =
    "typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, "
    "fmi2String, fmi2String, ...);\n"
    "typedef void *(*fmi2CallbackAllocateMemory)(size_t, size_t);\n"
    "typedef void (*fmi2CallbackFreeMemory)(void *);\n"
    "typedef void (*fmi2StepFinished)(fmi2ComponentEnvironment, fmi2Status);\n";

static void write_header(Buffer *out, int version)
{
    const Text all = tr_fmu_types();
    const char *from = strstr(all.at, "// ---- 2.0"), *to = strstr(all.at, "// ---- functions");
    tr_buffer_print(out, "%s", front);
    if (from && to) tr_buffer_add(out, from, (size_t)(to - from));
    tr_buffer_print(out, "%s", behind);
    for (const char *const *line = version == 3 ? three : two; *line; line++)
        tr_buffer_print(out, "%s", *line);
    tr_buffer_print(out, "#endif\n");
    out->failed = out->failed || !from || !to;
}

static bool write_file(TemporaryFolder *folder, const char *name, const Buffer *text)
{
    const int fd = tr_temporary_make(folder, name, false);
    const bool good = fd >= 0 && write(fd, text->at, text->length) == (ssize_t)text->length;
    if (fd >= 0) close(fd);
    return good;
}

bool tr_fmu_write_headers(TemporaryFolder *folder, int version, tr_error *err)
{
    static const char *const names[] = {"Functions", "FunctionTypes", "TypesPlatform",
                                        "PlatformTypes"};
    Buffer out = {0};
    write_header(&out, version);
    bool good = !out.failed && tr_temporary_make(folder, "standard", true) >= 0;
    for (size_t i = 0; good && i < sizeof names / sizeof *names; i++) {
        char name[60];
        snprintf(name, sizeof name, "standard/fmi%d%s.h", version, names[i]);
        good = write_file(folder, name, &out);
    }
    if (out.failed)
        tr_fail_memory(err);
    else if (!good)
        tr_fail(err, TR_IO, (Place){0}, "cannot write headers for the sources of an FMU: %s",
                strerror(errno));
    tr_buffer_free(&out);
    return good;
}
