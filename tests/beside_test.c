// SPDX-License-Identifier: Apache-2.0
// Files that a model names, files that are one, temporary files, and files that get their names
// together. Each test runs in the folder of the program.
#include "base/beside.h"

#include "folder.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int enter(void **state)
{
    if (enter_folder(state)) return -1;
    if (mkdir("model", 0700) || mkdir("model/inner", 0700) || mkdir("other", 0700)) return -1;
    write_text("model/inner/table", "inner");
    write_text("model/table", "table");
    write_text("other/table", "other");
    return symlink("../other", "model/link") || symlink("inner/table", "model/inside") ||
           symlink("table", "model/same") || mkfifo("model/fifo", 0600);
}

static int leave(void **state)
{
    (void)state;
    static const char *const files[] = {
        "model/inner/table", "model/table", "other/table", "model/link", "model/inside",
        "model/same",        "model/fifo",  "model/inner", "model",      "other"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) remove(files[i]);
    return 0;
}

// What it says, or what is wrong with it
static const char *read_beside(const Beside *where, const char *name)
{
    static char said[600];
    tr_error err = {0};
    size_t length = 0;
    char *path, *text = tr_beside_read(where, text_of(name), 5, &length, &path, &err);
    snprintf(said, sizeof said, "%s", text ? text : err.text);
    assert_true(!text == !path && !text == (err.status != TR_OK));
    if (text) assert_true(path[0] == '/' && tr_is_same_file(path, path));
    if (text) assert_int_equal(length, strlen(text));
    free(text);
    free(path);
    return said;
}

static void names_lead_inside(void **state)
{
    (void)state;
    const Beside where = {.model = "model/model.yaml"}, text = {0}, pipe = {.model = "/dev/stdin"};
    static const char *const inside[][2] = {{"table", "table"},       {"./table", "table"},
                                            {"inner/table", "inner"}, {"inner//table", "inner"},
                                            {"inside", "inner"},      {"same", "table"}};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        assert_string_equal(read_beside(&where, inside[i][0]), inside[i][1]);
    assert_string_equal(read_beside(&text, "model/table"), "table");
    assert_string_equal(read_beside(&where, "link/table"),
                        "'link/table' is not in the folder of the model: --allow-files DIR allows "
                        "another");
    assert_string_equal(read_beside(&where, "../other/table"),
                        "'../other/table' is not in the folder of the model: --allow-files DIR "
                        "allows another");
    assert_non_null(strstr(read_beside(&where, "/etc/passwd"), "is not in the folder"));
    assert_non_null(strstr(read_beside(&where, "/no/such/file"), "is not in the folder"));
    assert_non_null(strstr(read_beside(&where, "inner/.."), "is not in the folder"));
    assert_non_null(strstr(read_beside(&pipe, "null"), "came through a pipe"));
    const Beside fd = {.model = "/dev/fd/0"}, shared = {.model = "/dev/shm/model.yaml"};
    assert_non_null(strstr(read_beside(&fd, "0"), "came through a pipe"));
    assert_null(strstr(read_beside(&shared, "nothing"), "pipe")); // it may stand anywhere else
    const Beside moved = {.model = "/moved/model.yaml"};
    assert_string_equal(read_beside(&moved, "table"),
                        "cannot read 'table': it stands beside the model, '/moved/model.yaml', "
                        "whose folder cannot be opened: No such file or directory");
    assert_string_equal(read_beside(&where, ""), "'' is no name of a file");
    assert_string_equal(read_beside(&where, "fifo"), "cannot read 'fifo': it is no regular file");
    assert_string_equal(read_beside(&where, "inner"), "cannot read 'inner': it is no regular file");
    assert_string_equal(read_beside(&where, "gone"),
                        "cannot read 'gone': No such file or directory");
    write_text("model/table", "longer");
    assert_string_equal(read_beside(&where, "table"),
                        "cannot read 'table': it is larger than the limit of 5 bytes");
    write_text("model/table", "table");
}

static void folders_are_allowed(void **state)
{
    (void)state;
    const char *other = "other", *all[] = {"model/inner", "other"}, *root = "/", *none = "none";
    const Beside one = {"model/model.yaml", &other, 1}, two = {"model/model.yaml", all, 2};
    const Beside any = {"model/model.yaml", &root, 1}, gone = {"model/model.yaml", &none, 1};
    const Beside pipe = {"/proc/self/fd/0", &other, 1};
    char whole[400];
    snprintf(whole, sizeof whole, "%s/other/table", folder);
    assert_string_equal(read_beside(&one, "link/table"), "other");
    assert_string_equal(read_beside(&two, "../other/table"), "other");
    assert_string_equal(read_beside(&one, whole), "other");
    assert_string_equal(read_beside(&any, whole), "other");
    assert_string_equal(read_beside(&pipe, whole), "other");
    assert_string_equal(read_beside(&one, "inner/../table"), "table");
    assert_non_null(strstr(read_beside(&one, "/etc/passwd"), "nor in one that --allow-files"));
    assert_non_null(strstr(read_beside(&any, "/dev/null"), "it is no regular file"));
    assert_non_null(strstr(read_beside(&gone, whole), "cannot read 'none'"));
    assert_string_equal(read_beside(&gone, "table"), "table"); // which is beside it
}

static void paths_lead_to_one_file(void **state)
{
    (void)state;
    static const char *const same[][2] = {
        {"model/table", "model/../model/table"}, {"model/same", "model/table"},
        {"model/link/table", "other/table"},     {"model/new", "./model/new"},
        {"model/link/new", "other/new"},         {"dangling", "other/born"}};
    static const char *const different[][2] = {
        {"model/table", "other/table"}, {"model/new", "other/new"}, {"model/new", "model/newer"},
        {"/dev/null", "/dev/null"},     {"none/x", "none/x"},       {"", ""}};
    assert_int_equal(symlink("other/born", "dangling"), 0);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_true(tr_is_same_file(same[i][0], same[i][1]));
    for (size_t i = 0; i < sizeof different / sizeof *different; i++)
        assert_false(tr_is_same_file(different[i][0], different[i][1]));
    assert_false(tr_is_same_file(NULL, "x"));
    remove("dangling");
}

static void files_get_their_names_together(void **state)
{
    (void)state;
    tr_error err = {0};
    OutFile *both[2] = {tr_file_create("one", &err), tr_file_create("two", &err)};
    fputs("1", tr_file_stream(both[0]));
    fputs("2", tr_file_stream(both[1]));
    assert_true(tr_file_settle(both[1], &err));
    assert_null(tr_file_stream(both[1]));
    assert_int_equal(access("two", F_OK), -1);
    assert_true(tr_files_commit(both, 2, &err));
    assert_true(tr_is_same_file("one", "one") && access("two", F_OK) == 0);
    // When one cannot be written, the other stays what it was.
    both[0] = tr_file_create("one", &err), both[1] = tr_file_create("/dev/full", &err);
    fputs("3", tr_file_stream(both[0]));
    fputs("4", tr_file_stream(both[1]));
    assert_true(tr_file_is_replaced(both[0]) && !tr_file_is_replaced(both[1]));
    assert_false(tr_files_commit(both, 2, &err));
    assert_int_equal(err.status, TR_IO);
    size_t length = 0;
    err = (tr_error){0};
    char *text = tr_file_read("one", 10, &length, &err);
    assert_string_equal(text, "1");
    free(text);
}

static size_t temporaries(void)
{
    size_t count = 0;
    DIR *listing = opendir(".");
    for (const struct dirent *entry; (entry = readdir(listing));)
        count += strstr(entry->d_name, ".tmp") != NULL;
    closedir(listing);
    return count;
}

static void end(int number)
{
    tr_remove_temporaries();
    signal(number, SIG_DFL);
    raise(number);
}

// More than are listed; the others have their names as ever.
static void signals_take_temporaries_along(void **state)
{
    (void)state;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char name[20];
        signal(SIGTERM, end);
        for (int i = 0; i < 60; i++) {
            snprintf(name, sizeof name, "child%d", i);
            if (!tr_file_create(name, NULL)) _exit(1);
        }
        tr_error err = {0};
        OutFile *file = tr_file_create("late", &err);
        tr_remove_temporaries(); // and the process goes on for a while
        if (tr_file_commit(file, &err) || err.status != TR_IO) _exit(2);
        if (!tr_file_create("later", NULL)) _exit(3);
        raise(SIGTERM);
        pause();
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_int_equal(temporaries(), 0);

    enum { MANY = 100 };
    OutFile *files[MANY];
    tr_error err = {0};
    char name[20];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many%d", i);
        files[i] = tr_file_create(name, &err);
    }
    assert_int_equal(err.status, TR_OK);
    assert_int_equal(temporaries(), MANY);
    for (int i = 0; i < MANY; i++) tr_file_discard(files[i]);
    assert_int_equal(temporaries(), 0);
}

static void a_system_knows_its_files(void **state)
{
    (void)state;
    tr_error err = {0};
    write_text("nodes.csv", "x,y,z,m,ux1,uy1,uz1\n1,0,0,2,0,1,0\n");
    write_text("modes.csv", "k1,m1\n50,3\n");
    write_text("model.yaml", "trundle: 1\nbodies:\n  mast:\n    modal: {nodes: nodes.csv, "
                             "modes: modes.csv}\n");
    tr_model *model = tr_model_read("model.yaml", &err);
    tr_system *system = tr_derive(model, NULL, &err);
    assert_string_equal(err.text, "");
    assert_true(tr_is_same_file(tr_system_file(system, 0), "model.yaml"));
    assert_true(tr_is_same_file(tr_system_file(system, 1), "nodes.csv"));
    assert_true(tr_is_same_file(tr_system_file(system, 2), "modes.csv"));
    assert_null(tr_system_file(system, 3));
    assert_null(tr_system_file(NULL, 0));
    tr_system_free(system);
    tr_model_free(model);
    char *path = tr_certificate_beside("a.b/run.csv", &err);
    assert_string_equal(path, "a.b/run.json");
    tr_text_free(path);
    assert_null(tr_certificate_beside(NULL, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lead_inside),
        cmocka_unit_test(folders_are_allowed),
        cmocka_unit_test(paths_lead_to_one_file),
        cmocka_unit_test(files_get_their_names_together),
        cmocka_unit_test(signals_take_temporaries_along),
        cmocka_unit_test(a_system_knows_its_files),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
