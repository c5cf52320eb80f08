# SPDX-License-Identifier: Apache-2.0
"""Exports to other languages, run by these: NumPy and SciPy, SymPy, Octave, and the interface of
CasADi by a loader of our own. Generated C, which has the bits of programs, is what they are compared
with, and runs of trundle. What is not installed is left out, and then the test is one that was
skipped (77), unless something else fails.

    export_languages_test.py TRUNDLE ROOT
"""
import ctypes
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
except ImportError:
    print("NumPy is missing: nothing is tested (tools/setup test installs it)")
    sys.exit(77)

trundle, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(root / "examples"))
from casadi_functions import External  # noqa: E402

failures = 0
left_out = [tool for tool, is_there in (("Octave", shutil.which("octave-cli")), ("SymPy", importlib.util.find_spec("sympy")))
            if not is_there]
MODELS = ["double_pendulum", "bicycle", "tyre_on_bump"]


def check(good, words):
    global failures
    if not good:
        failures += 1
        print("FAILED:", words)


def run(*words, cwd=None):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, timeout=300)
    if done.returncode:
        print(done.stderr[-2000:])
        raise SystemExit(f"FAILED: {' '.join(map(str, words))}")
    return done.stdout


def far(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    return np.abs(a - b).max(initial=0) / max(1, np.abs(b).max(initial=0))


def near(a, b, bound, words):
    off = far(a, b)
    print(f"{words}: {off:.1e}")
    check(np.shape(a) == np.shape(b) and off <= bound, f"{words} is off by {off:.2g}")


class Compiled:
    """Generated C, called with arrays."""

    def __init__(self, folder, name):
        header = (folder / f"{name}.h").read_text()
        self.size = {n: int(k) for n, k in re.findall(name.upper() + r"_(\w+) = (\d+)", header)}
        self.name, self.library = name, ctypes.CDLL(str(folder / f"lib{name}.so"))
        self.w = np.zeros(self.size["NWORK"] + 1)
        self.mode = (ctypes.c_int * (self.size["NM"] + 1))()

    def call(self, function, *given):
        places = [ctypes.c_double(one) if np.isscalar(one) else
                  one.ctypes.data_as(ctypes.c_void_p) if isinstance(one, np.ndarray) else one for one in given]
        return getattr(self.library, f"{self.name}_{function}")(*places)

    def start(self):
        p, u, x = [np.zeros(self.size[n] + 1) for n in ("NP", "NU", "NX")]
        self.call("parameters", p)
        self.call("inputs", p, u)
        assert self.call("initial", p, x, self.mode, self.w) == 0
        return p[:-1], u[:-1], x[:-1]

    def give(self, function, size, t, x, u, p):
        out = np.zeros(self.size[size] + 1)
        self.call(function, float(t), np.append(x, 0), np.append(u, 0), np.append(p, 0), self.mode, out, self.w)
        return out[:-1]


def states(x, p, count=3, width=0.05):
    random = np.random.default_rng(1)
    for k in range(count):
        yield 0.1 * k, x + width * k * random.standard_normal(len(x)), p * (1 + 0.01 * k * random.standard_normal(len(p)))


def check_python(folder, name, c, *wide):
    model = importlib.import_module(name)
    p, u, x = c.start()
    give = {n: getattr(model, f"{name}_{n}") for n in ("rates", "outputs", "jacobian", "initial", "step")}
    for t, xs, ps in states(x, p, *wide):
        near(give["rates"](t, xs, u, ps), c.give("rates", "NX", t, xs, u, ps), 1e-12, f"python {name} rates")
        near(give["outputs"](t, xs, u, ps), c.give("outputs", "NY", t, xs, u, ps), 1e-11, f"python {name} outputs")
        near(give["jacobian"](t, xs, u, ps), c.give("jacobian", "NJ", t, xs, u, ps), 1e-10, f"python {name} slopes")
    near(give["initial"](p)[0], x, 0, f"python {name} start")
    ps, xs = p.copy(), np.zeros(len(x) + 1)
    ps[-1] *= 1.01
    assert c.call("initial", np.append(ps, 0), xs, c.mode, c.w) == 0
    near(give["initial"](ps)[0], xs[:-1], 1e-10, f"python {name} start with another parameter")
    near(give["step"](0.0, 0.01, x, u, p), step_of(c, x, u, p), 1e-12, f"python {name} step")


def step_of(c, x, u, p):
    x = np.append(x, 0)
    assert c.call("step", 0.0, 0.01, x, np.append(u, 0), np.append(p, 0), c.mode, c.w) == 0
    return x[:-1]


OCTAVE_ALONE = re.compile(r"""\bend(if|for|while|function|switch)\b|["#!]|[-+*/^|&]=|\+\+|\bprintf\(|\bunwind|\bdo\b""")


def check_matlab(folder, name):
    """What Octave alone has is in no file."""
    for file in sorted(folder.glob(f"{name}_*.m")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            code = re.sub(r"'[^']*'", "''", line.split("%")[0])
            found = OCTAVE_ALONE.search(code)
            check(not found, f"{file.name}:{number}: Matlab has no {found and found[0]}")


def check_octave(folder, name, c, *wide):
    p, u, x = c.start()
    numbers = lambda one: "[" + "; ".join(repr(float(v)).replace("nan", "NaN") for v in one) + "]"
    lines, wanted = [], []
    for t, xs, ps in states(x, p, *wide):
        given = f"({t!r}, {numbers(xs)}, {numbers(u)}, {numbers(ps)})"
        for function, size in (("rates", "NX"), ("outputs", "NY"), ("jacobian", "NJ")):
            lines.append(f"printf('%.17g ', {name}_{function}{given}); printf('\\n');")
            wanted.append((function, c.give(function, size, t, xs, u, ps)))
    lines.append(f"printf('%.17g ', {name}_step(0, 0.01, {numbers(x)}, {numbers(u)}, {numbers(p)})); printf('\\n');")
    wanted.append(("step", step_of(c, x, u, p)))
    lines.append(f"printf('%.17g ', {name}_initial({name}_parameters())); printf('\\n');")
    wanted.append(("start", x))
    (folder / "try_it.m").write_text("\n".join(lines) + "\n")
    given = run("octave-cli", "-qf", "try_it.m", cwd=folder).splitlines()
    for line, (function, values) in zip(given, wanted):
        near(np.array(line.split(), float), values, 1e-10 if function == "jacobian" else 1e-11 if function == "outputs" else 1e-12,
             f"octave {name} {function}")


def trajectory(text):
    rows = [line.split(",") for line in text.splitlines() if line[:1].isdigit()]
    return np.array(rows, float)


def check_trajectories(folder, name):
    run(trundle, "simulate", root / "models" / f"{name}.yaml", "--end", 0.5, "--every", 0.005, "--rtol", 1e-12,
        "--atol", 1e-14, "-q", "-o", folder / "run.csv")
    header = (folder / "run.csv").read_text().splitlines()[0].split(",")
    recorded = trajectory((folder / "run.csv").read_text())
    model = importlib.import_module(name)
    names = [row[0] for row in model.X_NAMES]
    own = [k for k, n in enumerate(names) if n in header]
    wanted = recorded[:, [header.index(names[k]) for k in own]]
    columns = [1 + k for k in own]
    near(trajectory(run(sys.executable, f"{name}_demo.py", 0.5, cwd=folder))[:, columns], wanted, 1e-6, f"python {name} trajectory")
    if shutil.which("octave-cli"):
        near(trajectory(run("octave-cli", "-qf", f"{name}_demo.m", 0.5, cwd=folder))[:, columns], wanted, 1e-6,
             f"octave {name} trajectory")
    check_pictures(folder, name)


def check_pictures(folder, name):
    """What demos have drawn, as far as something can draw."""
    if importlib.util.find_spec("matplotlib"):
        picture = folder / f"{name}.png"
        check(picture.is_file() and picture.read_bytes().startswith(b"\x89PNG"), f"python {name} picture")
    else:
        print("Matplotlib is missing")
    if shutil.which("octave-cli"):
        if run("octave-cli", "-qf", "--eval", "disp(numel(available_graphics_toolkits()))").strip() == "0":
            print("Octave has no toolkit that draws")
        else:
            picture = folder / f"{name}.svg"
            check(picture.is_file() and "</svg>" in picture.read_text(), f"octave {name} picture")


def check_sympy(folder, name):
    """H^T (M v' + c - Q) = 0 and G H = 0 at a state that satisfies the constraints."""
    if "SymPy" in left_out:
        return
    import sympy as sp

    run(trundle, "export", root / "models" / f"{name}.yaml", "--to", "sympy", "-q", "-o", folder)
    model, numeric = importlib.import_module(f"{name}_sympy"), importlib.import_module(name)
    give = lambda n: getattr(numeric, f"{name}_{n}")
    p = give("parameters")()
    u = np.nan_to_num(give("inputs")(p))
    x = give("initial")(p)[0]
    for _ in range(50):
        x = give("step")(0.0, 0.01, x, u, p)
    at = lambda n: np.array(getattr(model, f"{name}_{n}")(0.0, list(map(sp.Float, x)), list(u), list(p)).evalf(), float)
    M, c, Q, G, H = [at(n) for n in "McQGH"]
    vdot = give("rates")(0.0, x, u, p)[model.V]
    left = H.T @ (M @ vdot + (c - Q)[:, 0])
    near(left, np.zeros(len(left)), 1e-10, f"sympy {name} equations")
    if G.size:
        near(G @ H, np.zeros((G.shape[0], H.shape[1])), 1e-12, f"sympy {name} constraints")
        near(G @ x[model.V], np.zeros(G.shape[0]), 1e-10, f"sympy {name} rates of constraints")
    near(x[model.V], H @ x[model.W], 1e-10, f"sympy {name} velocities")
    rates = give("rates")(0.0, x, u, p)
    rates[model.V] = 0
    size = np.abs(vdot).max()
    near(solve_equations(model, name, x, u, p, rates, (M, c, Q, G)) / size, vdot / size, 1e-12, f"sympy {name} accelerations")


def solve_equations(model, name, x, u, p, along, matrices):
    """v' of M v' + c = Q + G^T lambda with (G v)' = 0, by the matrices alone; G' by a complex step along q'."""
    import sympy as sp

    M, c, Q, G = matrices
    tiny = 1e-30
    there = [sp.Float(value) + sp.I * sp.Float(tiny * rate) for value, rate in zip(x, along)]
    rows, n = G.shape if G.size else (0, len(model.V))
    A = np.zeros((n + rows, n + rows))
    A[:n, :n], b = M, np.append((Q - c)[:, 0], np.zeros(rows))
    if rows:
        turned = np.array(getattr(model, f"{name}_G")(0.0, there, list(u), list(p)).evalf(), complex).imag / tiny
        A[:n, n:], A[n:, :n], b[n:] = -G.T, G, -turned @ x[model.V]
    return np.linalg.solve(A, b)[:n]


def check_casadi(folder, name):
    own = f"of_{name}"  # a library is loaded once
    run(trundle, "export", root / "models" / f"{name}.yaml", "--to", "casadi", "--name", own, "-q", "-o", folder)
    flags = "-std=c99 -O0 -ffp-contract=off -Wall -Wextra -Wconversion -pedantic -Werror -fPIC -shared".split()
    run("cc", *flags, "-o", f"lib{own}.so", f"{own}.c", f"{own}_casadi.c", "-lm", cwd=folder)
    run("cc", *flags[:-2], "-Dcasadi_int=int", "-fsyntax-only", f"{own}_casadi.c", cwd=folder)  # as acados has it
    run("c++", "-x", "c++", "-std=c++20", *flags[3:-2], "-fsyntax-only", f"{own}_casadi.c", cwd=folder)
    f, jac, adj, hess = [External(folder / f"lib{own}.so", f"{own}_{n}") for n in ("f", "jac", "adj", "hess")]
    check(f.names_in == ["t", "x", "u", "p"] and f.names_out == ["dx"], "names of arguments")
    c = Compiled(folder, own)
    p, u, x = c.start()
    random, u = np.random.default_rng(2), np.nan_to_num(u)
    weight, cx, cu = random.standard_normal(len(x)), random.standard_normal(len(x)), random.standard_normal(len(u))
    near(f(0.1, x, u, p), c.give("rates", "NX", 0.1, x, u, p), 0, f"casadi {name} rates")
    Jx, Ju = jac(0.1, x, u, p)
    h = 1e-6
    slope = (f(0.1, x + h * cx, u + h * cu, p) - f(0.1, x - h * cx, u - h * cu, p)) / (2 * h)
    near(Jx @ cx + Ju @ cu, slope, 1e-7, f"casadi {name} Jacobian, by differences")
    gx, gu = adj(0.1, x, u, p, weight)
    near(gx, Jx.T @ weight, 1e-12, f"casadi {name} gradient by x")
    near(gu, Ju.T @ weight, 1e-12, f"casadi {name} gradient by u")
    up, down = adj(0.1, x + h * cx, u + h * cu, p, weight), adj(0.1, x - h * cx, u - h * cu, p, weight)
    hx, hu = hess(0.1, x, u, p, weight, cx, cu)
    near(hx, (up[0] - down[0]) / (2 * h), 1e-7, f"casadi {name} second slopes by x, by differences")
    near(hu, (up[1] - down[1]) / (2 * h), 1e-7, f"casadi {name} second slopes by u, by differences")
    check_found(folder / f"lib{own}.so", own, (0.1, x, u, p), weight, cx, cu)


def wanted_of(kind, f):
    """What a derivative of the function f takes and gives, by CasADi's rules: names, rows and columns."""
    size = {n: shape for names, sides in ((f.names_in, f.inputs), (f.names_out, f.outputs))
            for n, (shape, _) in zip(names, sides)}
    takes = [(n, size[n]) for n in f.names_in] + [("out_" + n, size[n]) for n in f.names_out]
    number = lambda n: size[n][0] * size[n][1]
    if kind == "jac_":
        return takes, [(f"jac_{o}_{i}", (number(o), number(i))) for o in f.names_out for i in f.names_in]
    if kind == "fwd1_":
        return takes + [("fwd_" + n, size[n]) for n in f.names_in], [("fwd_" + n, size[n]) for n in f.names_out]
    return takes + [("adj_" + n, size[n]) for n in f.names_out], [("adj_" + n, size[n]) for n in f.names_in]


def check_found(library, own, at, weight, cx, cu):
    """Derivatives that CasADi finds by their names, against those that are called by hand."""
    called = {n: External(library, f"{own}_{n}") for n in ("f", "jac", "adj", "hess")}
    found = {"": called["f"]}
    for kind, of in (("jac_", ""), ("fwd1_", ""), ("adj1_", ""), ("fwd1_", "adj1_")):
        name = kind + of
        found[name] = one = External(library, f"{name}{own}_f")
        takes, gives = wanted_of(kind, found[of])
        check(takes == [(n, shape) for n, (shape, _) in zip(one.names_in, one.inputs)], f"{name}{own}_f takes {one.names_in}")
        check(gives == [(n, shape) for n, (shape, _) in zip(one.names_out, one.outputs)], f"{name}{own}_f gives {one.names_out}")
        for n, (shape, places) in zip(one.names_in, one.inputs):
            is_unused = n.startswith(("out_", "fwd_out_"))
            check(len(places) == (0 if is_unused else shape[0] * shape[1]), f"places of {n} in {name}{own}_f")
    t, x, u, p = at
    dx, (Jx, Ju) = called["f"](*at), called["jac"](*at)
    (by_t, by_x, by_u, by_p) = found["jac_"](*at, dx)
    check((by_x == Jx).all() and (by_u == Ju).all(), "blocks of jac_f")
    ct, cp = np.array([0.7]), p * np.random.default_rng(3).standard_normal(len(p))
    h, along = 1e-6, (ct, cx, cu, cp)
    by_one = [(called["f"](t, x, u, p + h * e) - called["f"](t, x, u, p - h * e)) / (2 * h)
              for e in np.diag(np.abs(p))]
    near(by_p * np.abs(p), np.transpose(by_one) if len(p) else by_p, 1e-7, f"casadi {own} slopes by parameters, by differences")
    near(by_t, (called["f"](t + h, x, u, p) - called["f"](t - h, x, u, p)) / (2 * h), 1e-7, f"casadi {own} slopes by t, by differences")
    check(not len(p) or by_p.any(), "slopes by parameters")
    wanted = by_t * ct + Jx @ cx + Ju @ cu + by_p @ cp
    near(found["fwd1_"](*at, dx, *along), wanted, 1e-13, f"casadi {own} along a direction")
    of_t, of_x, of_u, of_p = found["adj1_"](*at, dx, weight)
    gx, gu = called["adj"](*at, weight)
    check((of_x == gx).all() and (of_u == gu).all(), "adj1_f")
    near(np.append(of_t, of_p), np.append(weight @ by_t, weight @ by_p), 1e-12, f"casadi {own} gradient by t and parameters")
    zero, other = (np.zeros(1), np.zeros_like(x), np.zeros_like(u), np.zeros_like(p)), np.flip(weight)
    for k in (0, 3):
        changes = [one if k == i else 0 * np.asarray(one) for i, one in enumerate(along)]
        second = np.concatenate(found["fwd1_adj1_"](*at, dx, weight, *zero, *changes, dx, other))
        check(np.isnan(second).all(), "second slopes by t and parameters are no numbers")
    none_t, hx, hu, none_p = found["fwd1_adj1_"](*at, dx, weight, *zero, [0.0], cx, cu, zero[3], dx, other)
    check(np.isnan(none_t).all() and np.isnan(none_p).all(), "second slopes of t and parameters are no numbers")
    px, pu = called["hess"](*at, weight, cx, cu)
    near(np.append(hx, hu), np.append(px, pu) + np.append(*called["adj"](*at, other)), 1e-14, f"casadi {own} adj1_f along a direction")
    c = ctypes.CDLL(str(library))
    check([getattr(c, f"{own}_f_diff_in")(ctypes.c_longlong(k)) for k in range(4)] == [1, 1, 1, 1], f"{own}_f_diff_in")


HOSTILE = r"""trundle: 1
name: "*/ int main(void){} /* \\\"; import os; os.abort() #\\\\ \n' ''' ??/ ${x} `id` %} \\u00e9 @name@"
parameters: {int: 0.5, class: 2, a.b: 1.5, a_b: 1.5, lambda: 3, np: 1.25, s: 1.5, end: 2.5}
inputs: {for: 0, function: 1.5}
bodies:
  double:
    joint: {type: revolute, axis: '0, 1, 0', coordinate: return}
    mass: class * np
    com: 0, 0, -int
  static:
    parent: double
    joint: {type: revolute, axis: '0, 1, 0', at: '0, 0, -int * s / end', coordinate: LONG}
    mass: class * a.b / a_b
    com: 0, 0, -int
roles: {return: {torque: for * function + lambda}}
initial: {return: 1}
outputs: {while: return * int, do: a.b, t1: sin(return), w: 2, x: 3}
""".replace("LONG", 94 * "a")


def check_hostile(folder):
    """Names that are words of a language, and a title that would like to end a comment or a string."""
    (folder / "class.yaml").write_text(HOSTILE)
    for language in ("c", "python", "octave", "sympy", "casadi"):
        run(trundle, "export", folder / "class.yaml", "--to", language, "-q", "-o", folder)
    run("cc", "-std=c99", "-O0", "-ffp-contract=off", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", "-pedantic",
        "-o", "libclass.so", "class.c", "class_casadi.c", "-lm", cwd=folder)
    c = Compiled(folder, "class")
    check_python(folder, "class", c)
    importlib.import_module("class_sympy").class_M()
    run(sys.executable, "class_demo.py", 0.1, cwd=folder)
    if shutil.which("octave-cli"):
        check_octave(folder, "class", c)


def check_file_names(folder):
    """Names of the user's own: files stay in the folder, and functions are words of C."""
    inside = folder / "named"
    for name in ('";system("', "../../up", "a-b", "é" * 40, "x" * 100, "int", "-o", "@name@", "a\nb", "$(id)", "7"):
        run(trundle, "export", root / "models/cart_pole.yaml", "--to", "casadi", f"--name={name}", "-q", "-o", inside)
        run(trundle, "export", root / "models/cart_pole.yaml", "--to", "python", f"--name={name}", "-q", "-o", inside)
        files = sorted(file.name for file in inside.iterdir())
        check(len(files) == 7 and all(re.fullmatch(r"Makefile|[A-Za-z]\w{,60}\.(c|h|py)", file) for file in files),
              f"files of {name!r}: {files}")
        run("cc", "-std=c99", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic", *inside.glob("*.c"), cwd=inside)
        for script in inside.glob("*.py"):
            compile(script.read_text(), script.name, "exec")
        shutil.rmtree(inside)
    check(not list(folder.parent.glob("up*")) and not list(folder.glob("up*")), "files beside the folder")


def check_module_names(folder):
    """Models that are called like modules of Python do not hide these from their demos."""
    inside = folder / "modules"
    for name in ("random", "numpy", "sys", "os", "sympy", "importlib"):
        for language in ("python", "sympy"):
            run(trundle, "export", root / "models/double_pendulum.yaml", "--to", language, "--name", name, "-q", "-o", inside)
        rows = trajectory(run(sys.executable, f"{name}_demo.py", 0.1, cwd=inside))
        check(rows.shape == (101, 5), f"demo of a model called {name}")
        if importlib.util.find_spec("sympy"):
            check("M (2, 2)" in run(sys.executable, inside / f"{name}_sympy_demo.py", cwd=folder), f"equations of {name}")
        shutil.rmtree(inside)


REFUSED = ("a-b", '";system(', "é", "日本", "*/", "a b", "%s", "@name@", "")


def check_refused_names(folder):
    """Names that are no words are refused where the model is read, so nothing is written."""
    for name in REFUSED:
        quoted = name.replace("'", "''")
        for text in (f"parameters: {{'{quoted}': 1}}", f"inputs: {{'{quoted}': 1}}", f"outputs: {{'{quoted}': q}}"):
            (folder / "refused.yaml").write_text(
                f"trundle: 1\nname: refused\n{text}\n"
                "bodies: {b: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: q}, mass: 1}}\n", encoding="utf-8")
            done = subprocess.run([trundle, "export", folder / "refused.yaml", "--to", "c", "-o", folder / "refused"],
                                  capture_output=True, text=True)
            check(done.returncode and "is not a name" in done.stderr and not (folder / "refused").exists(),
                  f"{text}: {done.stderr}")


def check_reproducible(folder):
    """No date, host or path: the same files wherever and by whoever they are written."""
    texts = []
    for place, zone in (("here", "UTC"), ("over_there", "Asia/Tokyo")):
        own = folder / place
        own.mkdir()
        shutil.copy(root / "models/bicycle.yaml", own)
        for language in ("c", "octave", "python", "sympy", "casadi"):
            subprocess.run([trundle, "export", own / "bicycle.yaml", "--to", language, "-q", "-o", own / "code"], check=True,
                           cwd=own, env={"TZ": zone, "HOME": str(own), "USER": place, "LC_ALL": "C" if zone == "UTC" else "de_DE"})
        texts.append({file.name: file.read_bytes() for file in sorted((own / "code").iterdir())})
    check(len(texts[0]) > 20 and texts[0] == texts[1], "files that are written twice are the same")
    check(not any(str(folder).encode() in text for text in texts[0].values()), "a path is in a file")


# Of a file of C: functions, tables and numbers of its own, macros, types, enumerators
C_HELPERS = [re.compile(pattern, re.M) for pattern in (
    r"^static [^\n(=\[;]*?\b(\w+)\s*[(\[=]", r"^#define (\w+)", r"^typedef[^;{]*?(\w+)\(", r"^} (\w+);")]
ENUM = re.compile(r"^enum \{(.*?)\}", re.S | re.M)
PYTHON_HELPERS = [re.compile(r"^def (?!own_)(\w+)", re.M)]


def helpers_of(text, patterns):
    text = re.sub(r'/\*.*?\*/|"[^"\n]*"', "", text, flags=re.S)
    names = {name for pattern in patterns for name in pattern.findall(text)}
    for members in ENUM.findall(text) if patterns is C_HELPERS else ():
        names.update(re.findall(r"\b[A-Za-z_]\w*", members))
    return {name for name in names if not name.lower().startswith(("own_", "trundle_"))}


def check_own_names(folder, model, known, *options):
    """No helper is called as a function of some model would be: a model `first` has first_rates."""
    run(trundle, "export", model, "--to", "c", "--name", "own", "-q", "-o", folder, *options)
    files = [(("own.h", "own.c"), C_HELPERS, known)]
    if not options:  # the form that Python has, too
        run(trundle, "export", model, "--to", "python", "--name", "own", "-q", "-o", folder)
        files.append((("own.py",), PYTHON_HELPERS, "find_start"))
    for names, patterns, known in files:
        text = "\n".join((folder / name).read_text() for name in names)
        own = set(re.findall(r"\b(?:own|OWN)_(\w+)", text))
        helpers = helpers_of(text, patterns)
        check(len(own) > 10 and len(helpers) > 3, f"names of {names[-1]}: {len(own)}, {len(helpers)}")
        check(known in helpers, f"{known} is a name of {names[-1]}: {sorted(helpers)}")
        for helper in helpers:
            check(not any(helper.endswith(f"_{name}") for name in own), f"{names[-1]}: a model may have {helper}")


def check_models_called(folder):
    """Models that are called like words of generated code."""
    for name in ("next", "time_of", "first", "sample"):
        run(trundle, "export", folder / "calm.yaml", "--to", "c", "--name", name, "-q", "-o", folder / "called")
        run("cc", "-std=c99", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic", f"{name}.c", cwd=folder / "called")


def check_starts(folder, name):
    """With another parameter, where conditions leave rates open: what is nearest counts by masses."""
    for language in ("c", "python", "octave"):
        run(trundle, "export", root / "models" / f"{name}.yaml", "--to", language, "-q", "-o", folder)
    run("cc", "-std=c99", "-O0", "-ffp-contract=off", "-fPIC", "-shared", "-o", f"lib{name}.so", f"{name}.c", "-lm", cwd=folder)
    c, model = Compiled(folder, name), importlib.import_module(name)
    p, u, x = c.start()
    p[0] *= 1.003
    assert c.call("initial", np.append(p, 0), x, c.mode, c.w) == 0
    near(getattr(model, f"{name}_initial")(p)[0], x, 1e-9, f"python {name} start with another parameter")
    if shutil.which("octave-cli"):
        (folder / "try_it.m").write_text(f"p = {name}_parameters(); p(1) = p(1) * 1.003;\n"
                                         f"printf('%.17g ', {name}_initial(p));\n")
        given = run("octave-cli", "-qf", "try_it.m", cwd=folder).split()
        near(np.array(given, float), x, 1e-9, f"octave {name} start with another parameter")


def check_no_start(folder):
    """Bars that do not reach each other: words, and no numbers."""
    for language in ("c", "python", "octave"):
        run(trundle, "export", root / "models/four_bar.yaml", "--to", language, "--form", "reduced", "--name", "apart", "-q", "-o", folder)
    run("cc", "-std=c99", "-O0", "-fPIC", "-shared", "-o", "libapart.so", "apart.c", "-lm", cwd=folder)
    c, model = Compiled(folder, "apart"), importlib.import_module("apart")
    p, u, x = c.start()
    for k, (name, *_) in enumerate(model.P_NAMES):
        if name in ("b", "c"):
            p[k] = 0.1
    check(c.call("initial", np.append(p, 0), x, c.mode, c.w) == 1, "C has no start")
    try:
        check(False, f"a start in Python: {model.apart_initial(p)}")
    except ValueError as error:
        check("there is no state at t = 0" in str(error), f"no start in Python: {error}")
    if shutil.which("octave-cli"):
        (folder / "try_it.m").write_text(f"try\n  apart_initial({list(map(float, p))}');\ncatch e\n  disp(e.identifier);\nend\n")
        given = run("octave-cli", "-qf", "try_it.m", cwd=folder).strip()
        check(given == "apart:start", f"no start in Octave: {given}")


def check_charts(folder):
    """Where a run changes charts, what does not follow them says so: when it is written, and when it is run, where C does."""
    def told(model, language, *options):
        return subprocess.run([trundle, "export", root / "models" / f"{model}.yaml", "--to", language, "-o", folder, *options],
                              check=True, capture_output=True, text=True).stderr
    words = "warning: other velocities become independent in a run of this model"
    for language in ("python", "octave", "sympy", "casadi", "cuda"):
        check(words in told("four_bar", language), f"{language} says at once that charts change")
        check(words not in told("four_bar", language, "-q") + told("bicycle", language), f"{language} says it without need")
    check(words not in told("four_bar", "c") and words in told("four_bar", "c", "--form", "reduced"), "C says that charts change")
    run("cc", "-std=c99", "-O0", "-ffp-contract=off", "-fPIC", "-shared", "-o", "libfour_bar.so", "four_bar.c", "-lm", cwd=folder)
    c, model = Compiled(folder, "four_bar"), importlib.import_module("four_bar")
    p, u, x = c.start()
    own, said, C_said, fits = x.copy(), [], [], []
    for k in range(3000):
        C_said.append(c.call("step", 0.001 * k, ctypes.c_double(0.001), x, u, p, c.mode, c.w) == 2)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            own = model.four_bar_step(0.001 * k, 0.001, own, u, p)
            said.append(any("other velocities" in str(one.message) for one in caught))
            fits.append(model.four_bar_fits(0.001 * (k + 1), own, u, p))
    check(said == C_said == [not one for one in fits] and 0 < sum(said) < 3000, "steps that warn in Python, and in C")
    demo = subprocess.run([sys.executable, "four_bar_demo.py", "3"], cwd=folder, capture_output=True, text=True)
    check(demo.returncode == 0 and demo.stderr.count("RuntimeWarning") == 1, f"a demo in Python: {demo.stderr}")
    if shutil.which("octave-cli"):
        demo = subprocess.run(["octave-cli", "-qf", "four_bar_demo.m", "3"], cwd=folder, capture_output=True, text=True)
        check(demo.stderr.count("other velocities should be") == 1, f"a demo in Octave: {demo.stderr}")
        (folder / "try_it.m").write_text(
            "warning('off', 'four_bar:chart'); p = four_bar_parameters(); u = four_bar_inputs(p); x = four_bar_initial(p);\n"
            "for k = 0:2\n  disp(four_bar_fits(0, x, u, p)); for i = 1:900 x = four_bar_step(0, 0.001, x, u, p); end\nend\n")
        given = run("octave-cli", "-qf", "try_it.m", cwd=folder).split()
        check(given == [str(int(not C_said[k - 1])) if k else "1" for k in (0, 900, 1800)], f"where it fits, in Octave: {given}")


CONTROLLED = """trundle: 1
name: controlled
parameters: {k: 8, T: 0.0237, shaky: 0.01}
inputs: {push: 0, wanted: 0.1}
bodies:
  cart: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x}, mass: 2}
  pole: {parent: cart, joint: {type: revolute, axis: '0, 1, 0', coordinate: tilt}, mass: 0.3, com: '0, 0, 0.4',
    inertia: {yy: 0.01}}
roles: {x: {torque: 'push + 0.1*lean'}}
sensors:
  lean: {of: tilt, period: T, sd: shaky, seed: 7, delay: 2}
  rate: {of: d(tilt), period: T/2}
controllers:
  balance: {period: T, states: {sum: 0.3}, update: {sum: 'sum + T*(lean - wanted)'},
    outputs: {push: 'k*(lean - wanted) + 2*sum + 0.5*rate + 0.3*d(x)'}}
  where: {period: 0.1, outputs: {wanted: '-0.2*x'}}
initial: {tilt: 0.1}
"""


def check_controlled(folder, name, shaky):
    """Controllers and sensors, with noise that Python has, too, and without, for Octave's is its own."""
    (folder / f"{name}.yaml").write_text(CONTROLLED.replace("shaky: 0.01", f"shaky: {shaky}"))
    for language in ("c", "python", "octave"):
        run(trundle, "export", folder / f"{name}.yaml", "--to", language, "-q", "-o", folder)
    run("cc", "-std=c99", "-O0", "-ffp-contract=off", "-fPIC", "-shared", "-o", f"lib{name}.so", f"{name}.c", "-lm", cwd=folder)
    c, model = Compiled(folder, name), importlib.import_module(name)
    p, u, x = c.start()
    own_x, own_u = x.copy(), u.copy()
    for k in range(200):
        c.call("step", 0.005 * k, ctypes.c_double(0.005), x, u, p, c.mode, c.w)
        own_x = getattr(model, f"{name}_step")(0.005 * k, 0.005, own_x, own_u, p)
    near(own_x, x, 1e-9, f"python {name} state")
    near(own_u, u, 1e-9, f"python {name} inputs")
    s = np.array([0.1, -0.2, 0.3, 0.4])
    states, inputs = getattr(model, f"{name}_control")(None, 0.0, s, [0.5], [0, 0.25], p)
    near(inputs, [8 * (0.1 - inputs[1]) + 1 - 0.1 + 0.3 * s[[n for n, *_ in model.S_NAMES].index("x_rate")],
                  -0.2 * s[[n for n, *_ in model.S_NAMES].index("x")]], 1e-12, f"python {name} controllers alone")
    run(sys.executable, f"{name}_demo.py", 0.1, cwd=folder)
    check_matlab(folder, name)
    if shutil.which("octave-cli"):
        lines = run("octave-cli", "-qf", f"{name}_demo.m", 0.1, cwd=folder).splitlines()
        check(len(lines) == 2, "rows of Octave's demo")
        if not shaky:
            p, u, x = c.start()
            for k in range(100):
                c.call("step", 0.001 * k, ctypes.c_double(0.001), x, u, p, c.mode, c.w)
            near(np.array(lines[1].split(","), float)[1:], np.append(x, u), 1e-9, f"octave {name}")
    check_pictures(folder, name)


TABLES = """trundle: 1
name: tables
parameters: {k: 3, m: 1.3}
tables:
  cubic: {x: '-2, -1, 0, 1, 2, 3', value: '4, 1, 0.2, 1, 4, 9', degree: 3, outside: extend}
  lines: {x: '-1, 0, 1, 2', value: '0, 1, 0, 2', degree: 1, outside: hold}
  steps: {x: '-1, 0, 1, 2', value: '0, 1, 0, 2', degree: 0, outside: extend}
  few: {x: '-1, 0.5', value: '1, 2', degree: 3, outside: hold}
  flat: {x: '-1, 0, 0.7, 2', y: '-1, 0, 1', value: '0, 1, 0, 2, 1, 3, 5, 2, 1, 0, 0.5, 0.25', degree: 1, outside: hold}
  round: {x: '-1, 0, 0.7, 2, 3', y: '-1, 0, 1, 2', value: '0, 1, 0, 2, 1, 3, 5, 2, 1, 0, 0.5, 0.25, 1, 2, 3, 4, 2, 1, 7, 3',
    degree: 3, outside: extend}
  tiles: {x: '-1, 0, 0.7, 2', y: '-1, 0, 1', value: '0, 1, 0, 2, 1, 3, 5, 2, 1, 0, 0.5, 0.25', degree: 0, outside: hold}
bodies:
  p: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x}, mass: m}
  q: {joint: {type: prismatic, axis: '0, 1, 0', coordinate: y}, mass: m}
roles:
  x: {torque: '-k*x - cubic(x) + 0.1*flat(x, y) - 0.1*steps(x) + few(x)'}
  y: {torque: '-k*y - lines(y) + 0.1*round(x, y) + 0.1*tiles(x, y)'}
outputs: {o1: cubic(x), o2: lines(y), o3: steps(x), o4: few(x), o5: 'flat(x, y)', o6: 'round(x, y)', o7: 'tiles(x, y)'}
initial: {x: 0.4, y: 0.3, d(x): 0.2, d(y): -0.3}
"""


def check_tables(folder):
    """Tables of each degree, of one and two variables, held and extended, also far outside."""
    (folder / "tables.yaml").write_text(TABLES)
    for language in ("c", "python", "octave"):
        run(trundle, "export", folder / "tables.yaml", "--to", language, "-q", "-o", folder)
    run("cc", "-std=c99", "-O0", "-ffp-contract=off", "-fPIC", "-shared", "-o", "libtables.so", "tables.c", "-lm", cwd=folder)
    c = Compiled(folder, "tables")
    p, u, x = c.start()
    beyond = [abs(xs[0] - 0.5) > 2.5 and abs(xs[1] - 0.5) > 1.5 for _, xs, _ in states(x, p, 12, 0.5)]
    check(0 < sum(beyond) < len(beyond), f"states within and beyond the tables: {beyond}")
    check_python(folder, "tables", c, 12, 0.5)
    check_matlab(folder, "tables")
    if shutil.which("octave-cli"):
        check_octave(folder, "tables", c, 12, 0.5)


def check_ranges(folder):
    """Names with units, defaults, the least and the most."""
    for language in ("python", "octave", "sympy"):
        run(trundle, "export", root / "models/cart_pole.yaml", "--to", language, "-q", "-o", folder)
    rows = importlib.import_module("cart_pole").P_NAMES
    check(rows[:2] == [("m", "kg", 0.1, -np.inf, 10.0), ("l", "m", 0.5, 0.05, 5.0)], f"ranges in Python: {rows}")
    if "SymPy" not in left_out:
        rows = importlib.import_module("cart_pole_sympy").p_names
        check([(name, unit, *map(float, numbers)) for name, unit, *numbers in rows[:2]] ==
              [("m", "kg", 0.1, -np.inf, 10.0), ("l", "m", 0.5, 0.05, 5.0)], f"ranges in SymPy: {rows}")
    if shutil.which("octave-cli"):
        (folder / "try_it.m").write_text("s = cart_pole_sizes();\nfor k = 1:2\n  fprintf('%s %s %g %g %g\\n', s.p_names{k, :});\nend\n")
        given = run("octave-cli", "-qf", "try_it.m", cwd=folder).splitlines()
        check(given == ["m kg 0.1 -Inf 10", "l m 0.5 0.05 5"], f"ranges in Octave: {given}")


def check_lane_change(folder):
    run(trundle, "export", root / "models/bicycle.yaml", "--case", "straight", "--to", "casadi", "-q", "-o", folder)
    run("cc", "-O1", "-fPIC", "-shared", "-o", "lane.so", "bicycle.c", "bicycle_casadi.c", "-lm", cwd=folder)
    print(run(sys.executable, root / "examples/lane_change.py", folder / "lane.so", folder / "bicycle.h").splitlines()[-1])


with tempfile.TemporaryDirectory() as made:
    folder = pathlib.Path(made)
    sys.path.insert(0, made)
    sys.dont_write_bytecode = True
    for name in MODELS:
        for language in ("c", "python", "octave"):
            run(trundle, "export", root / "models" / f"{name}.yaml", "--to", language, "-q", "-o", folder)
        run("cc", "-std=c99", "-O0", "-ffp-contract=off", "-fPIC", "-shared", "-o", f"lib{name}.so", f"{name}.c", "-lm", cwd=folder)
        c = Compiled(folder, name)
        check_python(folder, name, c)
        check_matlab(folder, name)
        if shutil.which("octave-cli"):
            check_octave(folder, name, c)
    for name in ("double_pendulum", "bicycle"):
        check_trajectories(folder, name)
        check_sympy(folder, name)
        check_casadi(folder, name)
    check_tables(folder)
    check_ranges(folder)
    check_charts(folder)
    check_no_start(folder)
    check_starts(folder, "castor")
    check_starts(folder, "tyre")
    check_controlled(folder, "shaken", 0.01)
    check_controlled(folder, "calm", 0)
    check_hostile(folder)
    check_file_names(folder)
    check_refused_names(folder)
    check_module_names(folder)
    check_reproducible(folder)
    for model, known in (("bicycle", "runge_kutta"), ("tyre_on_bump", "evaluate_phi")):
        check_own_names(folder, root / f"models/{model}.yaml", known)
    check_own_names(folder, folder / "tables.yaml", "table_value")
    check_own_names(folder, folder / "calm.yaml", "find_due")
    check_own_names(folder, folder / "shaken.yaml", "random_bits")
    check_own_names(folder, root / "models/hopping_wheel.yaml", "CONE_OPEN", "--form", "unreduced")
    check_models_called(folder)
    check_lane_change(folder)
print(f"{failures} failures")
if left_out:
    print(f"left out, for it is missing: {', '.join(left_out)} (tools/setup test and tools/setup octave install it)")
sys.exit(1 if failures else 77 if left_out else 0)
