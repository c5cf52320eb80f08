#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel in a virtual environment made from Debian's Python, without network, with and without
isolation: what is in it, and that the tests pass with it, of which all are run where `all` is asked for,
with environments, models by code, steps for PyTorch and the policy that learns, too.

    tests/python_wheel_test.py TRUNDLE ROOT BUILD [all]
"""
import base64
import csv
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

TRUNDLE, ROOT, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
FEW = ["Models", "Errors", "Results", "Runs"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_", "VIRTUAL"))}
ENVIRONMENT.update(TRUNDLE_BUILD=str(BUILD), PIP_DISABLE_PIP_VERSION_CHECK="1")


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=ENVIRONMENT, **more)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, words))}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        there = pathlib.Path(cls.folder.name)
        cls.there, cls.python = there, there / "env/bin/python"
        cls.wheel = pathlib.Path(run("/usr/bin/python3", ROOT / "python/backend.py", there).split()[-1])
        cls.has_venv = subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", there / "env"],
                                      capture_output=True, env=ENVIRONMENT).returncode == 0

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_what_is_in_it(self):
        """The package, its stubs and what says that there are some; each with its hash; no more."""
        self.assertRegex(self.wheel.name, r"^trundle-[\d.]+-cp311-abi3-linux_\w+\.whl$")
        package = {f"trundle/{path.name}" for path in (ROOT / "python/trundle").iterdir() if path.is_file()}
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            info = next(name for name in names if name.endswith("/RECORD")).rsplit("/", 1)[0]
            self.assertEqual(set(names), package | {"trundle/calls.py", "trundle/_trundle.abi3.so"} |
                             {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "LICENSE")})
            for name, digest, size in csv.reader(io.StringIO(archive.read(f"{info}/RECORD").decode())):
                if not name.endswith("RECORD"):
                    content = archive.read(name)
                    wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                    self.assertEqual((digest, int(size)), (f"sha256={wanted}", len(content)), name)
            extension = self.there / "extension.so"
            extension.write_bytes(archive.read("trundle/_trundle.abi3.so"))
        self.assertNotIn("libtrundle", run("ldd", extension), "the library is in it")
        again = pathlib.Path(run("/usr/bin/python3", ROOT / "python/backend.py", self.there / "again").split()[-1])
        self.assertEqual(again.read_bytes(), self.wheel.read_bytes(), "the same bytes each time")

    def test_installed(self):
        """By pip, from both folders and from the wheel; models run there, and Debian's packages are seen."""
        if not self.has_venv:
            self.skipTest("python3-venv is missing (tools/setup test installs it)")
        pip = [self.python, "-m", "pip", "install", "-q", "--no-index", "--force-reinstall"]
        for what in ([ROOT], [ROOT / "python"], ["--no-build-isolation", ROOT / "python"], [self.wheel]):
            run(*pip, *what, cwd=self.there)
        where = run(self.python, "-c", "import trundle; print(trundle.__file__, trundle.__version__)", cwd=self.there)
        self.assertIn(f"{self.there}/env/lib", where)
        is_all = sys.argv[4:] == ["all"]
        run(self.python, ROOT / "tests/python_test.py", TRUNDLE, ROOT, *([] if is_all else FEW), cwd=self.there)
        for more in ("draft", "env", "stubs", "autograd") if is_all else ():
            run(self.python, ROOT / f"tests/python_{more}_test.py", TRUNDLE, ROOT, cwd=self.there)
        if is_all:
            run(self.python, ROOT / "examples/balance.py", ROOT / "models/cart_pole.yaml", cwd=self.there)
        run(self.python, "-m", "pip", "uninstall", "-q", "-y", "trundle", cwd=self.there)
        self.assertEqual(list((self.there / "env").glob("lib/python3*/site-packages/*trundle*")), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
