#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What README.md and docs/ say is so: commands work as written, the keys of JSON are those that are
listed, links lead somewhere, docs/README.md names all pages, docs/features.md what there is,
files that are named exist, README.md is short, and pictures are small.

    documents_test.py TRUNDLE ROOT yes|no       (whether reports are built in)
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

trundle, root = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
has_page = sys.argv[3] == "yes"
failures = 0


def complain(text):
    global failures
    failures += 1
    print("FAILED:", text)


def blocks(document, language):
    """(what stands in the line above, the block) of all blocks of code in a language."""
    text = (root / document).read_text()
    return re.findall(r"([^\n]*)\n+```%s\n(.*?)```" % language, text, re.S)


def run(command, folder):
    if not has_page and " view " in command:
        return None
    if not has_page:
        command = re.sub(r" --report \S+", "", command)
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode:
        complain(f"{command}\n  exit code {done.returncode}\n{done.stderr}")
    for option, name in re.findall(r" (-o|--report|--plot) ([^ -]\S*)", command):
        made = folder / name
        is_there = any(made.iterdir()) if made.is_dir() else made.is_file() and made.stat().st_size
        if not is_there:
            complain(f"{command}\n  there is no {name}")
    return done.stdout


def prepare(folder):
    (folder / "models").symlink_to(root / "models")
    (folder / "build").mkdir()
    (folder / "build/trundle").symlink_to(trundle)
    (folder / "trundle").symlink_to(trundle)


def run_commands(document, start, least, folder):
    commands = [line for _, block in blocks(document, "sh") for line in block.splitlines()
                if line.startswith(start)]
    if len(commands) < least:
        complain(f"{document} has {len(commands)} commands")
    for command in commands:
        run(command.replace("trundle", "./trundle", 1) if start == "trundle " else command, folder)
    return len(commands)


def check_readme(folder):
    for above, block in blocks("README.md", "yaml"):
        name = re.search(r"`(\w+\.yaml)`", above)
        if name:
            (folder / name[1]).write_text(block)
    lines = (root / "README.md").read_text().count("\n")
    if lines > 120:
        complain(f"README.md has {lines} lines: what is not for newcomers belongs into docs/")
    return sum(run_commands(page, "build/trundle ", least, folder)
               for page, least in (("README.md", 6), ("docs/tour.md", 20), ("docs/fmu.md", 6)))


# Pages with C that follows on from itself, and what it takes as given
C_OF = {"docs/library.md": "", "docs/gpu.md": "tr_error err = {0};\ntr_plan *plan = NULL;\n"}


def check_c():
    """The C of pages compiles."""
    for page, given in C_OF.items():
        text = "".join(block for _, block in blocks(page, "c"))
        if not text:
            complain(f"{page} has no C")
        whole = "#include <stdio.h>\n#include <trundle/trundle.h>\nint main(void)\n{\n%s%s}\n" % (given, text)
        done = subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I",
                               str(root / "include"), "-x", "c", "-"], input=whole, capture_output=True, text=True)
        if done.returncode:
            complain(f"the C of {page}:\n{done.stderr}")


def check_commands(folder):
    run("build/trundle simulate models/bicycle.yaml --end 5 --every 0.1 -q -o run.csv", folder)
    for name in ("slow", "fast"):
        shutil.copy(folder / "run.csv", folder / f"{name}.csv")
    (folder / "places.csv").write_text("chassis.x,chassis.y\n1,0.2\n1.05,0.2\n")
    return run_commands("docs/commands.md", "trundle ", 15, folder)


def check_format(folder):
    whole = [block for _, block in blocks("docs/format.md", "yaml") if block.startswith("trundle: 1")]
    if not whole:
        complain("docs/format.md has no model")
    for block in whole:
        (folder / "example.yaml").write_text(block)
        run("build/trundle check example.yaml", folder)


# One command for each verb whose JSON docs/commands.md describes
JSON_OF = {
    "derive": "derive models/five_bar.yaml --json",
    "eval": "eval models/five_bar.yaml --json",
    "simulate": "simulate models/bicycle.yaml --end 1 -q -o keys.csv && cat keys.json",
    "linearise": "linearise models/cart_pole.yaml --set tilt=0 --step 0.01 --json",
    "steady": "steady models/bicycle.yaml --case circle --hold roll=-0.2 --json",
    "settle": "settle models/car_on_hills.yaml --hold chassis.x=1 --hold chassis.y=0 --hold chassis.yaw=0 --json",
    "fit": "fit models/robot_differential.yaml --case log --data models/robot_differential_seen.csv --free R,b --json",
    "lqr": "lqr models/cart_pole.yaml --set tilt=0 --inputs push --json",
}


def check_keys(folder):
    sections = re.split(r"\n## ", (root / "docs/commands.md").read_text())
    listed = {s.split("\n")[0]: re.search(r"\nJSON[^:\n]*: (`.*?)\.\n", s, re.S) for s in sections}
    for verb, command in JSON_OF.items():
        if not listed.get(verb):
            complain(f"docs/commands.md does not say what the JSON of {verb} holds")
            continue
        said = [key for key in re.findall(r"`([^`]+)`", listed[verb][1]) if not key.startswith("-")]
        written = list(json.loads(run("build/trundle " + command, folder) or "{}"))
        if sorted(said) != sorted(written):
            complain(f"JSON of {verb}: docs/commands.md and the program differ in "
                     f"{sorted(set(said) ^ set(written))}")


def check_features():
    """docs/features.md names all verbs, and all languages, methods, joints, contacts and loops that there are."""
    page, commands, model = ((root / f"docs/{name}.md").read_text() for name in ("features", "commands", "format"))
    verbs = re.findall(r"^## (\w+)$", commands, re.M)
    wanted = re.search(r"`--to (c, [^`]+)`", commands)[1].split(", ")
    for key in ("type", "kind", "method"):
        for values in re.findall(r"^\| `%s` \| one of ([^|]+) \|" % key, model, re.M):
            wanted += values.split(", ") if "box" not in values else []
    forms = [(verb, r"`(trundle )?%s\b" % verb) for verb in verbs] + [(word, r"(?i)\b%s" % word) for word in wanted]
    for word, form in forms:
        if not re.search(form, page):
            complain(f"docs/features.md does not name {word}")
    return len(forms)


def anchors(path):
    return {re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
            for line in path.read_text().splitlines() if line.startswith("#")}


def check_index():
    """docs/README.md leads to every page; those of the models have an index of their own."""
    linked = {(root / "docs" / link).resolve()
              for link in re.findall(r"\]\(([^)#\s]+)", (root / "docs/README.md").read_text())}
    for page in sorted((root / "docs").rglob("*.md")):
        if page.resolve() not in linked and page.parent.name != "models" and page != root / "docs/README.md":
            complain(f"docs/README.md does not lead to {page.relative_to(root)}")


def check_links():
    count = 0
    for page in [root / "README.md", root / "SECURITY.md", *sorted((root / "docs").rglob("*.md"))]:
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
        for link in re.findall(r'\]\(([^)\s]+)\)|src="([^"]+)"', text):
            link = link[0] or link[1]
            if re.match(r"https?:", link):
                continue
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            count += 1
            if not target.exists():
                complain(f"{page.relative_to(root)}: {link} leads nowhere")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                complain(f"{page.name}: {link}: there is no such heading")
    return count


def check_names():
    """Files of the source that docs/design.md names, with or without their folders."""
    there = [str(p.relative_to(root)) for folder in ("src", "tests", "tools", "web", "bench", "examples", "cmake", "include", "python", "octave")
             for p in (root / folder).rglob("*") if "node_modules" not in p.parts]
    named = set(re.findall(r"`([\w/]*\w+\.(?:c|h|def|py|mjs|sh|cmake))`", (root / "docs/design.md").read_text()))
    for name in sorted(named):
        if not any(("/" + path).endswith("/" + name) for path in there):
            complain(f"docs/design.md names {name}, which is not there")
    return len(named)


def check_pictures():
    for picture in (root / "docs").rglob("*"):
        most = {".svg": 60000, ".png": 250000, ".webp": 60000}.get(picture.suffix)
        if most and picture.stat().st_size > most:
            complain(f"{picture.relative_to(root)} has {picture.stat().st_size} bytes")


with tempfile.TemporaryDirectory() as name:
    work = pathlib.Path(name)
    prepare(work)
    ran = check_readme(work) + check_commands(work)
    check_c()
    check_format(work)
    check_keys(work)
    check_pictures()
    check_index()
    print(f"{ran} commands, {check_links()} links, {check_names()} names of files, "
          f"{check_features()} features, {failures} failures")
sys.exit(failures > 0)
