// SPDX-License-Identifier: Apache-2.0
#include "fmu/fmi.h"

const FmiFunction tr_fmi2_functions[FMI2_FUNCTIONS] = {
#define FMI2(kind, result, name, arguments) {"fmi2" #name, FMI_##kind},
#include "fmu/fmi2.def"
};

const FmiFunction tr_fmi3_functions[FMI3_FUNCTIONS] = {
#define FMI3(kind, result, name, arguments) {"fmi3" #name, FMI_##kind},
#include "fmu/fmi3.def"
};
