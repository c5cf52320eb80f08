# SPDX-License-Identifier: Apache-2.0
"""How long it takes from a model's file to its C, and C to a program, by the processor's time: bounds
for a machine of 2020. In the full check.

    export_speed_check.py TRUNDLE ROOT
"""
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

trundle, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
failures = 0


def seconds(*words, cwd):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in words], cwd=cwd, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check(words, value, bound):
    global failures
    failures += value > bound
    print(f"{'FAILED: ' if value > bound else ''}{words}: {value:.3f} s")


with tempfile.TemporaryDirectory() as folder:
    for name, bound in (("bicycle", 0.1), ("sk8o", 0.3)):
        check(f"{name} from file to C",
              min(seconds(trundle, "export", root / f"models/{name}.yaml", "--to", "c", "-q", "-o", folder, cwd=folder)
                  for _ in range(5)), bound)
    body = (pathlib.Path(folder) / "sk8o.c").read_text().split("/* ---- the model ---- */")[1]
    count = 2 * body.count("FMA(") + len(re.findall(r" [-+*/] | [<>]=? |el_\w+\(|sqrt\(", body))
    print(f"sk8o: {count} operations")
    check("gcc -O2, for 25,000 of them",
          25000 / count * seconds("gcc", "-O2", "-std=c99", "-ffp-contract=off", "-c", "sk8o.c", cwd=folder), 10)
sys.exit(1 if failures else 0)
