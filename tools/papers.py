#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reruns the numbers, tables and figures of the papers behind trundle, and writes docs/papers.md
and docs/papers.html.

What is compared stands in docs/papers/*.toml, one file a source: experiments, each with the runs
it needs and rows that compare one thing. `let` names what several rows use; a row has, where
`defaults` does not say it for all,

  what, where   what it is, and where the source has it
  theirs, ours  formulas over the runs, the reference files and tools/papers_math.py; columns of a
                run are compared row by row
  by            what ours is compared with: table, text, equation, reference (a file in
                tests/reference), or erratum
  tolerance     how far they may be apart: `why` says why; or instead of it
  below         a number that ours must stay below
  said          how to show theirs, when it is words
  erratum       what is wrong in the source
  note          what else is to be said; this, `erratum` and `why` may be keys of [notes]
  timed         true for a time, which is printed

Everything written is the same from run to run: times are printed here, and only bounded there.
"""
import argparse
import csv
import html
import json
import math
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

sys.dont_write_bytecode = True  # nothing is left beside the sources
import papers_math
from papers_math import Series

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SOURCES = ["boyer2013", "mauny2017", "benchmark", "kelly", "macicek2022"]
INTRODUCTION = (
    "Every number, table and figure of the papers behind trundle that it can rerun so far: theirs, "
    "ours, how far they are apart, and the commands that repeat it. Where a paper has only a "
    "picture, ours is compared with what its text says, or with a run of the same motion that was "
    "made by two other methods and stands in `tests/reference`. Where a paper is wrong the row "
    "says so, and ours is compared with the corrected form.")
COMPARED = ("Two numbers are given for columns of a run: the least and the greatest; the error is the "
            "largest of all rows. Errors far below the tolerance are not told apart. Times depend "
            "on the machine: they are bounded here, and `make papers` prints them.")


# ---- runs ----------------------------------------------------------------------------------

class Failure(Exception):
    pass


def flat(tree, prefix=""):
    """{"a": {"b": 1}} -> {"a.b": 1}; lists stay."""
    out = {}
    for key, value in tree.items():
        out |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return out


def read_table(path):
    with open(path, newline="") as file:
        names, *rows = csv.reader(file)
    table = {name: Series(map(float, column)) for name, column in zip(names, zip(*rows))}
    if not all(math.isfinite(x) for column in table.values() for x in column):
        raise Failure(f"{path}: a number is not finite")
    return table


class Trundle:
    """Runs commands, each once."""

    def __init__(self, program, folder):
        self.program, self.folder = program, Path(folder)
        self.results, self.tables = {}, {}

    def call(self, words):
        done = subprocess.run([self.program, *words], cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            raise Failure(f"trundle {shlex.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def run(self, command):
        """What it found, by name: columns and the certificate of a run, or the JSON of any other command."""
        if command not in self.results:
            words = shlex.split(command)
            if words[0] == "simulate":
                path = self.tables[command] = self.folder / f"{len(self.tables)}.csv"
                self.call([*words, "-q", "-o", str(path)])
                certificate = json.loads(path.with_suffix(".json").read_text())
                self.results[command] = read_table(path) | flat({"certificate": certificate})
            else:
                self.results[command] = flat(json.loads(self.call([*words, "--json"])))
        return self.results[command]

    def wall_seconds(self, command):
        """From its start to its end, the best of five: others may be at work on the machine."""
        def once():
            begin = time.monotonic()
            self.call(shlex.split(command))
            return time.monotonic() - begin
        return min(once() for _ in range(5))

    def can_plot(self):
        done = subprocess.run([self.program, "plot", "--help"], capture_output=True)
        return done.returncode == 0


class Run:
    """A command under its name: run["column"], or run(speed0=2)["vdot.steer_rate"]; run["wall_seconds"]
    is how long it takes."""

    def __init__(self, trundle, command):
        self.trundle, self.command = trundle, command

    def __call__(self, **settings):
        more = "".join(f" --set {name}={value!r}" for name, value in settings.items())
        return Run(self.trundle, self.command + more)

    def __getitem__(self, name):
        if name == "wall_seconds":
            return self.trundle.wall_seconds(self.command)
        found = self.trundle.run(self.command)
        if name not in found:
            raise Failure(f"trundle {self.command}: there is no {name}")
        return found[name]

    def count(self, prefix):
        return sum(name.startswith(prefix) for name in self.trundle.run(self.command))


# ---- comparing -----------------------------------------------------------------------------

def short(number):
    return re.sub(r"e-0", "e-", f"{number:g}")


def shown(value, tolerance):
    """With digits that say something about the tolerance, and not more than repeat on any machine."""
    if isinstance(value, list):
        ends = shown(min(value), 1e-3), shown(max(value), 1e-3)
        return " … ".join(dict.fromkeys(ends))
    if not isinstance(value, float):
        return str(value)
    places = max(0, math.ceil(-math.log10(tolerance))) + (tolerance > 1e-5)
    text = f"{value:.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if float(text) == 0 else text


def largest_difference(ours, theirs):
    if not isinstance(ours, list):
        return abs(ours - theirs)
    difference = ours - theirs
    return max(abs(x) for x in difference)


def shown_error(error, tolerance):
    if not tolerance:
        return short(error)
    return short(float(f"{error:.1e}")) if error >= tolerance / 10 else f"< {short(tolerance / 10)}"


def value_of(formula, names):
    try:
        return eval(str(formula), dict(names))
    except (ArithmeticError, LookupError, NameError, SyntaxError, TypeError, ValueError) as error:
        raise Failure(f"{formula}: {type(error).__name__}: {error}") from error


class Row:
    def __init__(self, entry, names):
        self.entry, self.tolerance = entry, entry.get("tolerance")
        ours = value_of(entry["ours"], names)
        if "below" in entry:
            self.passed, self.measured = ours < entry["below"], ours
            self.allowed, self.error, self.theirs = f"below {short(entry['below'])}", "", entry["said"]
            self.ours = str(ours) if isinstance(ours, int) else self.allowed
            return
        theirs = value_of(entry["theirs"], names)
        error = largest_difference(ours, theirs)
        self.passed, self.measured = error <= self.tolerance, error
        self.ours, self.error = shown(ours, self.tolerance), shown_error(error, self.tolerance)
        self.theirs = entry.get("said") or self.shown_theirs(theirs)
        self.allowed = short(self.tolerance) if self.tolerance else "exact"

    def shown_theirs(self, value):
        """As printed when it is a number there."""
        printed = str(self.entry["theirs"])
        return printed if re.fullmatch(r"-?[\d.]+(e-?\d+)?", printed) else shown(value, self.tolerance)

    def formulas(self):
        return f"{self.entry['ours']} {self.entry.get('theirs', '')}"


def with_defaults(defaults, row):
    """A bound has a reason of its own."""
    if "below" in row:
        defaults = {key: value for key, value in defaults.items() if key not in ("tolerance", "why")}
    return defaults | row


KINDS_OF_NOTES = {"why": "", "erratum": "Erratum: ", "note": ""}


class Experiment:
    def __init__(self, entry, texts, trundle):
        self.entry, self.texts = entry, texts
        self.commands = entry.get("runs", {})
        names = {name: value for name, value in vars(papers_math).items() if name[0] != "_"}
        for name, command in self.commands.items():
            names[name] = Run(trundle, command)
        for name, file in entry.get("references", {}).items():
            names[name] = read_table(ROOT / "tests" / "reference" / file)
        for name, formula in entry.get("let", {}).items():
            names[name] = value_of(formula, names)
        self.made = {}  # from which runs `let` made something
        for name, formula in entry.get("let", {}).items():
            self.made[name] = self.runs_in(formula)
        self.rows = [Row(with_defaults(entry.get("defaults", {}), row), names)
                     for row in entry.get("rows", [])]
        for row in self.rows:
            self.check_times(row, names)
        self.figures = []

    def check_times(self, row, names):
        """A reference and a run that are compared have their rows at the same times."""
        words = re.findall(r"\w+", row.formulas())
        for reference in self.entry.get("references", {}).keys() & words:
            for run in self.commands.keys() & words:
                if "t" in names[reference] and self.commands[run].startswith("simulate"):
                    if largest_difference(names[run]["t"], names[reference]["t"]) > 1e-12:
                        raise Failure(f"{row.entry['what']}: {run} and {reference} differ in t")

    def runs_in(self, text):
        words = re.findall(r"\w+", text)
        found = [word for word in words if word in self.commands]
        return found + [run for word in words for run in self.made.get(word, [])]

    def runs_of(self, row):
        return ", ".join(dict.fromkeys(self.runs_in(row.formulas())))

    def notes(self):
        """Each once, with its mark."""
        marks = {}
        for key in KINDS_OF_NOTES:
            for row in self.rows:
                if key in row.entry:
                    marks.setdefault((key, row.entry[key]), chr(ord("a") + len(marks)))
        return marks


def draw(experiment, trundle, folder):
    for figure in experiment.entry.get("figures", []):
        path = folder / figure["file"]
        command = experiment.commands[figure["run"]]
        trundle.run(command)
        trundle.call(["plot", str(trundle.tables[command]), *shlex.split(figure["plot"]), "-o", str(path)])
        experiment.figures.append((figure, path.read_text()))


# ---- pages ---------------------------------------------------------------------------------

HEADINGS = ["what", "where", "compared with", "theirs", "ours", "error", "allowed", "run", ""]


def cells(experiment, row, marks):
    entry = row.entry
    mark = lambda key: f" ({marks[key, entry[key]]})" if key in entry else ""
    return [entry["what"] + mark("note"), entry["where"] + mark("erratum"), entry["by"], row.theirs, row.ours,
            row.error, row.allowed + mark("why"), experiment.runs_of(row),
            "ok" if row.passed else "FAILS"]


def command_lines(experiment):
    for name, command in experiment.commands.items():
        end = f" -o {name}.csv" if command.startswith("simulate") else " --json"
        yield f"build/trundle {command}{end}", name
    for figure, _ in experiment.figures:
        yield f"build/trundle plot {figure['run']}.csv {figure['plot']} -o docs/papers/{figure['file']}", ""


def anchor(title):
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def tally(sources):
    rows = [row for source in sources for e in source["experiments"] for row in e.rows]
    return f"{len(rows)} comparisons, {sum(not row.passed for row in rows)} of them fail."


class Markdown:
    def escape(self, text):
        return text.replace("|", "\\|")

    def heading(self, level, text):
        return f"{'#' * level} {text}\n"

    def paragraph(self, text):
        return text.strip() + "\n"

    def bullets(self, items, level=0):
        return "".join(f"- {item}\n" for item in items)

    def contents(self, titles):
        return "".join(f"{'  ' * level}- [{t}](#{anchor(t)})\n" for level, t in titles)

    def table(self, rows):
        lines = [HEADINGS, ["---"] * len(HEADINGS), *rows]
        return "".join("| " + " | ".join(map(self.escape, line)) + " |\n" for line in lines)

    def commands(self, lines):
        width = max(len(line) for line, _ in lines)
        text = "\n".join(f"{line:{width}}  # {name}" if name else line for line, name in lines)
        return f"```sh\n{text}\n```\n"

    def figure(self, figure, svg):
        return f"![{figure['caption']}](papers/{figure['file']})\n\n*{figure['caption']}*\n"

    def page(self, parts):
        head = "<!-- Written by tools/papers.py from docs/papers/*.toml; do not edit. -->\n"
        return "\n".join([head, *parts])


class Html(Markdown):
    def escape(self, text):
        return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))

    def heading(self, level, text):
        return f'<h{level} id="{anchor(text)}">{self.escape(text)}</h{level}>\n'

    def paragraph(self, text):
        return f"<p>{self.escape(text.strip())}</p>\n"

    def bullets(self, items, level=0):
        return "<ul>\n" + "".join(f"<li>{self.escape(item)}</li>\n" for item in items) + "</ul>\n"

    def contents(self, titles):
        items = "".join(f'<li class="level{level}"><a href="#{anchor(t)}">{self.escape(t)}</a></li>\n'
                        for level, t in titles)
        return f'<nav aria-label="Contents"><ul>\n{items}</ul></nav>\n'

    def table(self, rows):
        head = "".join(f"<th scope=col>{h}</th>" for h in HEADINGS)
        body = "".join("<tr>" + "".join(self.cell(h, c) for h, c in zip(HEADINGS, row)) + "</tr>\n"
                       for row in rows)
        return f'<div class="wide"><table>\n<tr>{head}</tr>\n{body}</table></div>\n'

    def cell(self, heading, text):
        kind = {"theirs": ' class="n"', "ours": ' class="n"', "error": ' class="n"'}.get(heading, "")
        if text == "FAILS":
            kind = ' class="fails"'
        return f"<td{kind}>{self.escape(text)}</td>"

    def commands(self, lines):
        text = html.escape(super().commands(lines).split("\n", 1)[1].rsplit("```", 1)[0], quote=False)
        return f"<pre>{text}</pre>\n"

    def figure(self, figure, svg):
        caption = self.escape(figure["caption"])
        return f"<figure>{inlined(svg, Path(figure['file']).stem)}<figcaption>{caption}</figcaption></figure>\n"

    def page(self, parts):
        return PAGE.replace("@BODY@", "".join(parts))


def inlined(svg, stem):
    """The <svg> element alone; names in it are made unique to the page."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{stem}-\1"', svg)
    svg = re.sub(r'url\(#([^)]+)\)', rf'url(#{stem}-\1)', svg)
    return re.sub(r'href="#([^"]+)"', rf'href="#{stem}-\1"', svg)


PAGE = """<!doctype html>
<!-- Written by tools/papers.py from docs/papers/*.toml; do not edit. -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>The papers, rerun by trundle</title>
<style>
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fdfdfb; --line: #d8d6d0; --soft: #f2f1ec;
  --link: #1b4f8a; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e2dc; --paper: #17181a; --line: #3a3b3e; --soft: #212327; --link: #8ab4f0; --bad: #ff8a80; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 75rem; margin: 2rem auto; padding: 0 1.2rem; }
h1, h2, h3 { line-height: 1.25; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
h3 { margin-top: 2rem; }
p, li { max-width: 48rem; }
a { color: var(--link); }
nav ul { list-style: none; padding-left: 0; }
nav .level1 { padding-left: 1.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; border-bottom: 2px solid var(--line); }
th, td { padding: 0.25rem 0.7rem 0.25rem 0; vertical-align: top; }
tr + tr td { border-top: 1px solid var(--line); }
td.n { white-space: nowrap; }
td.fails { color: var(--bad); font-weight: 700; }
pre { background: var(--soft); padding: 0.7rem; overflow-x: auto; font-size: 0.8rem; }
code { background: var(--soft); padding: 0 0.2em; font-size: 0.92em; }
figure { margin: 1.5rem 0; padding: 0.5rem; background: #fff; color: #000; border: 1px solid var(--line); overflow-x: auto; }
figure svg { max-width: 100%; height: auto; }
</style>
</head>
<body>
@BODY@</body>
</html>
"""


def experiment_parts(page, experiment):
    entry = experiment.entry
    yield page.heading(3, entry["title"])
    if "text" in entry:
        yield page.paragraph(entry["text"])
    marks = experiment.notes()
    if experiment.rows:
        yield page.table([cells(experiment, row, marks) for row in experiment.rows])
    yield page.bullets(f"({mark}) {KINDS_OF_NOTES[kind]}{experiment.texts.get(note, note)}"
                       for (kind, note), mark in marks.items())
    if "references" in entry:
        files = ", ".join(f"`tests/reference/{file}`" for file in entry["references"].values())
        yield page.paragraph(f"The reference is {files}.")
    for figure, svg in experiment.figures:
        yield page.figure(figure, svg)
    yield page.commands(list(command_lines(experiment)))


def parts(page, sources):
    yield page.heading(1, "The papers, rerun by trundle")
    yield page.paragraph(INTRODUCTION)
    yield page.paragraph(COMPARED)
    yield page.paragraph(tally(sources))
    titles = [t for s in sources for t in
              [(0, s["title"]), *((1, e.entry["title"]) for e in s["experiments"])]]
    yield page.contents([*titles, (0, "Not yet")])
    for source in sources:
        yield page.heading(2, source["title"])
        yield page.paragraph(source["cite"])
        for experiment in source["experiments"]:
            yield from experiment_parts(page, experiment)
        if "errata" in source:
            yield page.paragraph("Other errata, found by deriving the formulas anew; trundle does not use the printed form:")
            yield page.bullets(source["errata"])
    yield page.heading(2, "Not yet")
    yield page.paragraph("What the papers have and trundle, or this page, does not rerun so far.")
    yield page.bullets(f"{s['short']}: {item}" for s in sources for item in s.get("not_yet", []))


# ---- the whole -----------------------------------------------------------------------------

def read_source(name, trundle):
    source = tomllib.loads((DOCS / "papers" / f"{name}.toml").read_text())
    source["experiments"] = [Experiment(entry, source.get("notes", {}), trundle)
                             for entry in source["experiment"]]
    return source


def complain(sources):
    """Prints what fails, and times; how many rows fail."""
    failures = 0
    for source in sources:
        for experiment in source["experiments"]:
            for row in experiment.rows:
                place = f"{source['short']}, {experiment.entry['title']}: {row.entry['what']}"
                if row.entry.get("timed"):
                    print(f"{place}: {row.measured:.2g}, theirs {row.theirs}")
                if not row.passed:
                    failures += 1
                    print(f"FAILS {place}: ours {row.ours}, theirs {row.theirs}, off by "
                          f"{row.measured:.3g}, allowed {row.allowed}", file=sys.stderr)
    return failures


def main():
    arguments = argparse.ArgumentParser(description="reruns the papers; writes docs/papers.md and .html")
    arguments.add_argument("--check", action="store_true",
                           help="write nothing: fail unless docs/papers.md is what would be written")
    arguments.add_argument("--trundle", default=str(ROOT / "build" / "trundle"), help="the program")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trundle = Trundle(str(Path(chosen.trundle).resolve()), folder)
        sources = [read_source(name, trundle) for name in SOURCES]
        if trundle.can_plot():
            pictures = Path(folder) if chosen.check else DOCS / "papers"
            for source in sources:
                for experiment in source["experiments"]:
                    draw(experiment, trundle, pictures)
    failures = complain(sources)
    print(tally(sources))
    text = Markdown().page(parts(Markdown(), sources))
    if chosen.check:
        if (DOCS / "papers.md").read_text() != text:
            print("docs/papers.md is not what it should be: make papers, and read the difference",
                  file=sys.stderr)
            failures += 1
    else:
        (DOCS / "papers.md").write_text(text)
        (DOCS / "papers.html").write_text(Html().page(parts(Html(), sources)))
        print("The pages are docs/papers.html and docs/papers.md.")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, OSError) as failure:
        sys.exit(f"papers: {failure}")
