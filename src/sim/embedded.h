// SPDX-License-Identifier: Apache-2.0
// Texts that kernels of steps are made of, as they stand in the library.
#ifndef TR_SIM_EMBEDDED_H
#define TR_SIM_EMBEDDED_H

#include "base/text.h"

Text tr_sim_dense(void);
Text tr_sim_chart(void);
Text tr_sim_glance(void);
Text tr_sim_group(void);
Text tr_sim_lane_math(void);
Text tr_sim_gpu_step(void);
Text tr_sim_gpu_rows(void);
Text tr_sim_balance(void);

#endif
