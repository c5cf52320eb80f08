// SPDX-License-Identifier: Apache-2.0
// FMUs for tests, made as they are needed: tests/fmu/ball.c by the machine's compiler, a
// description with a piece of it replaced, and an archive.
#ifndef TR_TESTS_FMUS_H
#define TR_TESTS_FMUS_H

#include "base/zip.h"
#include "folder.h"

#include <unistd.h>

// The binary of the ball, as a path in the test's folder; compiled once for each `name`
static inline const char *ball_binary(int version, const char *name, const char *flags)
{
    char command[2000];
    const char *path = in_folder(name);
    if (access(path, R_OK) == 0) return path;
    snprintf(command, sizeof command,
             "cc -std=c11 -D_GNU_SOURCE -O1 -w -shared -fPIC %s %s -I%s -o %s %s/ball.c -lm",
             version == 3 ? "-DFMI_3" : "", flags, SOURCE_DIR "/src", path, FMU_DIR);
    if (system(command) != 0) fail_msg("cannot be compiled: %s", command);
    return path;
}

// A text in which `old` is `new`; it frees the one that is given, and the caller the other.
static inline char *replaced(char *text, const char *old, const char *new)
{
    char *at = strstr(text, old);
    if (!at) fail_msg("there is no %s in the description", old);
    const size_t before = (size_t)(at - text), size = strlen(text) + strlen(new) + 1;
    char *changed = malloc(size);
    snprintf(changed, size, "%.*s%s%s", (int)before, text, new, at + strlen(old));
    free(text);
    return changed;
}

// The description of the ball in which `old` is `new`; the caller frees it.
static inline char *ball_xml(int version, const char *old, const char *new)
{
    char *text = read_text(version == 3 ? FMU_DIR "/ball3.xml" : FMU_DIR "/ball2.xml");
    return old ? replaced(text, old, new) : text;
}

static inline void write_zip(const char *path, ZipFile *files, size_t count)
{
    Buffer out = {0};
    tr_error err = {0};
    tr_zip_pack(&out, files, count, &err);
    if (err.status) fail_msg("%s", err.text);
    write_bytes(path, out.at, out.length);
    tr_buffer_free(&out);
}

// "ball.fmu" of a description and a binary
static inline const char *write_ball(int version, const char *xml, const char *binary)
{
    size_t length = 0;
    tr_error err = {0};
    char *code = tr_file_read(binary, 1 << 28, &length, &err);
    const char *path = in_folder("ball.fmu");
    ZipFile files[] = {{"modelDescription.xml", xml, strlen(xml)},
                       {version == 3 ? "binaries/x86_64-linux/ball.so" : "binaries/linux64/ball.so",
                        code, length}};
    if (!code) fail_msg("%s", err.text);
    write_zip(path, files, 2);
    free(code);
    return path;
}

// The description of a ball of both kinds that promises all it can
static inline char *promising_xml(int version)
{
    static const char old[] = "modelIdentifier=\"ball\"";
    const char *flags = version == 2
                            ? "modelIdentifier='ball' canGetAndSetFMUstate='1' "
                              "canSerializeFMUstate='1' providesDirectionalDerivative='1'"
                            : "modelIdentifier='ball' canGetAndSetFMUState='1' "
                              "canSerializeFMUState='1' providesDirectionalDerivatives='1' "
                              "providesAdjointDerivatives='1'";
    return replaced(ball_xml(version, old, flags), old, flags);
}

// As they should be
static inline const char *good_ball(int version)
{
    char *xml = ball_xml(version, NULL, NULL);
    const char *path =
        write_ball(version, xml, ball_binary(version, version == 3 ? "ball3.so" : "ball2.so", ""));
    free(xml);
    return path;
}

#endif
