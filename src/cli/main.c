// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const Verb verbs[] = {
    {"check", "check MODEL [options]", "says whether a model is sound, and what it can do",
     "  trundle check models/double_pendulum.yaml\n", ABOUT_CASES | ABOUT_MODELS, cli_report,
     tr_check_text},
    {"derive", "derive MODEL [options]", "derives the equations of motion and counts them",
     "  trundle derive models/floating_arm.yaml --json\n", ABOUT_CASES | ABOUT_MODELS, cli_report,
     tr_derive_text},
    {"eval", "eval MODEL [options]", "accelerations, torques and outputs at the initial instant",
     "  trundle eval models/cart_pole.yaml --set length=0.7 --json\n", ABOUT_CASES | ABOUT_MODELS,
     cli_report, tr_eval_text},
    {"simulate", "simulate MODEL [options]", "simulates and records",
     "  trundle simulate models/tumbling.yaml -o run.csv\n"
     "  trundle simulate models/cart_pole.yaml --case push --end 5 --every 0.01 --method rk4 "
     "--step 0.001 -o -\n"
     "  trundle simulate models/bicycle.yaml --report run.html\n",
     ABOUT_CASES | ABOUT_MODELS | ABOUT_SIMULATION, cli_simulate, NULL},
    {"linearise", "linearise MODEL [options]",
     "the linear model at the initial state, its eigenvalues and modes",
     "  trundle linearise models/bicycle.yaml --case straight --reduce\n"
     "  trundle linearise models/cart_pole.yaml --set tilt=0 --step 0.01 -o cart_pole.mat\n"
     "  trundle linearise models/bicycle.yaml --case straight --sweep speed0=0:10:0.05 "
     "-o speeds.csv --plot speeds.svg\n",
     ABOUT_CASES | ABOUT_MODELS | ABOUT_LINEAR, cli_linearise, NULL},
    {"steady", "steady MODEL [options]", "finds steady motions: straight running, circles, rest",
     "  trundle steady models/bicycle.yaml --case circle --hold roll=0.1\n"
     "  trundle steady models/leg.yaml --free lift --hold height=0.5 -o state.yaml\n"
     "  trundle steady models/bicycle.yaml --case circle --sweep roll=0.02:0.5:0.02 -o "
     "family.csv\n",
     ABOUT_CASES | ABOUT_MODELS | ABOUT_STEADY, cli_steady, NULL},
    {"lqr", "lqr MODEL --inputs NAME,NAME [options]",
     "feedback that is best for small motions about the initial state",
     "  trundle lqr models/segway.yaml --case fall --set pitch0=0 --inputs left,right "
     "--q way=10 -o gains.yaml\n"
     "  trundle lqr models/bicycle.yaml --case state --set speed0=3 --inputs steer_torque --json\n",
     ABOUT_CASES | ABOUT_MODELS | ABOUT_FEEDBACK, cli_lqr, NULL},
    {"view", "view RUN.csv --model MODEL -o REPORT.html [options]",
     "makes a page to see a recorded run move",
     "  trundle view run.csv --model models/bicycle.yaml -o run.html\n",
     ABOUT_CASES | ABOUT_REPORTS, cli_view, NULL},
    {"plot", "plot RUN.csv... [options]", "draws columns of a run, or its track, as SVG",
     "  trundle plot run.csv -y roll,steer -o angles.svg\n"
     "  trundle plot run.csv -y roll,steer -y energy.kinetic --from 2 --to 4 -o two_panels.svg\n"
     "  trundle plot run.csv --track rear,front -o track.svg\n"
     "  trundle plot slow.csv fast.csv -y speed -o both.svg\n",
     ABOUT_PICTURES, cli_plot, NULL},
};
enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static const char case_options[] =
    "  --case NAME          the case to use; the first when not given\n"
    "  --set NAME=FORMULA   another value for a parameter or input; repeatable\n";
static const char model_options[] = "  --json               JSON instead of text\n"
                                    "  -v                   say more\n";
static const char shared_options[] = "  -o FILE              where to write; - is standard output\n"
                                     "  -q                   say less\n";
static const char simulate_options[] =
    "  --end T --every DT   rows at 0, DT, ..., T [s]\n"
    "  --method NAME        erk (adaptive), bdf (adaptive, for what is stiff), rk4, pece, lie, "
    "euler\n"
    "  --step H             of methods with a fixed step [s]\n"
    "  --rtol R --atol A    tolerances of adaptive methods\n"
    "  --dense              erk: interpolate rows instead of stopping at each\n"
    "  --no-project         let positions drift, as constraints on velocities alone do\n"
    "  --sensitivity A,B    also columns d(NAME)/d(A) ...: how the run depends on parameters\n"
    "  --report FILE        a page to see the run move; with or without -o\n";
static const char linear_options[] =
    "  --reduce             leave out what changes nothing: place, heading, angles of wheels\n"
    "  --step H             also the model from one instant to the next, H seconds later\n"
    "  --sweep NAME=A:B:H   eigenvalues for values A, A + H, ..., B of a parameter or input, as "
    "CSV\n"
    "                       (-o x.json: JSON, -o x.svg: a picture), and where stability changes\n"
    "  --plot FILE          with --sweep: a picture of real and imaginary parts\n"
    "                       without --sweep, -o x.csv, x.json, x.mat write what their name says\n";
static const char steady_options[] =
    "  --free NAME,NAME     parameters and inputs to be found\n"
    "  --hold FORMULA=VALUE what is asked of the motion; without a value it stays what it is at "
    "the\n"
    "                       start; repeatable. All else of `initial` is a guess\n"
    "  --sweep FORMULA=A:B:STEP  a family of steady motions as CSV, along a parameter, input or "
    "formula\n"
    "  -o FILE.yaml         the state found, as the `initial:` of a model\n";
static const char lqr_options[] =
    "  --inputs NAME,NAME   inputs of the model, or joints whose torque is to be found\n"
    "  --q NAME=WEIGHT,...  of states or outputs; 1 when not given\n"
    "  --r NAME=WEIGHT,...  of inputs; 1 when not given\n"
    "  --step H             of a controller that acts in steps [s]\n";
static const char view_options[] =
    "  --model MODEL        the model of the run; case and settings are the run's unless given\n";
static const char page_options[] =
    "  --page FILE          use this page in place of the one that is built in\n";
static const char plot_options[] =
    "  -y NAME,NAME         columns of a panel; repeat it for more panels, one above the other;\n"
    "                       without it, the outputs of the model\n"
    "  -x NAME              the column along the x axis; t when not given\n"
    "  --track [NAME,NAME]  the top view: of contacts, bodies, or pairs of columns NAME_x NAME_y;\n"
    "                       without names, of all contacts, else of all bodies\n"
    "  --from T --to T      times to draw [s]\n"
    "  --log                logarithmic y axes\n"
    "  --title TEXT         above the picture\n"
    "  --size WxH           of the picture, in pixels\n";

// ---- help ----------------------------------------------------------------------------------

static void print_help(FILE *to)
{
    fprintf(to, "trundle: equations of motion of things that roll, slide, fold and flex\n\nusage: "
                "trundle VERB MODEL [options]\n\n");
    for (int i = 0; i < VERB_COUNT; i++) fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].doc);
    fprintf(to, "\n%s%s%s\ntrundle VERB --help says more.\n", case_options, model_options,
            shared_options);
}

static void print_verb_help(const Verb *verb)
{
    printf("usage: trundle %s\n\n%s.\n\n", verb->usage, verb->doc);
    if (verb->about & ABOUT_CASES) printf("%s", case_options);
    if (verb->about & ABOUT_MODELS) printf("%s", model_options);
    printf("%s", shared_options);
    if (verb->about & ABOUT_SIMULATION) printf("%s", simulate_options);
    if (verb->about & ABOUT_LINEAR) printf("%s", linear_options);
    if (verb->about & ABOUT_STEADY) printf("%s", steady_options);
    if (verb->about & ABOUT_FEEDBACK) printf("%s", lqr_options);
    if (verb->about & ABOUT_REPORTS) printf("%s", view_options);
    if (verb->about & (ABOUT_SIMULATION | ABOUT_REPORTS)) printf("%s", page_options);
    if (verb->about & ABOUT_PICTURES) printf("%s", plot_options);
    printf("\nexamples:\n%s", verb->examples);
}

// ---- "did you mean" ------------------------------------------------------------------------

static void suggest(const char *wanted, const char *const *candidates, size_t count)
{
    const char *best = tr_nearest(wanted, candidates, count);
    if (best)
        fprintf(stderr, "; did you mean '%s'?\n", best);
    else
        fprintf(stderr, "\n");
}

// ---- options -------------------------------------------------------------------------------

typedef struct Option {
    const char *name;
    size_t offset; // in Options
    enum { TEXT, FLAG, SETTING, PANEL, TRACK, HOLD } kind;
    int about; // verbs about this take it
} Option;

static const Option known[] = {
    {"--case", offsetof(Options, case_name), TEXT, ABOUT_CASES},
    {"--set", 0, SETTING, ABOUT_CASES},
    {"-o", offsetof(Options, output), TEXT, ABOUT_ALL},
    {"--json", offsetof(Options, json), FLAG, ABOUT_MODELS},
    {"-q", offsetof(Options, quiet), FLAG, ABOUT_ALL},
    {"-v", offsetof(Options, verbose), FLAG, ABOUT_ALL},
    {"--help", offsetof(Options, help), FLAG, ABOUT_ALL},
    {"-h", offsetof(Options, help), FLAG, ABOUT_ALL},
    {"--end", offsetof(Options, end), TEXT, ABOUT_SIMULATION},
    {"--every", offsetof(Options, every), TEXT, ABOUT_SIMULATION},
    {"--method", offsetof(Options, method), TEXT, ABOUT_SIMULATION},
    {"--step", offsetof(Options, step), TEXT, ABOUT_SIMULATION | ABOUT_LINEAR | ABOUT_FEEDBACK},
    {"--inputs", offsetof(Options, inputs), TEXT, ABOUT_FEEDBACK},
    {"--q", offsetof(Options, q), TEXT, ABOUT_FEEDBACK},
    {"--r", offsetof(Options, r), TEXT, ABOUT_FEEDBACK},
    {"--rtol", offsetof(Options, rtol), TEXT, ABOUT_SIMULATION},
    {"--atol", offsetof(Options, atol), TEXT, ABOUT_SIMULATION},
    {"--dense", offsetof(Options, dense), FLAG, ABOUT_SIMULATION},
    {"--no-project", offsetof(Options, no_project), FLAG, ABOUT_SIMULATION},
    {"--sensitivity", offsetof(Options, sensitivity), TEXT, ABOUT_SIMULATION},
    {"--report", offsetof(Options, report), TEXT, ABOUT_SIMULATION},
    {"--page", offsetof(Options, page), TEXT, ABOUT_SIMULATION | ABOUT_REPORTS},
    {"--model", offsetof(Options, model), TEXT, ABOUT_REPORTS},
    {"--reduce", offsetof(Options, reduce), FLAG, ABOUT_LINEAR},
    {"--sweep", offsetof(Options, sweep), TEXT, ABOUT_LINEAR | ABOUT_STEADY},
    {"--plot", offsetof(Options, picture), TEXT, ABOUT_LINEAR},
    {"--free", offsetof(Options, free), TEXT, ABOUT_STEADY},
    {"--hold", 0, HOLD, ABOUT_STEADY},
    {"-y", 0, PANEL, ABOUT_PICTURES},
    {"-x", offsetof(Options, x), TEXT, ABOUT_PICTURES},
    {"--track", offsetof(Options, tracks), TRACK, ABOUT_PICTURES},
    {"--from", offsetof(Options, from), TEXT, ABOUT_PICTURES},
    {"--to", offsetof(Options, to), TEXT, ABOUT_PICTURES},
    {"--log", offsetof(Options, log), FLAG, ABOUT_PICTURES},
    {"--title", offsetof(Options, title), TEXT, ABOUT_PICTURES},
    {"--size", offsetof(Options, size), TEXT, ABOUT_PICTURES},
};
enum { OPTION_COUNT = sizeof known / sizeof *known };

static const Option *option_called(const char *name)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strcmp(name, known[i].name) == 0) return &known[i];
    const char *names[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++) names[i] = known[i].name;
    fprintf(stderr, "trundle: unknown option '%s'", name);
    suggest(name, names, OPTION_COUNT);
    return NULL;
}

static int add_setting(Options *o, char *text)
{
    char *sign = strchr(text, '=');
    if (!sign || sign == text || !sign[1])
        fprintf(stderr, "trundle: --set takes name=formula, not '%s'\n", text);
    else if (o->setting_count == MAX_SETTINGS)
        fprintf(stderr, "trundle: --set more than %d times\n", MAX_SETTINGS);
    else {
        *sign = 0;
        o->settings[o->setting_count++] = (tr_setting){text, sign + 1};
        return 0;
    }
    return TR_USAGE;
}

static int add_panel(Options *o, const char *columns)
{
    if (o->panel_count == MAX_PANELS) {
        fprintf(stderr, "trundle: -y more than %d times\n", MAX_PANELS);
        return TR_USAGE;
    }
    o->panels[o->panel_count++] = columns;
    return 0;
}

static int add_hold(Options *o, const char *formula)
{
    if (o->hold_count == MAX_HOLDS) {
        fprintf(stderr, "trundle: --hold more than %d times\n", MAX_HOLDS);
        return TR_USAGE;
    }
    o->holds[o->hold_count++] = formula;
    return 0;
}

// What an option says; `value` is what follows it, NULL when nothing does.
static int take_option(Options *o, const Verb *verb, const Option *option, char *value)
{
    void *place = (char *)o + option->offset;
    if (!(option->about & verb->about))
        fprintf(stderr, "trundle: %s takes no %s\n", verb->name, option->name);
    else if (option->kind == FLAG)
        return *(bool *)place = true, 0;
    else if (option->kind == TRACK)
        return o->track = true, o->tracks = value, 0;
    else if (!value)
        fprintf(stderr, "trundle: %s needs a value\n", option->name);
    else if (option->kind == SETTING)
        return add_setting(o, value);
    else if (option->kind == PANEL)
        return add_panel(o, value);
    else if (option->kind == HOLD)
        return add_hold(o, value);
    else
        return *(const char **)place = value, 0;
    return TR_USAGE;
}

// A word that is no option: a model, or a run.
static int take_file(Options *o, const Verb *verb, const char *path)
{
    const bool is_run = verb->about & (ABOUT_PICTURES | ABOUT_REPORTS);
    if (o->run_count && (verb->about & ABOUT_REPORTS))
        fprintf(stderr, "trundle: one run at a time: '%s' and '%s'\n", o->runs[0], path);
    else if (is_run && o->run_count == MAX_RUNS)
        fprintf(stderr, "trundle: more than %d runs\n", MAX_RUNS);
    else if (is_run)
        return o->runs[o->run_count++] = path, 0;
    else if (o->model)
        fprintf(stderr, "trundle: one model at a time: '%s' and '%s'\n", o->model, path);
    else
        return o->model = path, 0;
    return TR_USAGE;
}

// Whether the word behind an option is its value. The names of --track may be left out: a file or
// another option is none.
static bool is_value(const Option *option, const char *word)
{
    if (option->kind != TRACK) return option->kind != FLAG;
    const char *dot = strrchr(word, '.');
    return word[0] != '-' && !strchr(word, '/') && !(dot && strcmp(dot, ".csv") == 0);
}

// "--end 5" and "--end=5" are the same.
static int read_options(Options *o, const Verb *verb, int count, char **words)
{
    int status = 0;
    for (int i = 0; i < count && !status; i++) {
        char *word = words[i], *value = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
        if (word[0] != '-' || !word[1]) {
            status = take_file(o, verb, word);
            continue;
        }
        if (value) *value++ = 0;
        const Option *option = option_called(word);
        if (!option) return TR_USAGE;
        if (option->kind == FLAG && value) {
            fprintf(stderr, "trundle: %s takes no value\n", word);
            return TR_USAGE;
        }
        if (!value && i + 1 < count && is_value(option, words[i + 1])) value = words[++i];
        status = take_option(o, verb, option, value);
    }
    return status;
}

// ---- shared by the verbs -------------------------------------------------------------------

static const char *next_character(const char *at)
{
    do at++;
    while ((*at & 0xc0) == 0x80);
    return at;
}

// The part of a line around a column, and a mark under it.
static void mark_column(const char *line, int column)
{
    enum { BEFORE = 60, SHOWN = 96 };
    const char *from = line, *at = line;
    for (int i = 1; i < column && *at; i++) {
        at = next_character(at);
        if (i > BEFORE) from = next_character(from);
    }
    fprintf(stderr, "  ");
    const char *end = from;
    for (int i = 0; i < SHOWN && *end; i++) end = next_character(end);
    for (const char *c = from; c < end; c++) {
        const bool control = (*c >= 0 && *c < ' ' && *c != '\t') || *c == 0x7f;
        fputc(control ? '?' : *c, stderr);
    }
    fprintf(stderr, "\n  ");
    for (const char *c = from; c < at; c = next_character(c))
        fputc(*c == '\t' ? '\t' : ' ', stderr);
    fprintf(stderr, "^\n");
}

// The line of a file that an error is about. A pipe has been read already.
static void show_line(const char *path, const tr_error *err)
{
    struct stat info;
    const bool is_file = err->line > 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode);
    FILE *file = is_file ? fopen(path, "r") : NULL;
    if (!file) return;
    char *text = NULL;
    size_t room = 0;
    int line = 0;
    while (line < err->line && getline(&text, &room, file) >= 0) line++;
    if (line == err->line) {
        text[strcspn(text, "\r\n")] = 0;
        const bool marked = line == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0; // as UTF-8
        mark_column(text + (marked ? 3 : 0), err->column);
    }
    free(text);
    fclose(file);
}

int cli_complain(const char *path, const tr_error *err)
{
    if (err->line > 0)
        fprintf(stderr, "%s:%d:%d: %s\n", path, err->line, err->column, err->text);
    else if (err->status == TR_INVALID && path)
        fprintf(stderr, "%s: %s\n", path, err->text);
    else
        fprintf(stderr, "trundle: %s\n", err->text);
    if (path) show_line(path, err);
    return err->status == TR_NO_MEMORY ? TR_FAILED : (int)err->status;
}

// A mistake in the k-th --set is at line -k.
static int complain_of_setting(const Options *options, const tr_error *err)
{
    const tr_setting *setting = &options->settings[-err->line - 1];
    char text[400];
    fprintf(stderr, "trundle: --set: %s\n", err->text);
    snprintf(text, sizeof text, "%s=%s", setting->name, setting->formula);
    mark_column(text, (int)strlen(setting->name) + 1 + err->column);
    return TR_USAGE;
}

bool cli_number(const char *name, const char *text, double *value)
{
    if (!text || tr_read_number(text, value)) return true;
    fprintf(stderr, "trundle: %s takes a number, not '%s'\n", name, text);
    return false;
}

bool cli_destroys(const char *out, const char *in)
{
    struct stat a, b;
    if (!out || !in || strcmp(out, "-") == 0 || stat(out, &a) || stat(in, &b)) return false;
    if (a.st_dev != b.st_dev || a.st_ino != b.st_ino || !S_ISREG(a.st_mode)) return false;
    fprintf(stderr, "trundle: '%s' would be overwritten: write to another file\n", in);
    return true;
}

tr_system *cli_system(const Options *options, int *status)
{
    tr_error err = {0};
    *status = TR_USAGE;
    if (cli_destroys(options->output, options->model) ||
        cli_destroys(options->report, options->model) ||
        cli_destroys(options->picture, options->model))
        return NULL;
    *status = 0;
    tr_model *model = tr_model_read(options->model, &err);
    const tr_derive_options how = {.case_name = options->case_name,
                                   .settings = options->settings,
                                   .setting_count = options->setting_count,
                                   .controls = options->controls,
                                   .control_count = options->control_count};
    tr_system *system = tr_derive(model, &how, &err);
    tr_model_free(model);
    if (err.line < 0)
        *status = complain_of_setting(options, &err);
    else if (err.status)
        *status = cli_complain(options->model, &err);
    if (system && options->verbose) {
        char *facts = tr_derive_text(system, false, &err);
        if (facts) fprintf(stderr, "%s", facts);
        tr_text_free(facts);
    }
    return system;
}

int cli_print(const Options *options, char *text, const tr_error *err)
{
    tr_error wrote = {0};
    if (text) tr_write_text(options->output ? options->output : "-", text, &wrote);
    tr_text_free(text);
    if (wrote.status) return cli_complain(NULL, &wrote);
    return err->status ? cli_complain(options->model, err) : 0;
}

// The verb that a word is, or NULL after saying that it is none.
static const Verb *verb_called(const char *word)
{
    const char *names[VERB_COUNT];
    for (int i = 0; i < VERB_COUNT; i++) {
        names[i] = verbs[i].name;
        if (strcmp(word, names[i]) == 0) return &verbs[i];
    }
    if (word[0] == '-') {
        fprintf(stderr, "trundle: the verb comes first: trundle VERB MODEL %s\n", word);
        return NULL;
    }
    fprintf(stderr, "trundle: unknown verb '%s'", word);
    suggest(word, names, VERB_COUNT);
    return NULL;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

// Matrices here are small: threads of a linear algebra library that has them only cost time.
extern void openblas_set_num_threads(int count) __attribute__((weak));

int main(int argc, char **argv)
{
    if (openblas_set_num_threads) openblas_set_num_threads(1);
    if (argc < 2) return print_help(stderr), TR_USAGE;
    if (is_one_of(argv[1], "--help", "-h", "help")) return print_help(stdout), 0;
    if (is_one_of(argv[1], "--version", "-V", "version")) {
        printf("trundle %s\n", tr_version());
        return 0;
    }
    const Verb *verb = verb_called(argv[1]);
    if (!verb) return TR_USAGE;
    static Options options;
    const int status = read_options(&options, verb, argc - 2, argv + 2);
    if (status) return status;
    if (options.help) return print_verb_help(verb), 0;
    const bool needs_run = verb->about & (ABOUT_PICTURES | ABOUT_REPORTS);
    if ((needs_run && !options.run_count) || (verb->about & ABOUT_CASES && !options.model)) {
        fprintf(stderr, "trundle: which %s? usage: trundle %s\n",
                needs_run && !options.run_count ? "run" : "model", verb->usage);
        return TR_USAGE;
    }
    return verb->run(verb, &options);
}
