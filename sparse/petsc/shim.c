//go:build petsc && cgo

// All calls of PETSc and MPI. They run on the one thread that called hw_start.

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <petsc.h>
#include <petscsf.h>

#include "shim.h"

#define HW_SIGNALS 65

static char hw_trace[4096]; // of the last error: its message and the functions that it passed

// hw_keep_error stores the text of an error for hw_error_text. PETSc's own handler prints it.
static PetscErrorCode hw_keep_error(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType kind, const char *message, void *context) {
  if (kind == PETSC_ERROR_INITIAL) hw_trace[0] = 0;
  size_t used = strlen(hw_trace);
  const char *base = file ? strrchr(file, '/') : NULL;
  base = base ? base + 1 : file ? file : "?";
  if (used == 0 && message) used = snprintf(hw_trace, sizeof hw_trace, "%s", message);
  if (used < sizeof hw_trace) snprintf(hw_trace + used, sizeof hw_trace - used, " [%s %s:%d]", function ? function : "?", base, line);
  return code;
}

const char *hw_error_text(int code) {
  static char text[sizeof hw_trace + 512];
  const char *name = NULL;
  PetscErrorMessage(code, &name, NULL);
  snprintf(text, sizeof text, "%s%s%s", name ? name : "unknown error", hw_trace[0] ? ": " : "", hw_trace);
  for (char *c = text; *c; c++) {
    if (*c == '\n') *c = ' ';
  }
  return text;
}

// hw_start restores the signal handlers of the Go runtime, which needs them on its own stacks.
int hw_start(int argc, char **argv) {
  struct sigaction before[HW_SIGNALS];
  for (int s = 1; s < HW_SIGNALS; s++) {
    if (sigaction(s, NULL, &before[s])) before[s].sa_flags = -1;
  }
  PetscErrorCode code = PetscInitialize(&argc, &argv, NULL, NULL);
  for (int s = 1; s < HW_SIGNALS; s++) {
    if (before[s].sa_flags != -1) sigaction(s, &before[s], NULL);
  }
  if (code) return code;
  // PETSc's communicators are copies of this one and inherit the handler, so that errors are returned.
  if (MPI_Comm_set_errhandler(PETSC_COMM_WORLD, MPI_ERRORS_RETURN)) return PETSC_ERR_MPI;
  return PetscPushErrorHandler(hw_keep_error, NULL);
}

int hw_rank(void) {
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank;
}

int hw_size(void) {
  int size = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  return size;
}

int64_t hw_largest_index(void) { return PETSC_MAX_INT; }

// hw_unit makes the MPI type of size bytes. MPI counts in int, so that large data travels in large units.
static PetscErrorCode hw_unit(int64_t size, MPI_Datatype *unit) {
  PetscFunctionBegin;
  MPI_Datatype base = size % 8 == 0 ? MPI_DOUBLE : size % 4 == 0 ? MPI_FLOAT : MPI_BYTE;
  int64_t count = size % 8 == 0 ? size / 8 : size % 4 == 0 ? size / 4 : size;
  PetscCheck(count <= INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%lld bytes exceed one MPI type", (long long)size);
  PetscCallMPI(MPI_Type_contiguous((int)count, base, unit));
  PetscCallMPI(MPI_Type_commit(unit));
  PetscFunctionReturn(0);
}

// hw_finalize waits for all processes, without occupying a processor, which another process may need.
int hw_finalize(void) {
  MPI_Request request;
  const struct timespec pause = {.tv_nsec = 2000000};
  PetscFunctionBegin;
  PetscCallMPI(MPI_Ibarrier(PETSC_COMM_WORLD, &request));
  for (int done = 0; !done;) {
    PetscCallMPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (!done) nanosleep(&pause, NULL);
  }
  PetscFunctionReturn(PetscFinalize());
}

int hw_allgather(double *dst, const double *v, int64_t n) {
  MPI_Datatype unit;
  PetscFunctionBegin;
  PetscCall(hw_unit(8 * n, &unit));
  PetscCallMPI(MPI_Allgather(v, 1, unit, dst, 1, unit, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscFunctionReturn(0);
}

int hw_broadcast(int root, void *data, int64_t n) {
  PetscFunctionBegin;
  for (char *at = data; n > 0;) {
    int part = n < 1 << 30 ? (int)n : 1 << 30;
    PetscCallMPI(MPI_Bcast(at, part, MPI_BYTE, root, PETSC_COMM_WORLD));
    at += part;
    n -= part;
  }
  PetscFunctionReturn(0);
}

struct hw_exchange {
  PetscSF sf;
  int64_t size; // of the rows in the last transfer, 0 before the first one
  MPI_Datatype unit;
};

int hw_exchange_new(int64_t offered, int64_t wanted, const int32_t *rank_and_row, hw_exchange **out) {
  hw_exchange *e;
  PetscSFNode *from;
  PetscFunctionBegin;
  PetscCall(PetscNew(&e));
  PetscCall(PetscMalloc1(wanted, &from));
  for (int64_t i = 0; i < wanted; i++) {
    from[i].rank = rank_and_row[2 * i];
    from[i].index = rank_and_row[2 * i + 1];
  }
  PetscCall(PetscSFCreate(PETSC_COMM_WORLD, &e->sf));
  PetscCall(PetscSFSetFromOptions(e->sf));
  PetscCall(PetscSFSetGraph(e->sf, (PetscInt)offered, (PetscInt)wanted, NULL, PETSC_COPY_VALUES, from, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(e->sf));
  *out = e;
  PetscFunctionReturn(0);
}

int hw_exchange_begin(hw_exchange *e, const void *offered, void *wanted, int64_t size) {
  PetscFunctionBegin;
  if (size != e->size) {
    if (e->size > 0) PetscCallMPI(MPI_Type_free(&e->unit));
    e->size = 0;
    PetscCall(hw_unit(size, &e->unit));
    e->size = size;
  }
  PetscCall(PetscSFBcastBegin(e->sf, e->unit, offered, wanted, MPI_REPLACE));
  PetscFunctionReturn(0);
}

int hw_exchange_end(hw_exchange *e, const void *offered, void *wanted) {
  PetscFunctionBegin;
  PetscCall(PetscSFBcastEnd(e->sf, e->unit, offered, wanted, MPI_REPLACE));
  PetscFunctionReturn(0);
}

int hw_exchange_free(hw_exchange *e) {
  PetscFunctionBegin;
  if (e->size > 0) PetscCallMPI(MPI_Type_free(&e->unit));
  PetscCall(PetscSFDestroy(&e->sf));
  PetscCall(PetscFree(e));
  PetscFunctionReturn(0);
}
