// SPDX-License-Identifier: Apache-2.0
// The page that reports are made from: web/, built into one file, as bytes of the library.
#ifndef TR_VIEW_EMBEDDED_H
#define TR_VIEW_EMBEDDED_H

#include "base/text.h"

Text tr_page_embedded(void); // of no length when the library was built without it

#endif
