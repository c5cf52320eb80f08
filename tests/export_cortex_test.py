# SPDX-License-Identifier: Apache-2.0
"""The bicycle on a Cortex-M4, in single precision, by QEMU: how much code it is, how much stack it
takes, and how far it is from double precision after a second. Left out, with a word, where the
compiler or QEMU is missing.

    export_cortex_test.py TRUNDLE ROOT
"""
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
    if not shutil.which(tool):
        print(f"{tool} is missing: nothing is tested (tools/setup check installs it)")
        sys.exit(77)
trundle, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
CORTEX = ("-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -std=gnu99 -Os -ffunction-sections "
          "-fdata-sections -ffp-contract=off -fno-math-errno -Wall -Wextra -Wdouble-promotion -Werror").split()
NATIVE = """#include "bicycle.h"
#include <stdio.h>
int main(void) {
    static double x[BICYCLE_NX + 1], u[BICYCLE_NU + 1], p[BICYCLE_NP + 1], w[BICYCLE_NWORK + 1];
    static int mode[1];
    bicycle_parameters(p), bicycle_inputs(p, u), bicycle_initial(p, x, mode, w);
    for (int k = 0; k < 200; k++) if (bicycle_step(k * 0.005, 0.005, x, u, p, mode, w)) return 1;
    for (int i = 0; i < BICYCLE_NX; i++) printf("%.17g\\n", x[i]);
}
"""


def run(*words, cwd):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, timeout=120)
    if done.returncode:
        print(done.stdout + done.stderr)
        sys.exit(f"FAILED: {' '.join(map(str, words))}")
    return done.stdout


def export(folder, *options):
    run(trundle, "export", root / "models/bicycle.yaml", "--to", "c", "--fix", "all", "--outputs", "speed", "-q", "-o", folder,
        *options, cwd=folder)


with tempfile.TemporaryDirectory() as made:
    folder, cortex = pathlib.Path(made), root / "tests/cortex"
    export(folder)
    (folder / "native.c").write_text(NATIVE)
    run("cc", "-std=c99", "-O1", "native.c", "bicycle.c", "-o", "native", "-lm", cwd=folder)
    exact = [float(line) for line in run("./native", cwd=folder).split()]
    export(folder, "--float")
    run("arm-none-eabi-gcc", *CORTEX, "-c", "bicycle.c", cwd=folder)
    run("arm-none-eabi-gcc", *CORTEX, "-ffreestanding", "-I.", "-c", cortex / "start.c", cortex / "main.c", cwd=folder)
    run("arm-none-eabi-gcc", *CORTEX, "-nostartfiles", "-T", cortex / "link.ld", "-Wl,--gc-sections", "-o", "bicycle.elf",
        "main.o", "start.o", "bicycle.o", "-lm", cwd=folder)
    names = run("arm-none-eabi-nm", "-S", "bicycle.elf", cwd=folder)
    own = run("arm-none-eabi-nm", "--defined-only", "bicycle.o", cwd=folder).split()
    sizes = {name: int(size, 16) for _, size, kind, name in re.findall(r"(\w+) (\w+) ([tTrR]) (\S+)", names)
             if name in own or name.split(".")[0] in own}
    code = sum(sizes.values())
    said = subprocess.run("qemu-system-arm -M mps2-an386 -nographic -semihosting -kernel bicycle.elf".split(), cwd=folder,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60).stdout.split()  # what programs say goes to standard error

stack, state = int(said[0]), [struct.unpack(">f", bytes.fromhex(word))[0] for word in said[1:]]
off = max(abs(a - b) / max(1, abs(b)) for a, b in zip(state, exact))
print(f"{code} bytes, of which rates {sizes['bicycle_rates']}; {stack} bytes of stack; "
      f"off by {off:.2g} after a second")
good = len(state) == len(exact) and code < 8000 and stack < 2048 and off < 1e-4
print("passed" if good else "FAILED")
sys.exit(0 if good else 1)
