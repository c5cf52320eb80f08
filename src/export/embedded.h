// SPDX-License-Identifier: Apache-2.0
// Texts that generated code is made of, as they stand in this folder.
#ifndef TR_EXPORT_EMBEDDED_H
#define TR_EXPORT_EMBEDDED_H

#include "base/text.h"

// One row for each: its name here, and its file
#define EMBEDDED(X)                                          \
    X(c_jacobian, "export/c_jacobian.txt")                   \
    X(c_tangent, "export/c_tangent.txt")                     \
    X(fmi_h, "fmu/fmi.h")                                    \
    X(fmi2_def, "fmu/fmi2.def")                              \
    X(fmi3_def, "fmu/fmi3.def")                              \
    X(fmu_head, "export/fmu_head.txt")                       \
    X(fmu_core, "export/fmu_core.txt")                       \
    X(fmu_two, "export/fmu_two.txt")                         \
    X(fmu_three, "export/fmu_three.txt")                     \
    X(elementary, "expr/elementary.h")                       \
    X(single, "expr/single.txt")                             \
    X(c_table, "export/c_table.txt")                         \
    X(c_project, "export/c_project.txt")                     \
    X(c_step, "export/c_step.txt")                           \
    X(c_times, "export/c_times.txt")                         \
    X(c_stops, "export/c_stops.txt")                         \
    X(c_whole_step, "export/c_whole_step.txt")               \
    X(c_jumps, "export/c_jumps.txt")                         \
    X(c_blow, "export/c_blow.txt")                           \
    X(c_samples, "export/c_samples.txt")                     \
    X(c_samples_header, "export/c_samples_header.txt")       \
    X(c_noise, "export/c_noise.txt")                         \
    X(c_project_all, "export/c_project_all.txt")             \
    X(c_demo, "export/c_demo.txt")                           \
    X(c_header, "export/c_header.txt")                       \
    X(c_source, "export/c_source.txt")                       \
    X(c_raise, "export/c_raise.txt")                         \
    X(c_unreduced, "export/c_unreduced.txt")                 \
    X(c_unreduced_tangent, "export/c_unreduced_tangent.txt") \
    X(c_columns, "export/c_columns.txt")                     \
    X(c_all_phi, "export/c_all_phi.txt")                     \
    X(c_unreduced_project, "export/c_unreduced_project.txt") \
    X(c_unreduced_step, "export/c_unreduced_step.txt")       \
    X(c_contacts, "export/c_contacts.txt")                   \
    X(c_events, "export/c_events.txt")                       \
    X(c_units, "export/c_units.txt")                         \
    X(c_quality, "export/c_quality.txt")                     \
    X(c_metric, "export/c_metric.txt")                       \
    X(c_start, "export/c_start.txt")                         \
    X(c_plain_start, "export/c_plain_start.txt")             \
    X(python_head, "export/python_head.txt")                 \
    X(python_table, "export/python_table.txt")               \
    X(python_tail, "export/python_tail.txt")                 \
    X(python_demo, "export/python_demo.txt")                 \
    X(octave_table, "export/octave_table.txt")               \
    X(octave_initial, "export/octave_initial.txt")           \
    X(octave_least_step, "export/octave_least_step.txt")     \
    X(octave_project, "export/octave_project.txt")           \
    X(octave_speeds, "export/octave_speeds.txt")             \
    X(octave_fits, "export/octave_fits.txt")                 \
    X(octave_step, "export/octave_step.txt")                 \
    X(octave_demo, "export/octave_demo.txt")                 \
    X(octave_samples, "export/octave_samples.txt")           \
    X(octave_control, "export/octave_control.txt")           \
    X(octave_sampled_step, "export/octave_sampled_step.txt") \
    X(octave_sampled_demo, "export/octave_sampled_demo.txt") \
    X(octave_picture, "export/octave_picture.txt")           \
    X(python_samples, "export/python_samples.txt")           \
    X(python_sampled_demo, "export/python_sampled_demo.txt") \
    X(casadi_head, "export/casadi_head.txt")                 \
    X(casadi_function, "export/casadi_function.txt")         \
    X(c_second, "export/c_second.txt")                       \
    X(sympy_head, "export/sympy_head.txt")                   \
    X(sympy_demo, "export/sympy_demo.txt")                   \
    X(c_makefile, "export/c_makefile.txt")                   \
    X(ptx_demo, "export/ptx_demo.txt")                       \
    X(cuda_head, "export/cuda_head.txt")                     \
    X(cuda_number, "export/cuda_number.txt")                 \
    X(cuda_single, "export/cuda_single.txt")                 \
    X(cuda_tail, "export/cuda_tail.txt")                     \
    X(cuda_demo, "export/cuda_demo.txt")                     \
    X(cuda_makefile, "export/cuda_makefile.txt")

#define DECLARE(name, file) Text tr_embedded_##name(void);
EMBEDDED(DECLARE)
#undef DECLARE

#endif
