// SPDX-License-Identifier: Apache-2.0
// Texts that kernels of rows are made of, as they stand in the library.
#ifndef TR_SWEEP_EMBEDDED_H
#define TR_SWEEP_EMBEDDED_H

#include "base/text.h"

Text tr_sweep_tally(void);
Text tr_sweep_gpu_row(void);

#endif
