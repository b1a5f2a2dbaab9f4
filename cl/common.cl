// common: the words every kernel shares. Included first in every program.
//
// Nothing here or in any kernel file has a default: a kernel built without a define the host owes it does not build.
#ifndef GROUP_SIZE
#error "GROUP_SIZE: the host plans the work-group size, see src/esc/tuning.rs"
#endif

// A product is rounded before it is added, on every device (DESIGN: the bits of a result do not wander).
#pragma OPENCL FP_CONTRACT OFF

#define KERNEL kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void
