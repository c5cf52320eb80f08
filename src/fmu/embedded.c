// SPDX-License-Identifier: Apache-2.0
#include "fmu/embedded.h"

#include "base/embed.h"

EMBED_TEXT(fmu_types, "fmu/fmi.h")
