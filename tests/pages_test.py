#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages for newcomers do what they say. Each page is followed literally, in an empty folder of its
own with `trundle` and `python3` on the path:

- a block of code whose line above ends with a file's name, as in `pendulum.yaml`:, is that file;
- commands of `sh` blocks are run in order, and end well, or as `# exit code 3` behind them says;
- a `text` block behind them is what they say. Words are compared, numbers to the digits that may depend on
  the processor, and a line of three points stands for any lines;
- a picture in the page is one that its commands draw, under that name, with the same words and numbers at its axes;
- a `console` block is for elsewhere and not run, nor is one in `modelica` or `matlab`;
- a `sh` block that begins with `# takes PACKAGE` is run where that is installed, and left out, with what it says, elsewhere.

The module of Python is where PYTHONPATH says. Where that says nothing it was not built, and pages that import it are
left out, and counted.

    pages_test.py TRUNDLE ROOT yes|no [all] [golden] [pictures] [PAGE...]       (whether reports are built in)

With `all` nothing is left out, so what is not installed is an error. With `golden` outputs that differ are written anew
into the pages: read the difference. With `pictures` they are drawn anew.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

trundle, root = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
has_page = sys.argv[3] == "yes"
everything, golden, pictures = (word in sys.argv[4:] for word in ("all", "golden", "pictures"))
chosen = set(sys.argv[4:]) - {"all", "golden", "pictures"}
module_path = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
failures = left_out = 0

# What pages may take besides Python and a compiler, and where it is
PACKAGES = {"libmujoco-dev": "/usr/include/mujoco/mujoco.h", "python3-sympy": "/usr/lib/python3/dist-packages/sympy"}
PAGES = ["tutorial/*.md", "concepts.md", "cookbook.md", "glossary.md", "coming_from/*.md"]
BLOCK = re.compile(r"(?P<above>[^\n]*)\n+```(?P<language>\w+)\n(?P<body>.*?)```", re.S)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
LABEL = re.compile(r"<text[^>]*>([^<]*)")
MEASURED = re.compile(r"((?:steps of \w+|derived in|runs? in),?) [\d.e-]+ m?s(?:, [\d.e+]+ a second)?|: [\d.]+ [kM]B$")


def complain(page, text):
    global failures
    failures += 1
    print(f"FAILED: {page.relative_to(root)}: {text}")


def near(one, other, steps):
    """Whether two numbers of outputs say the same: integers exactly, what is rounding as rounding."""
    a, b = float(one), float(other)
    if re.fullmatch(r"[-+]?\d+", one) and re.fullmatch(r"[-+]?\d+", other):
        return a == b or (steps and abs(a - b) <= 0.05 * abs(b))
    return abs(a - b) <= max(5e-4 * max(abs(a), abs(b)), 1e-7)


def same_line(shown, said):
    shown, said = (MEASURED.sub(r"\1", line).split() for line in (shown, said))
    shown, said = " ".join(shown), " ".join(said)
    if NUMBER.sub("#", shown) != NUMBER.sub("#", said):
        return False
    return all(near(a, b, "steps" in said) for a, b in zip(NUMBER.findall(shown), NUMBER.findall(said)))


def same(shown, said):
    """Whether lines that are shown are those that were said; `...` stands for any lines."""
    if not shown:
        return not said
    if shown[0].strip() == "...":
        return any(same(shown[1:], said[i:]) for i in range(len(said) + 1))
    return bool(said) and same_line(shown[0], said[0]) and same(shown[1:], said[1:])


def is_there(page, body):
    """Whether what a block takes is installed."""
    global left_out
    for package in re.findall(r"\A# takes ([\w.+-]+)", body):
        if package not in PACKAGES or (everything and not pathlib.Path(PACKAGES[package]).exists()):
            complain(page, f"takes {package}, which is not there")
        if not pathlib.Path(PACKAGES.get(package, "/")).exists():
            left_out += 1
            return False
    return True


def run_block(page, body, folder, environment):
    """What the commands of a block say, in order; None where it is left out."""
    if not is_there(page, body):
        return None
    said = ""
    for line in body.splitlines():
        command, _, remark = line.partition("  #")
        if not command.strip() or command.startswith("#"):
            continue
        if not has_page and " view " in command:
            continue
        if not has_page:
            command = re.sub(r" --report \S+", "", command)
        done = subprocess.run(command, shell=True, cwd=folder, env=environment, text=True, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        expected = re.search(r"exit code (\d+)", remark)
        if done.returncode != int(expected[1] if expected else 0):
            complain(page, f"{command}\n  exit code {done.returncode}\n{done.stdout}")
        said += done.stdout
    return said


def compare(page, shown, said):
    """The output that a page shows instead, if it does; nothing is said of what was left out."""
    if said is None:
        return None
    if not has_page:
        shown, said = ("\n".join(line for line in text.splitlines() if ".html: " not in line)
                       for text in (shown, said))
    if same(shown.rstrip().splitlines(), said.rstrip().splitlines()):
        return None
    if golden:
        return said.rstrip() + "\n"
    complain(page, f"shows\n{shown}\nbut the commands say\n{said}")
    return None


def environment_of(folder):
    """The built program and Debian's Python on the path, and nothing of ours besides."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "trundle").symlink_to(trundle)
    (tools / "python3").symlink_to("/usr/bin/python3")
    modules = os.pathsep.join(str(pathlib.Path(place).resolve()) for place in module_path)
    return dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=modules)


def check_picture(page, name, folder):
    """A picture is drawn by the page's commands: an SVG as it is, a report as the browser shows it."""
    drawn, kept = folder / (name if name.endswith(".svg") else name.replace(".webp", ".html")), page.parent / "pictures" / name
    if drawn.suffix == ".html" and not has_page:
        return
    if not drawn.is_file():
        complain(page, f"shows {name}, but does not make {drawn.name}")
    elif pictures and drawn.suffix == ".svg":
        shutil.copy(drawn, kept)
    elif pictures:
        subprocess.run(["node", root / "web/screenshot.mjs", drawn, kept], check=True)
    elif drawn.suffix == ".svg" and LABEL.findall(drawn.read_text()) != LABEL.findall(kept.read_text()):
        complain(page, f"draws another {name} than it shows: draw it anew")


def check_page(page):
    """Follows one page; how many commands it has."""
    text, commands, said, changes = page.read_text(), 0, None, []
    with tempfile.TemporaryDirectory() as name:
        environment, has_run = environment_of(pathlib.Path(name)), False
        folder = pathlib.Path(name) / "empty"
        folder.mkdir()
        for block in BLOCK.finditer(text):
            file = re.search(r"`([\w.]+\.\w+)`:$", block["above"].strip())
            if block["language"] == "sh":
                commands += len([line for line in block["body"].splitlines() if line and line[0] != "#"])
                said, has_run = run_block(page, block["body"], folder, environment), True
            elif block["language"] == "text" and not file:
                if not has_run:
                    complain(page, "shows an output of nothing")
                elif (new := compare(page, block["body"], said)) is not None:
                    changes.append((block.span("body"), new))
            elif file:
                (folder / file[1]).write_text(block["body"])
            elif block["language"] not in ("console", "modelica", "matlab"):
                complain(page, f"a block of {block['language']} is no file and no command")
        for picture in re.findall(r'src="pictures/([^"]+)"', text):
            check_picture(page, picture, folder)
    for (start, end), new in reversed(changes):
        text = text[:start] + new + text[end:]
    if changes:
        page.write_text(text)
    return commands


def main():
    pages = [page for pattern in PAGES for page in sorted((root / "docs").glob(pattern))]
    if chosen:
        pages = [page for page in pages if page.stem in chosen]
    importing = [] if module_path else [page for page in pages if "\nimport trundle\n" in page.read_text()]
    counts = [check_page(page) for page in pages if page not in importing]
    print(f"{len(counts)} pages, {sum(counts)} commands, {failures} failures", end="")
    print(f"; {left_out} blocks left out without what they take" if left_out else "", end="")
    print(f"; {len(importing)} pages left out without the module of Python" if importing else "")
    sys.exit(failures > 0 or not sum(counts))


main()
