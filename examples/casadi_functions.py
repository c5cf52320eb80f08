# SPDX-License-Identifier: Apache-2.0
"""Loads functions by the interface that CasADi has for external ones: with NumPy and ctypes alone."""
import ctypes

import numpy as np

LONG, REAL = ctypes.c_longlong, ctypes.c_double


class External:
    """A function of a library: called with arrays, it gives arrays, sparse ones filled up."""

    def __init__(self, path, name):
        library = ctypes.CDLL(str(path))
        at = lambda tail, result: self.typed(getattr(library, name + tail), result)
        self.run = getattr(library, name)
        self.names_in, self.inputs = self.describe(at, "in")
        self.names_out, self.outputs = self.describe(at, "out")
        sizes = [LONG() for _ in range(4)]
        assert getattr(library, name + "_work")(*map(ctypes.byref, sizes)) == 0
        sz_arg, sz_res, sz_iw, sz_w = [size.value for size in sizes]
        self.arg, self.res = (ctypes.POINTER(REAL) * sz_arg)(), (ctypes.POINTER(REAL) * sz_res)()
        self.iw, self.w = (LONG * (sz_iw + 1))(), (REAL * (sz_w + 1))()
        at("_incref", None)()

    @staticmethod
    def typed(function, result):
        function.restype = result
        return function

    @staticmethod
    def describe(at, side):
        """Names, and of each the shape and the places of what is not zero, by columns."""
        names, shapes = [], []
        for i in range(at(f"_n_{side}", LONG)()):
            names.append(at(f"_name_{side}", ctypes.c_char_p)(LONG(i)).decode())
            s = at(f"_sparsity_{side}", ctypes.POINTER(LONG))(LONG(i))
            rows, columns = s[0], s[1]
            if s[2] == 1:  # all of it
                places = [(r, c) for c in range(columns) for r in range(rows)]
            else:
                starts = [s[2 + c] for c in range(columns + 1)]
                places = [(s[3 + columns + k], c) for c in range(columns)
                          for k in range(starts[c], starts[c + 1])]
            shapes.append(((rows, columns), np.array(places, int).reshape(-1, 2)))
        return names, shapes

    def __call__(self, *given):
        kept = [np.ascontiguousarray(one, float) for one in given]
        out = [np.zeros(len(places) + 1) for _, places in self.outputs]
        for k, one in enumerate(kept):
            assert one.size == self.inputs[k][0][0] * self.inputs[k][0][1]
            self.arg[k] = one.ctypes.data_as(ctypes.POINTER(REAL))
        for k, one in enumerate(out):
            self.res[k] = one.ctypes.data_as(ctypes.POINTER(REAL))
        if self.run(self.arg, self.res, self.iw, self.w, 0):
            raise ArithmeticError("the function has no value here")
        full = []
        for (shape, places), values in zip(self.outputs, out):
            matrix = np.zeros(shape)
            matrix[places[:, 0], places[:, 1]] = values[:-1]
            full.append(matrix if shape[1] != 1 else matrix[:, 0])
        return full[0] if len(full) == 1 else full
