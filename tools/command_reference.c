// SPDX-License-Identifier: Apache-2.0
// Prints docs/commands.md, the reference of the command line, from the rows that the program itself
// works with: cli/verb.def and cli/option.def.
//   command_reference >docs/commands.md
#include "commands.h"

#include <stdio.h>
#include <string.h>

// What the tables cannot say. The keys of JSON are compared with what the program writes by
// tests/documents_test.py.
static const struct {
    const char *verb, *text;
} more[] = {
    {"check",
     "It says in words what is redundant, singular, locked or not unique, and which row to relax. "
     "Exit code 3 when the\nmodel cannot be run as it is, unless its case says `allow: "
     "singular`.\n\n"
     "\"H != 0\" says that velocities are left to dynamics, \"H = 0\" that driven joints and "
     "constraints determine all motion;\n\"lambda_stat != 0\" that driven joints can work against "
     "each other, so that reactions are not unique: Table I of\nBoyer and Belkhiri.\n\n"
     "Of an FMU (`X.fmu`) all that is wrong with its archive, its modelDescription.xml and what it "
     "does "
     "when it is called is told,\nwith lines; exit code 3 where there is something. It runs code "
     "of "
     "whoever made it, unless `--no-run` is given: [FMUs](fmu.md).\n\n"
     "JSON: as of [derive](#derive).\n"},
    {"derive",
     "`operations` counts + - * / and each function as 1, a fused multiply-add as 2, from the "
     "state to the\naccelerations of what is free: `rhs` with parameters fixed, `rhs_symbolic` "
     "with all of them as inputs.\n\n"
     "JSON: `bodies` `n` `s_p` `s_a` `rows` `m` `m_locked` `redundant` `antagonist` `hyperstatic` "
     "`hyperstatic_rows`\n`kernel` `independent` `kinematic` `dynamic` `operations` `nodes` "
     "`seconds` `kernel_nearby` `groups` `awakening`\n`locked` `dropped` `cuts` `verdict`.\n"},
    {"eval",
     "`vdot` is keyed by velocities: `steer_rate`, `frame.vx`; `solved` lists what was not given "
     "and is not at its\nguess, `open` what would have to be given to leave no choice, and "
     "`chosen` "
     "what could be something else and is not at\nits guess.\n\n"
     "JSON: `q` `v` `vdot` `lambda` `tau` `outputs` `solved` `open` `chosen` `residual`.\n"},
    {"export",
     "Each language has names with units, rates, outputs, the start for any parameters, "
     "projection onto the constraints,\n"
     "exact slopes, and a demo. Beyond that:\n"
     "\n"
     "| language | contacts that open, slip and hold, charts | controllers and sensors | "
     "besides |\n"
     "|---|---|---|---|\n"
     "| c | followed, with impacts, in the unreduced form | at "
     "samples, or called alone | the bits of a run in the reduced form |\n"
     "| octave, matlab | as at the start | at samples, with noise of its own | a picture; "
     "last bits are its own |\n"
     "| python | as at the start | at samples | a picture; last bits are its own |\n"
     "| sympy | as at the start | none | M, c, Q, G and H as matrices, and nothing else "
     "|\n"
     "| casadi | as at the start | what they hold is part of x, and stays | derivatives, "
     "which CasADi finds by itself: of first order by t, x, u and p, of second order by x and u "
     "(by t and "
     "p NaN) |\n"
     "| fmu | followed | at samples | [FMUs](fmu.md) |\n"
     "| ptx, cuda | as at the start | none | [GPUs](gpu.md) |\n"
     "\n"
     "`NAME_step` is a step of `simulate --method rk4`, and (with numbers of double precision) "
     "stops where formulas of t jump, but "
     "not where formulas of the\nstate switch (`abs(d(q))`), which a run looks for; of the reduced "
     "form 2 says that other velocities should be\n"
     "independent, in Python and Octave a warning and `NAME_fits`; where a run of the case has "
     "that, "
     "there is a warning beforehand. Where there is no state at t = 0 with other parameters,\n"
     "`NAME_initial` of C gives 1, that of Python raises a ValueError, that of Octave the error "
     "`NAME:start`. Functions and files are called as the model's file, or as "
     "`--name` "
     "says, with _ for all that is no letter or digit; several models may be in one folder.\n"},
    {"simulate",
     "Writes a row for every instant, `-o run.csv`, `-o run.mat` or `-o run.npy`; [what "
     "the columns are](format.md#results). Beside it\n`run.json`, the certificate: how the run "
     "went, how well "
     "energy and constraints were kept, events and warnings,\nand the hash of the rows: both "
     "get their names when both are on the disk.\nWith `-o -`, and without `-o` unless that is a "
     "terminal, rows go to standard "
     "output. Ctrl-C, SIGTERM and a closed terminal leave what there is, complete up to there "
     "(exit code 130);\nthe second time they end the process at once. "
     "A run that fails or comes to its limits (exit code 1) leaves its rows, too. `--json` prints "
     "a "
     "summary "
     "in one line, on standard\nerror where rows go to standard output.\n\n"
     "An FMU (`X.fmu`) runs as it says itself (times, tolerance) where no option says otherwise: "
     "[FMUs](fmu.md).\n`--set` takes values of its variables, `--with` a table of inputs over "
     "time. "
     "Its rows have no certificate.\n\n"
     "JSON (the certificate): `model` `method` `end` `reached` `every` `rtol` `atol` `rows` "
     "`steps` "
     "`failed_steps` `evaluations`\n`all_evaluations` `operations` `seconds` `energy_error` "
     "`position_error` "
     "`velocity_error` `kkt_error` `chart_changes` `drift`\n`interrupted` "
     "`failure` `model_file` "
     "`model_sha256` `case` `settings` `program` `rows_file` `rows_bytes` `rows_sha256` "
     "`parameters` `ports` `start` `events` "
     "`warnings`\n`columns`.\n\n"
     "`ports`, where the model has some, are the parameters and inputs of which it says more than "
     "a "
     "value: `kind`\n`value` `unit` `min` `max` `doc`. "
     "In first order it also has `command_error`; where something is uncertain `covariance`, of "
     "the "
     "state\nat the end; with `--filter` also `filter`; with `--with` also `with`, the files and "
     "what "
     "stood in them.\n"},
    {"sweep",
     "Ranges and lists form a grid, the first one varies slowest; what is drawn is a Latin "
     "hypercube "
     "in each of its cells. A sample\nis a function of the seed, the number of the run and the "
     "name "
     "alone, and what comes out is the same, to the bit, with any `--jobs`\nand after any "
     "interruption.\n\n"
     "By rk4 and lie many runs go side by side, several times as fast as one after the other. "
     "`--keep` sees the columns that `simulate`\nrecords, at 0, `--every`, ..., `--end`, and what "
     "is "
     "varied; `mean` and `rms` are over time. A run that cannot go on keeps what it has come to, "
     "with "
     "`status` failed and `words` that say why.\n\n"
     "A `.db` file has the tables `runs`, `rows` (of `--record`) and `settings`, which hold the "
     "text "
     "of the model. It is written every\nsecond; the same command goes on with what is missing, "
     "others are refused. Columns of runs: `run`, what varies, what is kept,\n`t` `rows` `steps` "
     "`energy_error` `position_error` `velocity_error` `chart_changes` `switches` `warnings` of "
     "the "
     "run, `seconds` `status` `words`.\n"},
    {"linearise",
     "Exact derivatives in the tangent of the constraints. `.csv`, `.json` and `.mat` as the name "
     "of `-o` says.\n\n"
     "JSON: `states` `inputs` `outputs` `A` `B` `C` `D` `eigenvalues` ([re, im] pairs) `damping` "
     "`frequency` `modes`\n`displacements` `symmetries_removed` `controllable` `observable` "
     "`largest_acceleration` `warnings` `about`, and `discrete` with `--step`.\n\n"
     "An output whose derivative is not finite at the initial state has no rows in `C` and `D` "
     "(null, "
     "in `.csv` and\n`.mat` nan), and a warning names it.\n\n"
     "`--trim` takes the steady motion near the start, with `--sweep` at every value. Inputs may "
     "change, unless `--free` says what\nmay; what is then left open is held, as far as it takes: "
     "of "
     "`initial` what the swept parameter is in, rates and\nformulas, then inputs, coordinates that "
     "it "
     "gives, and the state. `--hold` asks for something else.\n\n"
     "JSON with `--sweep`: `parameter` `values` `eigenvalues` `critical` `largest_acceleration` "
     "`modes`, each with a\n`name` by what moves in it and the numbers of its `eigenvalues` among "
     "the "
     "columns. Of vehicles with one steering joint\nsome are called weave, wobble and capsize.\n"},
    {"steady",
     "What `initial` says is a guess; `--hold` asks for something, `--free` gives up something. "
     "`-o "
     "trim.yaml` is a file for\n`--with`: the state, and parameters and inputs that were found.\n\n"
     "JSON: `q` `v` `along` `lambda` `tau` `outputs` `parameters` `eigenvalues` `warnings` "
     "`stability` `residual`\n`iterations`.\n\n"
     "Of a family: `parameter` `columns` `rows` `folds` `complete`, which is false where it could "
     "not be followed to its end,\nor was interrupted: then rows so far are written. Of `linearise "
     "--sweep` nothing is.\n"},
    {"settle",
     "A pose is positions alone: what is held, loops and couplings that are closed, and the "
     "ground. "
     "Velocities, motors and friction\nplay no part; joints that a motion drives stand where they "
     "are at the start, and so does what nothing depends on, as angles of\nround wheels. What is "
     "held may be any formula of positions, with `BODY.x`, `y`, `z`, `yaw`, `pitch` and `roll` of "
     "every body.\nBy energy, contacts may lift off, whether they are `unilateral` or not; it "
     "takes "
     "a place and a heading that are held, or else\nwhat stands on a slope rolls away to the next "
     "hollow, as far as one is within reach.\n\n"
     "Per pose: coordinates; yaw, pitch and roll of the body that carries all contacts; of each "
     "contact its place, its gap, its normal\nforce `lambda.E.normal` (where normal forces alone, "
     "and what is "
     "held, balance weights and springs: on a slope what is held bears a\npart, as at the origin "
     "of its body), its `load`, the friction that it needs, and the model's `friction`; "
     "`tip_margin`, from the mass\ncentre to the nearest side of the hull of contacts with the "
     "world, seen from above and negative outside; `energy.potential`.\n\n"
     "Loads and friction needed, tangential over normal, are of the reactions of least norm that "
     "hold all of it with nothing held, wheels\nlocked and springs as they stand: loads add up to "
     "the weight across a slope. The friction is that of these reactions, not the least\nwith "
     "which it could stand. Contacts bear nothing where nothing acts: without friction, or "
     "across rollers. On level ground loads and\nnormal forces are the same. By `basic` and "
     "`residual` forces are as if all contacts touched there, whatever their gaps; with\n`--gap "
     "vertical` there are loads alone. In first order there are no forces. `touches` is a gap "
     "below 1e-9 m.\n\n"
     "Along a path each pose is found from the last one. What lifts off, jumps to another branch "
     "and rows without a pose are told\non standard error; such rows hold nan, and the exit code "
     "is "
     "1. Jumps are told for rows that are near each other: between\nrows that are far apart one "
     "may "
     "be missed.\n\n"
     "JSON: `by` `q` `attitude` `contacts` `lifted` `tip_margin` `potential` `iterations`.\n\n"
     "Of each contact: `x` `y` `z` `gap` `normal` `load` `friction_needed` `friction` `touches`. "
     "Along "
     "a path: `by` `columns` `rows`\n`failed` `jumps`, of which the last two count rows from 1.\n"},
    {"lqr",
     "`-o gains.yaml` has the feedback as `roles`, in the model's own names, for `--with`. With "
     "`--trim` about the steady motion\nnear the start, for which the inputs are found; the file "
     "has "
     "its state, too.\n\n"
     "What is kept small is a sum of squares: of the displacements of all coordinates (those of a "
     "base along and about its\nown axes, `B.dx` ... `B.rz`) and of all velocities of the model, "
     "in m, rad, m/s and rad/s, plus those of the inputs. So it\ndoes not depend on which "
     "velocities a run integrates. A coordinate or velocity that `--q` names has that weight in "
     "place\nof its 1 (`steer=10`, `frame.wx=2`, `d(steer)=0`), whether others determine it or "
     "not; an output, or a coordinate of a base\n(`frame.x`), is added with its weight. What "
     "changes nothing (place, heading, angles of wheels) is no state and costs\nnothing, unless "
     "something that is named depends on it.\n\n"
     "JSON: `states` `inputs` `A` `B` `Q` `R` `K` `eigenvalues` `open_eigenvalues` `residual` "
     "`unsteadiness` `neutral` `laws`.\n\n"
     "Where an output that has a weight depends on the inputs at once, `R` includes that, and `N` "
     "has what it asks of products 2 x^T N u.\n"},
    {"fit",
     "Gauss-Newton with the damping of Levenberg and Marquardt, on the exact sensitivities of a "
     "run "
     "that stops at all times\nwhich were recorded; in first or second order, as the case says. "
     "Columns of the recordings that are called like coordinates,\nvelocities or outputs of the "
     "model are used, the others are not unless `--match` says what they are. Directions that the\n"
     "data cannot tell are named, and stay what they were. Runs in which contacts open, close, "
     "slip or stick are refused.\n`-o fit.yaml` has what was found as keys of a case.\n\n"
     "JSON: `values` `covariance` `correlation` `untold` `columns` `measurements` `recordings` "
     "`chi_square` `freedom`\n`iterations` `runs`.\n\n"
     "With `--inverse`: `samples` `equations` `moved` `misfit` `misfit_least` `misfit_model` "
     "`bounds_active`\n`made_velocities` `made_accelerations` `base` `untold` `bodies`.\n"},
    {"view", "A certificate beside the run that is of another run is an error (exit code 3).\n"},
    {"plot",
     "Units and kinds of columns come from the certificate beside the run; one that is of another "
     "run is left out, with a\nwarning.\n"},
    {"schema",
     "An editor with a YAML language server checks and completes a model whose first line is\n"
     "`# yaml-language-server: $schema=trundle.schema.json`. The schema says which keys may stand "
     "where and what their values\nlook like; whether names and formulas mean something, `check` "
     "says.\n"},
};

static bool is_shared(int option) { return cli_is_shared(options[option].of); }

static void print_option(int option)
{
    printf("| `%s%s%s` | %s", options[option].name, options[option].argument[0] ? " " : "",
           options[option].argument, options[option].doc);
}

static void print_shared_options(void)
{
    printf("| option | meaning | when not given | not of |\n|---|---|---|---|\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!is_shared(i)) continue;
        print_option(i);
        printf(" | %s |", options[i].otherwise);
        const char *between = " ";
        for (int k = 0; k < VERB_COUNT; k++) {
            if (options[i].of & verbs[k].self) continue;
            printf("%s`%s`", between, verbs[k].name);
            between = ", ";
        }
        printf(" |\n");
    }
}

static void print_own_options(int verb)
{
    int count = 0;
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!(options[i].of & verb) || is_shared(i)) continue;
        if (!count++) printf("\n| option | meaning | when not given |\n|---|---|---|\n");
        print_option(i);
        printf(" | %s |\n", options[i].otherwise);
    }
}

static void print_more(const char *verb)
{
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (strcmp(more[i].verb, verb) == 0) printf("\n%s", more[i].text);
}

// Lines of examples begin with two blanks.
static void print_examples(const char *text)
{
    printf("\n```sh\n");
    while (*text) {
        const int length = (int)strcspn(text, "\n");
        printf("%.*s\n", length > 2 ? length - 2 : 0, text + 2);
        text += length + 1;
    }
    printf("```\n");
}

int main(void)
{
    printf("# The command line\n\n"
           "<!-- Written by tools/command_reference.c from the tables in the source; do not edit. "
           "-->\n\n"
           "`trundle VERB FILE [options]`; `trundle VERB --help` says what stands here. Data goes "
           "to standard output,\nmessages to standard error. `--end 5` and `--end=5` are the "
           "same. Numbers in JSON, CSV and YAML\nread back equal; texts have 5 digits, with `-v` "
           "all. Files appear complete or not "
           "at all; none is written over that is read, and no two results\ngo to one file. What "
           "models of strangers can and cannot do: [SECURITY.md](../SECURITY.md).\n\n"
           "| exit code | meaning |\n|---|---|\n");
    for (int i = 0; i < EXIT_CODES; i++)
        printf("| %d | %s |\n", exit_codes[i].code, exit_codes[i].meaning);
    printf("\n| verb | what it does |\n|---|---|\n");
    for (int i = 0; i < VERB_COUNT; i++)
        printf("| [%s](#%s) | %s |\n", verbs[i].name, verbs[i].name, verbs[i].doc);
    printf("\n## Options that verbs share\n\n");
    print_shared_options();
    for (int i = 0; i < VERB_COUNT; i++) {
        printf("\n## %s\n\n`trundle %s %s [options]`: %s.\n", verbs[i].name, verbs[i].name,
               verbs[i].given, verbs[i].doc);
        print_more(verbs[i].name);
        print_own_options(verbs[i].self);
        print_examples(verbs[i].examples);
    }
    return ferror(stdout) || fflush(stdout) != 0;
}
