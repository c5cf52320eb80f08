// SPDX-License-Identifier: Apache-2.0
// Texts that headers for sources of others are made of, as they stand in the library.
#ifndef TR_FMU_EMBEDDED_H
#define TR_FMU_EMBEDDED_H

#include "base/text.h"

Text tr_fmu_types(void);

#endif
