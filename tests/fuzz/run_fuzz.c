// SPDX-License-Identifier: Apache-2.0
// Runs of others from arbitrary bytes: what stands before the first line "---" is run.csv, what
// stands behind it is the certificate beside it. Pictures and pages are made of them, without
// markup of theirs, or there are words that say why not.
#include <trundle/trundle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what, const char *about)
{
    if (holds) return;
    fprintf(stderr, "violated: %s\nabout: %s\n", what, about ? about : "");
    abort();
}

static void write_file(const char *name, const char *text, size_t length)
{
    FILE *file = fopen(name, "w");
    require(file != NULL, "a file can be written", name);
    fwrite(text, 1, length, file);
    fclose(file);
}

// What was written under a name, which is gone then; NULL where nothing was
static char *take_file(const char *name)
{
    FILE *file = fopen(name, "r");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    const size_t length = (size_t)ftell(file);
    char *text = calloc(length + 1, 1);
    require(text != NULL, "there is memory", name);
    rewind(file);
    require(fread(text, 1, length, file) == length, "a file can be read", name);
    fclose(file);
    remove(name);
    return text;
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)); text++) count++;
    return count;
}

static void check_error(const tr_error *err, bool good)
{
    require(good == (err->status == TR_OK), "a result or an error", err->text);
    require(good || (err->text[0] && strlen(err->text) < sizeof err->text), "words", err->text);
}

static void say(void *owner, const char *words) { (void)owner, require(words[0], "words", words); }

static void draw(bool track)
{
    const char *const run = "run.csv";
    tr_error err = {0};
    tr_plot_options o = tr_plot_defaults();
    o.runs = &run, o.run_count = 1;
    o.track = track, o.output = "run.svg", o.say = say;
    check_error(&err, tr_plot(&o, &err));
    char *picture = take_file("run.svg");
    require((picture != NULL) == (err.status == TR_OK), "a picture or an error", err.text);
    if (picture) require(count_of(picture, "<script") == 0, "no scripts", picture);
    if (picture) require(count_of(picture, "<svg") == 1, "one picture", picture);
    free(picture);
}

// Data alone are scripts, each of a type that browsers do not run, and there is no other element.
static void check_page(const char *page)
{
    const size_t data = count_of(page, "<script type=\"application/");
    require(data > 0 && count_of(page, "<script") == data, "the data alone are scripts", page);
    require(count_of(page, "</script>") == data, "scripts end where they should", page);
    require(count_of(page, "</") == data + 2, "there are no other elements", page);
}

static void show(const tr_system *system)
{
    tr_error err = {0};
    tr_view_summary summary = {0};
    tr_view_options o = tr_view_defaults();
    o.run = "run.csv", o.output = "run.html", o.page = "page.html";
    check_error(&err, tr_view(system, &o, &summary, &err));
    char *page = take_file("run.html");
    require((page != NULL) == (err.status == TR_OK), "a page or an error", err.text);
    if (page) check_page(page);
    free(page);
}

static tr_system *pendulum(void)
{
    static const char page[] = "<html><body><!--data--></body></html>";
    tr_error err = {0};
    tr_model *model =
        tr_model_parse("trundle: 1\nname: swing\nbodies:\n  bob: {joint: {type: revolute, "
                       "axis: \"0, 1, 0\", coordinate: a}, mass: 1, com: \"0, 0, -1\"}\n",
                       &err);
    tr_system *system = tr_derive(model, NULL, &err);
    require(system != NULL, "the model derives", err.text);
    tr_model_free(model);
    write_file("page.html", page, sizeof page - 1);
    return system;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tr_system *system;
    if (size > LONGEST) return 0;
    if (!system) system = pendulum();
    char *text = calloc(size + 1, 1);
    if (!text) return 0;
    memcpy(text, data, size);
    const char *end = strstr(text, "\n---\n"), *behind = text + size;
    write_file("run.csv", text, end ? (size_t)(end - text) + 1 : size);
    remove("run.json");
    if (end) write_file("run.json", end + 5, (size_t)(behind - end) - 5);
    tr_error err = {0};
    tr_derive_options how = tr_derive_defaults();
    tr_origin *origin = tr_origin_read("run.csv", &err);
    require((origin == NULL) == (err.status != TR_OK), "an origin or an error", err.text);
    tr_origin_options(origin, &how);
    tr_origin_free(origin);
    draw(false);
    draw(true);
    show(system);
    free(text);
    return 0;
}
