// SPDX-License-Identifier: Apache-2.0
// Compiled once for each machine.
#include "sim/lane_math.h"

#include "num/dense.h"
#include "plan/chart.h"
#include "plan/flow.h"
#include "sim/glance.h"
#include "sim/method.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#define LANES 4
#include "sim/lane_math.def"
#undef LANES
#define LANES 8
#include "sim/lane_math.def"
#undef LANES

#define STEP_OF_4(name) .name = name##_4,
#define STEP_OF_8(name) .name = name##_8,

const LaneMath FOR_MACHINE(tr_lane_maths)[LANE_MATHS] = {{.lanes = 4, EVERY_LANE_STEP(STEP_OF_4)},
                                                         {.lanes = 8, EVERY_LANE_STEP(STEP_OF_8)}};
