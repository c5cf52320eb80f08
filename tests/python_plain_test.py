#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The Python module where there is nothing but Python: the tests without NumPy, pandas and SymPy.

    tests/python_plain_test.py TRUNDLE ROOT       with PYTHONPATH where the built package is
"""
import pathlib
import runpy
import sys

sys.modules.update(dict.fromkeys(("numpy", "scipy", "pandas", "sympy", "matplotlib", "torch", "gymnasium")))
runpy.run_path(str(pathlib.Path(__file__).with_name("python_test.py")), run_name="__main__")
