// SPDX-License-Identifier: Apache-2.0
#include "base/mat.h"

#include "base/late.h"
#include "base/temporary.h"

#include <errno.h>
#include <matio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY ((size_t)64 << 20) // matio and what it needs, mapped

// The functions that are used, one row each
#define MATIO_FUNCTIONS(X) \
    X(CreateVer) X(Close) X(VarCreate) X(VarWrite) X(VarFree) X(VarReadInfo) X(VarSetCell)

static struct Matio {
#define MEMBER(name) __typeof__(Mat_##name) *name;
    MATIO_FUNCTIONS(MEMBER)
#undef MEMBER
} matio;

#define NAME(name) "Mat_" #name,
static const char *const names[] = {MATIO_FUNCTIONS(NAME)};
#undef NAME
_Static_assert(sizeof matio == sizeof names, "a pointer for each name");

struct Mat {
    mat_t *file;
};

bool tr_mat_is_there(tr_error *err)
{
    static Late library = {.need = ".mat files need matio",
                           .files = {"libmatio.so.11", "libmatio.so", "libmatio.dylib"},
                           .names = names,
                           .count = sizeof names / sizeof *names,
                           .functions = &matio};
    return tr_late_load(&library, LIBRARY, err);
}

// ---- variables -----------------------------------------------------------------------------

static bool put(Mat *mat, matvar_t *variable)
{
    const bool good = variable && matio.VarWrite(mat->file, variable, MAT_COMPRESSION_NONE) == 0;
    matio.VarFree(variable);
    return good;
}

bool tr_mat_matrix(Mat *mat, const char *name, double *by_columns, size_t rows, size_t columns)
{
    size_t size[2] = {rows, columns};
    return put(mat, matio.VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size, by_columns, 0));
}

bool tr_mat_names(Mat *mat, const char *name, const char *const *texts, size_t count)
{
    size_t size[2] = {count, 1};
    matvar_t *cell = matio.VarCreate(name, MAT_C_CELL, MAT_T_CELL, 2, size, NULL, 0);
    for (size_t i = 0; cell && i < count; i++) {
        size_t length[2] = {1, strlen(texts[i])};
        char *text = strdup(texts[i]);
        matvar_t *entry =
            text ? matio.VarCreate(NULL, MAT_C_CHAR, MAT_T_UINT8, 2, length, text, 0) : NULL;
        free(text);
        if (!entry) return matio.VarFree(cell), false;
        matio.VarSetCell(cell, (int)i, entry);
    }
    return put(mat, cell);
}

bool tr_mat_has(Mat *mat, const char *name)
{
    matvar_t *taken = matio.VarReadInfo(mat->file, name);
    const bool has = taken != NULL;
    matio.VarFree(taken);
    return has;
}

// ---- files ---------------------------------------------------------------------------------

// matio writes to paths only: to a temporary one, which is then copied into the result.
void tr_mat_write(const char *path, OutFile *file, bool (*fill)(Mat *mat, void *owner), void *owner,
                  Sha256 *sha, tr_error *err)
{
    if (!tr_mat_is_there(err)) return;
    char stem[200];
    const char *folder = getenv("TMPDIR");
    snprintf(stem, sizeof stem, "%.150s/trundle_mat", folder && folder[0] ? folder : "/tmp");
    errno = 0;
    Temporary temporary;
    const int fd = tr_temporary_open(&temporary, stem, strlen(stem), 0600);
    Mat mat = {NULL};
    if (fd >= 0)
        mat.file =
            matio.CreateVer(temporary.path, "MATLAB 5.0 MAT-file, written by trundle", MAT_FT_MAT5);
    bool good = mat.file && fill(&mat, owner);
    if (mat.file && matio.Close(mat.file)) good = false;
    if (!good)
        tr_fail(err, TR_IO, (Place){0}, "cannot make the .mat file for '%.200s': %s", path,
                errno ? strerror(errno) : "matio refuses");
    size_t length = 0;
    char *bytes = has_failed(err) ? NULL : tr_file_read(temporary.path, SIZE_MAX / 4, &length, err);
    if (bytes) fwrite(bytes, 1, length, tr_file_stream(file));
    if (bytes && sha) tr_sha256_add(sha, bytes, length);
    free(bytes);
    if (fd >= 0) close(fd);
    tr_temporary_remove(&temporary);
}
