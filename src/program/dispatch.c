// SPDX-License-Identifier: Apache-2.0
// Which of the two interpreters this machine runs.
#include "program/interpret.h"

Interpreter tr_interpret_plain;

#ifdef TR_HAVE_FMA_BUILD
Interpreter tr_interpret_fma;

Interpreter *tr_interpreter(void)
{
    return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") ? tr_interpret_fma
                                                                           : tr_interpret_plain;
}
#else
Interpreter *tr_interpreter(void) { return tr_interpret_plain; }
#endif
