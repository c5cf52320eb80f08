// SPDX-License-Identifier: Apache-2.0
// Texts that kernels are made of, as they stand in the library.
#ifndef TR_GPU_EMBEDDED_H
#define TR_GPU_EMBEDDED_H

#include "base/text.h"

Text tr_gpu_elementary(void);
Text tr_gpu_single(void);
Text tr_gpu_nodes(void);
Text tr_gpu_nodes_single(void);

#endif
