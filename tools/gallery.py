#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The gallery of bundled models, docs/models/: a page for each with what its file says of it, how it is
run, a picture, a plot and its equations, and an index of them.

    tools/gallery.py [--trundle PROGRAM] [NAME...]    makes what is missing or out of date; pictures of
                                                      the models that are named are made anew
    tools/gallery.py --check                          fails where something is
    tools/gallery.py --run                            runs the commands of all pages as they stand

Texts are the same on every machine and compared to the byte. Pictures and plots depend on fonts, and
last bits: docs/models/pictures/made.txt says of which contents of a model's files they were made.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS, PAGES = ROOT / "models", ROOT / "docs/models"
PICTURES = PAGES / "pictures"
MADE = PICTURES / "made.txt"
AGAIN = "run `make gallery`, and commit what it writes"
SHOW = "M,c,Q,G,H,J,reduced,energy"
SHORT, LONGER, SMALL = 24, 80, 4  # operations of an entry; more of models with so few velocities
MOST_TEXT = 7000  # characters of equations on a page

# Cases that show where a run ends by itself, or why it cannot begin: their exit codes.
ENDS = {("euler_disc", "fall"): 1, ("parallelogram", "over"): 1, ("parallelogram", "flat"): 3, ("sk8o", "locked"): 3,
        ("snakeboard_wide", "across"): 1, ("snakeboard_wide", "touch"): 1}

# What a model belongs to is told by the first of these that its name matches.
GROUPS = [
    ("Bicycles, motorcycles and tricycles", r"^bicycle|^motorcycle|scooter|treadmill|^tricycle"),
    ("Cars and trains", r"car_|train|geared_axle"),
    ("Rovers", r"rover"),
    ("Robots on wheels, and where they are", r"robot_|differential|unicycle|castor"),
    ("What balances", r"segway|ballbot|sk8o|cart_pole|mobile_pendulum|cart$|leg$"),
    ("What rolls", r"ball_|disc|tyre|wheel|turntable|spherical|shaker"),
    ("Boards, snakes and other nonholonomic ones", r"snake|sleigh"),
    ("Fish and birds", r"fish|flapper"),
    ("Linkages", r"bar$|bricard|delta|stewart|slider|andrews|parallelogram|cardan|universal"),
    ("What bends", r"flexible|beam|elastic"),
    ("Pendulums, tops and others to begin with", r""),
]


# ---- models --------------------------------------------------------------------------------


class Model:
    def __init__(self, path):
        self.path, self.name = path, path.stem
        self.text = path.read_text(encoding="utf-8")
        self.fields = yaml.load(self.text, yaml.BaseLoader) or {}
        self.title = self.fields.get("name", self.name)
        cases = self.fields.get("cases") or {}
        self.cases = list(cases)
        self.paragraphs = paragraphs(self.text)

    def hash(self):
        """Of the file and of those that it names."""
        named = [p for p in sorted(MODELS.iterdir()) if p != self.path and p.name in self.text]
        whole = b"".join(p.read_bytes() for p in [self.path, *named])
        return hashlib.sha256(whole).hexdigest()[:20]


def is_part(text):
    """A file that others include, and nothing by itself."""
    return not re.search(r"^(bodies|include):", text, re.M) or "not a model by itself" in text


def models():
    paths = [p for p in sorted(MODELS.glob("*.yaml")) if not is_part(p.read_text(encoding="utf-8"))]
    return [Model(p) for p in paths]


def paragraphs(text):
    """Those of the comment that the file begins with."""
    head = re.match(r"(?:#.*\n)*", text)[0].splitlines()
    lines = [line[1:].strip() for line in head if not line.startswith("# yaml-language-server")]
    return [" ".join(part.split("\n")) for part in "\n".join(lines).strip().split("\n\n") if part]


def plain(words):
    """Words of a comment as Markdown, which what stands between back quotes is left as."""
    parts = re.split(r"(`[^`]*`)", words)
    return "".join(p if p.startswith("`") else re.sub(r"([\\*_<>|\[\]#$~])", r"\\\1", p) for p in parts)


def first_sentence(words):
    found = re.match(r".*?[^A-Z.][.:](?= [A-Z`]|$)", words)
    return (found[0] if found else words).rstrip(":.") + "."


# ---- pages ---------------------------------------------------------------------------------


def equations(trundle, model):
    """(the case, what trundle prints as Markdown, what it says instead)"""
    words = ""
    for case in [None, *model.cases[1:]]:
        of = [] if case is None else ["--case", case]
        for most in (SHORT, LONGER):
            done = subprocess.run([trundle, "equations", model.path, "--show", SHOW, "--to", "markdown", "--most-operations",
                                   str(most), *of], capture_output=True, text=True, timeout=300)
            words = done.stderr.strip()
            if done.returncode or "left out" not in done.stdout or velocities(done.stdout) > SMALL:
                break
        if not done.returncode:
            return case, done.stdout, ""
        if "second order" not in words:
            break
    return None, "", words


def velocities(text):
    found = re.search(r"with v = \(([^)]*)\)", text)
    return len(found[1].split(",")) if found else 1000


def aligned(formulas):
    rows = [" &= ".join(f.split(" = ", 1)) for f in formulas]
    return "```math\n\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}\n```\n"


def blocks(text):
    """What trundle prints, with formulas that follow each other in one block."""
    out, formulas = [], []
    for line in [line for line in text.splitlines()[1:] if line.strip()] + [""]:
        if line.startswith("$$"):
            formulas.append(line.strip("$ "))
            continue
        if formulas:
            out.append(aligned(formulas))
        formulas = []
        out.append("#" + line + "\n" if line.startswith("#") else line.strip() + "\n")
    return [part for part in out if part.strip()]


def equation_section(trundle, model):
    case, text, words = equations(trundle, model)
    if not text:
        return f"None here: {plain(words.removeprefix('trundle: '))}\n"
    out = [f"Of case `{case}`, for the first one is without masses.\n"] if case else []
    left, is_whole = MOST_TEXT, "left out:" not in text
    for block in blocks(text):
        count = block.count(" &= ")
        if count and len(block) > left:
            is_whole = False
            block = f"{count} {'formulas that are' if count > 1 else 'formula that is'} too long for this page.\n"
        left -= len(block)
        out.append(block)
    if not is_whole:
        out.append(f"All of it: `build/trundle equations models/{model.name}.yaml{' --case ' + case if case else ''} "
                   f"--show {SHOW} -o {model.name}.html`\n")
    return "\n".join(out)


def commands(model):
    path, name = f"models/{model.name}.yaml", model.name
    lines = [f"build/trundle simulate {path} -o {name}.csv --report {name}.html",
             f"build/trundle plot {name}.csv -o {name}.svg"]
    for case in model.cases[1:]:
        code = ENDS.get((name, case))
        ends = {None: "", 1: "    # ends by itself, with exit code 1", 3: "    # is refused, with exit code 3"}[code]
        lines.append(f"build/trundle simulate {path} --case {case} -o {name}_{case}.csv{ends}")
    return "\n".join([*lines, f"build/trundle check {path}"])


def page(trundle, model):
    words = [plain(p) + "\n" for p in model.paragraphs]
    first = f", the case `{model.cases[0]}`" if model.cases else ""
    return "\n".join([
        f"# {plain(model.title)}\n",
        f'<img src="pictures/{model.name}.webp" alt="{model.title}" width="480">\n',
        *words,
        f"The file: [models/{model.name}.yaml](../../models/{model.name}.yaml). All models: [the gallery](README.md).\n",
        "## Running it\n",
        f"```sh\n{commands(model)}\n```\n",
        f"The first run{first}, as `plot` draws it:\n",
        f'<img src="pictures/{model.name}.svg" alt="Plots of the run" width="560">\n',
        "## Equations\n",
        equation_section(trundle, model)]).rstrip() + "\n"


def index(all_models):
    out = ["# Models\n",
           f"The {len(all_models)} models in [models/](../../models), each with a page: what it is, how it is run, a plot, and its "
           "equations. `make gallery` writes these pages from the files.\n"]
    left = list(all_models)
    for title, pattern in GROUPS:
        own = [m for m in left if re.search(pattern, m.name)]
        left = [m for m in left if m not in own]
        if not own:
            continue
        out += [f"## {title}\n", "| | |", "|---|---|"]
        for m in own:
            picture = f'<a href="{m.name}.md"><img src="pictures/{m.name}.webp" alt="" width="240"></a>'
            out.append(f"| {picture} | **[{plain(m.title)}]({m.name}.md)**<br>{plain(first_sentence(m.paragraphs[0] if m.paragraphs else ''))} |")
        out.append("")
    return "\n".join(out).rstrip() + "\n"


def texts(trundle, all_models):
    """What every page should be, by its path."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        pages = list(pool.map(lambda m: page(trundle, m), all_models))
    out = {PAGES / f"{m.name}.md": text for m, text in zip(all_models, pages)}
    out[PAGES / "README.md"] = index(all_models)
    return out


# ---- pictures ------------------------------------------------------------------------------


def made():
    if not MADE.exists():
        return {}
    return dict(line.split() for line in MADE.read_text().splitlines())


def write_made(table):
    MADE.write_text("".join(f"{name} {table[name]}\n" for name in sorted(table)))


def needs_picture(model, table):
    files = [PICTURES / f"{model.name}{end}" for end in (".webp", ".svg")]
    return table.get(model.name) != model.hash() or not all(f.exists() for f in files)


def simulate(trundle, model, folder):
    """A run with its report in the folder, and the plot of it."""
    run, report = folder / f"{model.name}.csv", folder / f"{model.name}.html"
    subprocess.run([trundle, "simulate", model.path, "-q", "-o", run, "--report", report], check=True, capture_output=True)
    subprocess.run([trundle, "plot", run, "-q", "-o", PICTURES / f"{model.name}.svg"], check=True, capture_output=True)
    return {"name": model.name, "report": str(report), "out": str(PICTURES / f"{model.name}.webp")}


def make_pictures(trundle, wanted, table):
    if not wanted:
        return
    hashes = {m.name: m.hash() for m in wanted}
    with tempfile.TemporaryDirectory() as name:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = list(pool.map(lambda m: simulate(trundle, m, pathlib.Path(name)), wanted))
        photographer = subprocess.Popen(["node", ROOT / "web/pictures.mjs"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        photographer.stdin.write(json.dumps(jobs))
        photographer.stdin.close()
        for line in photographer.stdout:  # the names of those that are there, one by one
            table[line.strip()] = hashes[line.strip()]
            write_made(table)
        if photographer.wait():
            sys.exit("gallery.py: some pictures could not be made; what there is is kept")


# ---- verbs ---------------------------------------------------------------------------------


def write(trundle, all_models, anew):
    PICTURES.mkdir(parents=True, exist_ok=True)
    names = {m.name for m in all_models}
    table = {name: was for name, was in made().items() if name in names}
    wanted = [m for m in all_models if m.name in anew or needs_picture(m, table)]
    make_pictures(trundle, wanted, table)
    write_made(table)
    pages = texts(trundle, all_models)
    for old in PAGES.glob("*.md"):
        if old not in pages:
            old.unlink()
    for old in PICTURES.iterdir():
        if old.suffix in (".webp", ".svg") and old.stem not in names:
            old.unlink()
    changed = [path for path, text in pages.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in changed:
        path.write_text(pages[path], encoding="utf-8")
    print(f"{len(all_models)} models, {len(changed)} pages and {len(wanted)} pictures written")


def check(trundle, all_models):
    """The number of things that are wrong."""
    wrong = []
    table = made()
    for m in all_models:
        if needs_picture(m, table):
            wrong.append(f"the picture of models/{m.name}.yaml is missing, or of another content of its files")
    pages = texts(trundle, all_models)
    has_equations = not any("without FLINT" in text for text in pages.values())
    for path, text in pages.items():
        where = path.relative_to(ROOT)
        if not path.exists():
            wrong.append(f"{where} is missing")
        elif has_equations and path.read_text(encoding="utf-8") != text:
            wrong.append(f"{where} is out of date")
    wrong += [f"{p.relative_to(ROOT)} is of no model" for p in sorted(PAGES.glob("*.md")) if p not in pages]
    for line in wrong:
        print(f"FAILED: {line}: {AGAIN}")
    size = sum(p.stat().st_size for p in PICTURES.iterdir())
    if size > 4e6:
        print(f"FAILED: pictures of the gallery take {size} bytes, more than 4 MB")
    if not has_equations:
        print("equations are not compared: this trundle was built without FLINT")
    print(f"{len(all_models)} models, {len(wrong)} failures, {size / 1e6:.1f} MB of pictures")
    return len(wrong) + (size > 4e6)


def run_commands(trundle):
    """The number of commands of pages that fail."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "models").symlink_to(MODELS)
        (folder / "build").mkdir()
        (folder / "build/trundle").symlink_to(trundle)
        jobs = ["\n".join(re.findall(r"^```sh\n(.*?)```", p.read_text(encoding="utf-8"), re.S | re.M))
                for p in sorted(PAGES.glob("*.md"))]

        def run(block):
            for command in block.splitlines():
                done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=600)
                code = re.search(r"# .* with exit code (\d)$", command)
                if done.returncode != (int(code[1]) if code else 0):
                    yield f"{command}: exit code {done.returncode}\n{done.stderr}"

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            failures = [words for found in pool.map(lambda b: list(run(b)), jobs) for words in found]
    for words in failures:
        print(f"FAILED: {words}")
    print(f"{sum(len(b.splitlines()) for b in jobs)} commands, {len(failures)} failures")
    return len(failures)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trundle", default=ROOT / "build/trundle", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    trundle = given.trundle.resolve()
    if not shutil.which(trundle):
        sys.exit(f"gallery.py: there is no {trundle}")
    if given.run:
        sys.exit(run_commands(trundle) > 0)
    if given.check:
        sys.exit(check(trundle, models()) > 0)
    write(trundle, models(), given.names)


main()
