// SPDX-License-Identifier: Apache-2.0
#include "gpu/embedded.h"

#include "base/embed.h"

EMBED_TEXT(gpu_elementary, "expr/elementary.h")
EMBED_TEXT(gpu_single, "expr/single.txt")
EMBED_TEXT(gpu_nodes, "gpu/nodes.txt")
EMBED_TEXT(gpu_nodes_single, "gpu/nodes_single.txt")
