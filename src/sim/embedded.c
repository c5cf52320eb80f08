// SPDX-License-Identifier: Apache-2.0
#include "sim/embedded.h"

#include "base/embed.h"

EMBED_TEXT(sim_dense, "num/dense.h")
EMBED_TEXT(sim_chart, "plan/chart.h")
EMBED_TEXT(sim_glance, "sim/glance.h")
EMBED_TEXT(sim_group, "sim/group.h")
EMBED_TEXT(sim_lane_math, "sim/lane_math.h")
EMBED_TEXT(sim_gpu_step, "sim/gpu_step.txt")
EMBED_TEXT(sim_gpu_rows, "sim/gpu_rows.txt")
EMBED_TEXT(sim_balance, "sim/balance.h")
