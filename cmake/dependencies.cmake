# SPDX-License-Identifier: Apache-2.0
# The libraries that trundle stands on, each as a target trundle::NAME; read by the build and by the
# installed package. What is not there is listed in trundle_missing. LAPACK and matio are loaded when
# they are needed (src/base/late.h), and linked with nothing but tests.
set(trundle_dependencies yaml sundials_arkode sundials_cvode sundials_nvecserial)
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
