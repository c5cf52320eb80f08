// SPDX-License-Identifier: Apache-2.0
#include "gpu/embedded.h"

#include "base/embed.h"

EMBED_TEXT(gpu_elementary, "expr/elementary.h")
EMBED_TEXT(gpu_nodes, "gpu/nodes.txt")
