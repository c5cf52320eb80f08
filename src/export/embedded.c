// SPDX-License-Identifier: Apache-2.0
#include "export/embedded.h"

#include "base/embed.h"

#define EMBED(name, file) EMBED_TEXT(embedded_##name, file)
EMBEDDED(EMBED)
