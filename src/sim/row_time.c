// SPDX-License-Identifier: Apache-2.0
#include "sim/row_time.h"

#include <math.h>

double tr_row_intervals(double end, double every)
{
    return end > 0 ? fmax(1, ceil(end / every - 1e-9)) : 0;
}

bool tr_row_divides(double end, double every)
{
    const double count = fmax(1, tr_row_intervals(end, every));
    return fabs(count * every - end) <= 1e-9 * every;
}

// i times `every`: as round as `end` where it divides that. Kernels for GPUs do the same
// (sweep/gpu_row.txt).
static double multiple(double end, double every, uint64_t i)
{
    const double count = fmax(1, tr_row_intervals(end, every));
    return tr_row_divides(end, every) ? end * (double)i / count : (double)i * every;
}

double tr_row_time(double end, double every, uint32_t i, uint32_t count)
{
    return i < count ? multiple(end, every, i) : end;
}

double tr_row_step(double end, double every, double step)
{
    const double interval = fmin(multiple(end, every, 1), end > 0 ? end : every);
    return interval / fmax(1, ceil(interval / step - 1e-9));
}
