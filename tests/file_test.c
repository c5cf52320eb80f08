// SPDX-License-Identifier: Apache-2.0
// Reading and writing files, each test in a fresh directory that must be empty of surprises after.
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { LIMIT = 1 << 20, NOBODY = 65534 };

static char start[PATH_MAX];
static char directory[300];

// The tests use names relative to the directory they run in.
static int enter_directory(void **state)
{
    (void)state;
    make_folder(directory, sizeof directory);
    return getcwd(start, sizeof start) && chdir(directory) == 0 ? 0 : -1;
}

static void remove_all(const char *path)
{
    DIR *listing = opendir(path);
    if (!listing) return;
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        char name[PATH_MAX];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (unlink(name) != 0) remove_all(name);
    }
    closedir(listing);
    rmdir(path);
}

static int leave_directory(void **state)
{
    (void)state;
    const int back = chdir(start);
    remove_all(directory);
    return back;
}

static int entries(const char *path)
{
    int count = 0;
    DIR *listing = opendir(path);
    assert_non_null(listing);
    while (readdir(listing)) count++;
    closedir(listing);
    return count - 2; // without . and ..
}

static void assert_content(const char *path, const char *expected)
{
    tr_error err = {0};
    size_t length = 0;
    char *text = tr_file_read(path, LIMIT, &length, &err);
    assert_string_equal(err.text, "");
    assert_non_null(text);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
    free(text);
}

static unsigned mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static void assert_io_error(const tr_error *err, const char *path, const char *reason)
{
    assert_int_equal(err->status, TR_IO);
    if (!strstr(err->text, path) || !strstr(err->text, reason))
        fail_msg("'%s' lacks '%s' or '%s'", err->text, path, reason);
}

// Runs `work` in a process of its own; its result is the exit status.
static void in_child(int (*work)(void))
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(work());
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

// ---- reading -------------------------------------------------------------------------------

static void reads_files_of_any_size(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *text = malloc(sizes[i] + 1);
        assert_non_null(text);
        for (size_t k = 0; k < sizes[i]; k++) text[k] = (char)('a' + k % 23);
        text[sizes[i]] = '\0';
        write_text("in", text);
        assert_content("in", text);
        free(text);
    }
    size_t length;
    tr_error err = {0};
    char *text = tr_file_read("/proc/self/stat", LIMIT, &length, &err); // says its size is 0
    assert_non_null(text);
    assert_int_equal(strlen(text), length);
    assert_true(length > 10);
    free(text);
}

static void the_limit_is_exact(void **state)
{
    (void)state;
    write_text("in", "12345");
    size_t length = 0;
    tr_error err = {0};
    char *text = tr_file_read("in", 5, &length, &err);
    assert_non_null(text);
    assert_int_equal(length, 5);
    free(text);
    assert_null(tr_file_read("in", 4, &length, &err));
    assert_io_error(&err, "'in'", "limit of 4 bytes");

    err = (tr_error){0};
    assert_null(tr_file_read("/dev/zero", 10000, &length, &err)); // has no size and no end
    assert_io_error(&err, "/dev/zero", "limit of 10000 bytes");

    write_text("empty", "");
    err = (tr_error){0};
    text = tr_file_read("empty", 0, &length, &err);
    assert_non_null(text);
    assert_int_equal(length, 0);
    free(text);
    text = tr_file_read("in", SIZE_MAX, &length, &err);
    assert_non_null(text);
    free(text);
}

static void reading_says_what_is_wrong(void **state)
{
    (void)state;
    size_t length = 99;
    tr_error err = {0};
    assert_null(tr_file_read("missing.yaml", LIMIT, &length, &err));
    assert_string_equal(err.text, "cannot read 'missing.yaml': No such file or directory");
    assert_int_equal(err.status, TR_IO);
    assert_null(tr_file_read(".", LIMIT, &length, &err));
    assert_io_error(&err, "missing.yaml", "No such file"); // the first error wins

    err = (tr_error){0};
    assert_null(tr_file_read(".", LIMIT, &length, &err));
    assert_io_error(&err, "'.'", strerror(EISDIR));
    assert_null(tr_file_read(".", LIMIT, &length, NULL));
    err = (tr_error){0};
    assert_null(tr_file_read(NULL, LIMIT, &length, &err));
    assert_int_equal(length, 99);

    char long_name[1000];
    memset(long_name, 'n', sizeof long_name);
    strcpy(long_name + sizeof long_name - 6, ".yaml");
    assert_null(tr_file_read(long_name, LIMIT, &length, &err));
    assert_io_error(&err, "nnn.yaml'", strerror(ENAMETOOLONG));
}

// What a child may not read or write, even when the tests run as root.
static int work_without_rights(void)
{
    if (geteuid() == 0 && seteuid(NOBODY) != 0) return 77;
    size_t length;
    tr_error err = {0};
    if (tr_file_read("secret", LIMIT, &length, &err)) return 1;
    if (!strstr(err.text, "'secret'") || !strstr(err.text, strerror(EACCES))) return 2;
    err = (tr_error){0};
    if (tr_file_create("closed/new", &err)) return 3;
    if (!strstr(err.text, "'closed/new'") || !strstr(err.text, strerror(EACCES))) return 4;
    err = (tr_error){0};
    if (tr_file_create("open/fixed", &err)) return 5; // the directory would allow to replace it
    if (!strstr(err.text, "'open/fixed'") || !strstr(err.text, strerror(EACCES))) return 6;
    return 0;
}

static void permissions_are_respected(void **state)
{
    (void)state;
    write_text("secret", "x");
    assert_int_equal(mkdir("closed", 0755), 0);
    assert_int_equal(mkdir("open", 0755), 0);
    write_text("open/fixed", "x");
    assert_int_equal(chmod("secret", 0), 0);
    assert_int_equal(chmod("open/fixed", 0444), 0);
    assert_int_equal(chmod("closed", 0555), 0);
    assert_int_equal(chmod("open", 0777), 0);
    assert_int_equal(chmod(".", 0755), 0);
    in_child(work_without_rights);
    assert_int_equal(entries("open"), 1);
    assert_int_equal(entries("closed"), 0);
}

// ---- writing -------------------------------------------------------------------------------

static bool write_file(const char *path, const char *text, tr_error *err)
{
    OutFile *file = tr_file_create(path, err);
    if (file) fputs(text, tr_file_stream(file));
    return tr_file_commit(file, err);
}

static void assert_writes(const char *path, const char *text)
{
    tr_error err = {0};
    const bool ok = write_file(path, text, &err);
    assert_string_equal(err.text, "");
    assert_true(ok);
}

static void a_file_appears_when_committed(void **state)
{
    (void)state;
    tr_error err = {0};
    OutFile *file = tr_file_create("out", &err);
    assert_non_null(file);
    fputs("new", tr_file_stream(file));
    assert_int_equal(access("out", F_OK), -1);
    assert_int_equal(entries("."), 1);
    assert_true(tr_file_commit(file, &err));
    assert_content("out", "new");

    file = tr_file_create("out", &err);
    fputs("newer", tr_file_stream(file));
    fflush(tr_file_stream(file));
    assert_content("out", "new");
    assert_true(tr_file_commit(file, &err));
    assert_content("out", "newer");
    assert_int_equal(entries("."), 1);
}

static void discarding_leaves_nothing_behind(void **state)
{
    (void)state;
    tr_error err = {0};
    write_text("old", "old");
    static const char *const names[] = {"old", "fresh"};
    for (int i = 0; i < 4; i++) {
        OutFile *file = tr_file_create(names[i % 2], &err);
        assert_non_null(file);
        assert_int_equal(entries("."), 2);
        fputs("unwanted", tr_file_stream(file));
        tr_error earlier = {.status = TR_INVALID, .text = "earlier"};
        if (i < 2)
            tr_file_discard(file);
        else
            assert_false(tr_file_commit(file, &earlier));
        assert_string_equal(earlier.text, "earlier");
        assert_int_equal(entries("."), 1);
        assert_content("old", "old");
    }
}

static void nothing_comes_of_nothing(void **state)
{
    (void)state;
    tr_error failed = {.status = TR_FAILED}, err = {0};
    size_t length;
    assert_null(tr_file_create("out", &failed));
    assert_null(tr_file_create(NULL, &err));
    assert_null(tr_file_read("out", LIMIT, &length, &failed));
    assert_null(tr_file_stream(NULL));
    assert_false(tr_file_commit(NULL, &err));
    assert_false(tr_file_commit(NULL, NULL));
    tr_file_discard(NULL);
    assert_int_equal(err.status, TR_OK);
    assert_true(write_file("out", "without err", NULL));
    assert_content("out", "without err");
    assert_int_equal(entries("."), 1);
}

static void permissions_are_kept(void **state)
{
    (void)state;
    const mode_t mask = umask(027);
    assert_writes("out", "1");
    assert_int_equal(mode_of("out"), 0640);
    static const mode_t modes[] = {0600, 0666, 0755, 0644};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod("out", modes[i]), 0);
        assert_writes("out", "2");
        assert_int_equal(mode_of("out"), modes[i]);
    }
    umask(mask);
}

static void assert_link(const char *path, const char *target)
{
    char text[PATH_MAX] = "";
    assert_int_equal(readlink(path, text, sizeof text - 1), strlen(target));
    assert_string_equal(text, target);
}

static void links_stay_links(void **state)
{
    (void)state;
    assert_int_equal(mkdir("there", 0777), 0);
    write_text("there/file", "old");
    assert_int_equal(symlink("file", "there/inner"), 0); // relative to its own directory
    assert_int_equal(symlink("there/inner", "outer"), 0);
    tr_error err = {0};
    OutFile *file = tr_file_create("outer", &err);
    assert_non_null(file);
    fputs("through two links", tr_file_stream(file));
    assert_int_equal(entries("there"), 3); // the temporary is beside the file, not beside the link
    assert_true(tr_file_commit(file, &err));
    assert_link("outer", "there/inner");
    assert_link("there/inner", "file");
    assert_content("there/file", "through two links");

    char absolute[PATH_MAX];
    assert_true(snprintf(absolute, sizeof absolute, "%s/there/born", directory) > 0);
    assert_int_equal(symlink(absolute, "dangling"), 0);
    assert_writes("dangling", "born");
    assert_link("dangling", absolute);
    assert_content("there/born", "born");
    assert_int_equal(entries("there"), 3);
    assert_int_equal(entries("."), 3);

    assert_int_equal(symlink("circle", "circle"), 0);
    assert_false(write_file("circle", "x", &err));
    assert_io_error(&err, "'circle'", strerror(ELOOP));
}

static void writing_says_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int reason;
    } cases[] = {{"missing/out", ENOENT}, {"", ENOENT},         {".", EISDIR}, {"new/", EISDIR},
                 {"plain/out", ENOTDIR},  {"nowhere/", EISDIR}, {"/", EISDIR}};
    write_text("plain", "x");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tr_error err = {0};
        assert_null(tr_file_create(cases[i].path, &err));
        assert_io_error(&err, cases[i].path, strerror(cases[i].reason));
        assert_int_equal(entries("."), 1);
    }
}

static void a_long_name_leaves_room_for_the_temporary(void **state)
{
    (void)state;
    char name[256] = "";
    for (int i = 0; i < 127; i++) strcat(name, "ω"); // 254 bytes
    assert_writes(name, "long");
    assert_writes(name, "longer");
    assert_content(name, "longer");
    assert_int_equal(entries("."), 1);
}

static void a_full_device_is_reported(void **state)
{
    (void)state;
    tr_error err = {0};
    assert_false(write_file("/dev/full", "x", &err));
    assert_io_error(&err, "'/dev/full'", strerror(ENOSPC));

    err = (tr_error){0};
    OutFile *file = tr_file_create("/dev/full", &err);
    assert_non_null(file);
    for (int i = 0; i < 100000; i++) fputs("more than a buffer", tr_file_stream(file));
    assert_false(tr_file_commit(file, &err));
    assert_io_error(&err, "'/dev/full'", "");
    assert_writes("/dev/null", "gone");
}

// A disk that is full after 1000 bytes.
static int work_with_little_room(void)
{
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit little = {1000, 1000};
    if (setrlimit(RLIMIT_FSIZE, &little) != 0) return 77;
    static const char *const names[] = {"old", "fresh"};
    for (int i = 0; i < 2; i++) {
        tr_error err = {0};
        OutFile *file = tr_file_create(names[i], &err);
        if (!file) return 1;
        for (int k = 0; k < 2000; k++) fputc('x', tr_file_stream(file));
        if (tr_file_commit(file, &err)) return 2;
        if (!strstr(err.text, names[i]) || !strstr(err.text, strerror(EFBIG))) return 3;
    }
    return 0;
}

static void a_failed_write_changes_nothing(void **state)
{
    (void)state;
    write_text("old", "old");
    in_child(work_with_little_room);
    assert_content("old", "old");
    assert_int_equal(entries("."), 1);
}

static void an_earlier_error_is_not_forgotten(void **state)
{
    (void)state;
    tr_error err = {0};
    OutFile *file = tr_file_create("out", &err);
    assert_non_null(file);
    assert_int_equal(fgetc(tr_file_stream(file)),
                     EOF); // sets the error mark, and flushing succeeds
    assert_false(tr_file_commit(file, &err));
    assert_io_error(&err, "'out'", "an earlier write failed");
    assert_int_equal(entries("."), 0);
}

static void a_failed_rename_changes_nothing(void **state)
{
    (void)state;
    tr_error err = {0};
    OutFile *file = tr_file_create("out", &err);
    assert_non_null(file);
    assert_int_equal(mkdir("out", 0777), 0);
    assert_false(tr_file_commit(file, &err));
    assert_io_error(&err, "'out'", strerror(EISDIR));
    assert_int_equal(entries("."), 1);
}

static int work_reading_fifo(void)
{
    size_t length = 0;
    tr_error err = {0};
    char *text = tr_file_read("fifo", LIMIT, &length, &err);
    if (!text || length != 100000) return 1;
    for (size_t i = 0; i < length; i++)
        if (text[i] != (char)('a' + i % 26)) return 2;
    free(text);
    return 0;
}

static void a_pipe_is_written_in_place(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(work_reading_fifo());
    tr_error err = {0};
    OutFile *file = tr_file_create("fifo", &err);
    assert_non_null(file);
    assert_int_equal(entries("."), 1);
    for (int i = 0; i < 100000; i++) fputc('a' + i % 26, tr_file_stream(file));
    assert_true(tr_file_commit(file, &err));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    struct stat info;
    assert_int_equal(lstat("fifo", &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(entries("."), 1);
}

// Standard input and output are files here; both go on working afterwards.
static int work_with_standard_streams(void)
{
    const int in = open("in", O_RDONLY), out = open("captured", O_WRONLY | O_CREAT, 0600);
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0) return 77;
    size_t length;
    tr_error err = {0};
    char *text = tr_file_read("/dev/stdin", LIMIT, &length, &err);
    if (!text) return 1;
    fputs("before ", stdout);
    if (!write_file("-", text, &err)) return 2;
    free(text);
    if (!write_file("/dev/stdout", "twice ", &err)) return 3;
    tr_file_discard(tr_file_create("-", &err));
    fputs("after", stdout);
    return fflush(stdout) == 0 && err.status == TR_OK ? 0 : 4;
}

static void standard_streams_stay_open(void **state)
{
    (void)state;
    write_text("in", "given ");
    in_child(work_with_standard_streams);
    assert_content("captured", "before given twice after");
    assert_int_equal(entries("."), 2);
}

// A file without a name can only be written where it is.
static void an_unnamed_file_is_written_in_place(void **state)
{
    (void)state;
    const int fd = open("gone", O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(unlink("gone"), 0);
    char path[64], text[8] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_writes(path, "still");
    assert_int_equal(pread(fd, text, sizeof text - 1, 0), 5);
    assert_string_equal(text, "still");
    close(fd);
    assert_int_equal(entries("."), 0);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(reads_files_of_any_size),
        IN_DIRECTORY(the_limit_is_exact),
        IN_DIRECTORY(reading_says_what_is_wrong),
        IN_DIRECTORY(permissions_are_respected),
        IN_DIRECTORY(a_file_appears_when_committed),
        IN_DIRECTORY(discarding_leaves_nothing_behind),
        IN_DIRECTORY(nothing_comes_of_nothing),
        IN_DIRECTORY(permissions_are_kept),
        IN_DIRECTORY(links_stay_links),
        IN_DIRECTORY(writing_says_what_is_wrong),
        IN_DIRECTORY(a_long_name_leaves_room_for_the_temporary),
        IN_DIRECTORY(a_full_device_is_reported),
        IN_DIRECTORY(a_failed_write_changes_nothing),
        IN_DIRECTORY(an_earlier_error_is_not_forgotten),
        IN_DIRECTORY(a_failed_rename_changes_nothing),
        IN_DIRECTORY(a_pipe_is_written_in_place),
        IN_DIRECTORY(standard_streams_stay_open),
        IN_DIRECTORY(an_unnamed_file_is_written_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
