# SPDX-License-Identifier: Apache-2.0
# The libraries that trundle stands on, each as a target trundle::NAME; read by the build and by the
# installed package. What is not there is listed in trundle_missing. LAPACK is loaded when a linear
# model needs it (src/linear/lapack.c), and linked with nothing but tests.
set(trundle_dependencies yaml sundials_arkode sundials_cvode sundials_nvecserial matio)
set(trundle_missing "")
foreach(name ${trundle_dependencies})
  find_library(TRUNDLE_${name} ${name})
  mark_as_advanced(TRUNDLE_${name})
  if(NOT TRUNDLE_${name})
    list(APPEND trundle_missing ${name})
  elseif(NOT TARGET trundle::${name})
    add_library(trundle::${name} UNKNOWN IMPORTED)
    set_target_properties(trundle::${name} PROPERTIES IMPORTED_LOCATION ${TRUNDLE_${name}})
  endif()
endforeach()
