// The functions of shim.c in plain C types, so that Go code names no symbol of PETSc or MPI.
// Those of type int return 0 or an error code, of which hw_error_text returns the description.
#ifndef HEATWALK_SHIM_H
#define HEATWALK_SHIM_H

#include <stdint.h>

int hw_start(int argc, char **argv);
int hw_finalize(void);
int hw_rank(void);
int hw_size(void);
int64_t hw_largest_index(void);
const char *hw_error_text(int code);

int hw_allgather(double *dst, const double *v, int64_t n);
int hw_broadcast(int root, void *data, int64_t n);

typedef struct hw_exchange hw_exchange;
int hw_exchange_new(int64_t offered, int64_t wanted, const int32_t *rank_and_row, hw_exchange **out);
int hw_exchange_begin(hw_exchange *e, const void *offered, void *wanted, int64_t size);
int hw_exchange_end(hw_exchange *e, const void *offered, void *wanted);
int hw_exchange_free(hw_exchange *e);

#endif
