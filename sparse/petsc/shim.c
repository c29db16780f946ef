//go:build petsc && cgo

// All calls of PETSc, SLEPc and MPI. They run on the one thread that called hw_start.

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <petsc.h>
#include <petscsf.h>
#include <slepc.h>

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
  PetscErrorCode code = SlepcInitialize(&argc, &argv, NULL, NULL);
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
  PetscFunctionReturn(SlepcFinalize());
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

// Defined in Go: y = A·x for the rows of this process; 0, or 1 if the product failed.
extern int heatwalkMultiply(uintptr_t product, double *y, double *x);

static PetscErrorCode hw_shell_multiply(Mat shell, Vec x, Vec y) {
  uintptr_t *product;
  const double *from;
  double *to;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(shell, &product));
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  int failed = heatwalkMultiply(*product, to, (double *)from);
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscCheck(!failed, PETSC_COMM_SELF, PETSC_ERR_USER, "the product failed");
  PetscFunctionReturn(0);
}

// hw_shell makes a symmetric matrix of the product. The product must live as long as the matrix.
static PetscErrorCode hw_shell(uintptr_t *product, int64_t rows, int64_t total, Mat *shell) {
  PetscFunctionBegin;
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, (PetscInt)rows, (PetscInt)rows, (PetscInt)total, (PetscInt)total, product, shell));
  PetscCall(MatShellSetOperation(*shell, MATOP_MULT, (void (*)(void))hw_shell_multiply));
  PetscCall(MatSetOption(*shell, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscErrorCode hw_vector(int64_t rows, int64_t total, const double *values, Vec *v) {
  PetscFunctionBegin;
  PetscCall(VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, (PetscInt)rows, (PetscInt)total, values, v));
  PetscFunctionReturn(0);
}

int hw_solve(uintptr_t product, int64_t rows, int64_t total, double tolerance, int64_t limit, const double *b, double *x, int64_t *iterations) {
  Mat shell;
  Vec left, right;
  KSP ksp;
  PC pc;
  PetscInt done;
  KSPConvergedReason reason;
  PetscFunctionBegin;
  PetscCall(hw_shell(&product, rows, total, &shell));
  PetscCall(hw_vector(rows, total, b, &right));
  PetscCall(hw_vector(rows, total, x, &left));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, shell, shell));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(KSPSetTolerances(ksp, tolerance, PETSC_DEFAULT, PETSC_DEFAULT, (PetscInt)limit));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, right, left));
  PetscCall(KSPGetIterationNumber(ksp, &done));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  *iterations = done;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&right));
  PetscCall(MatDestroy(&shell));
  PetscCheck(reason > 0, PETSC_COMM_SELF, PETSC_ERR_NOT_CONVERGED, "KSP stopped after %lld iterations: %s", (long long)done, KSPConvergedReasons[reason]);
  PetscFunctionReturn(0);
}

int hw_eigen(uintptr_t product, int64_t rows, int64_t total, int64_t count, int largest, double tolerance, int64_t limit, int64_t deflated, const double *deflate, double *values, double *vectors, double *residuals, int64_t *converged) {
  Mat shell;
  Vec vector, *space;
  EPS eps;
  PetscInt found;
  PetscFunctionBegin;
  PetscCall(hw_shell(&product, rows, total, &shell));
  PetscCall(PetscMalloc1(deflated, &space));
  for (int64_t i = 0; i < deflated; i++) PetscCall(hw_vector(rows, total, deflate + i * rows, &space[i]));
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOperators(eps, shell, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(eps, largest ? EPS_LARGEST_REAL : EPS_SMALLEST_REAL));
  PetscCall(EPSSetDimensions(eps, (PetscInt)count, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(EPSSetTolerances(eps, tolerance, (PetscInt)limit));
  PetscCall(EPSSetConvergenceTest(eps, EPS_CONV_ABS)); // the relative test never accepts the eigenvalue 0
  if (deflated > 0) PetscCall(EPSSetDeflationSpace(eps, (PetscInt)deflated, space));
  PetscCall(EPSSetFromOptions(eps));
  PetscCall(EPSSolve(eps));
  PetscCall(EPSGetConverged(eps, &found));
  *converged = found;
  for (PetscInt i = 0; i < found && i < count; i++) {
    PetscScalar value;
    PetscCall(hw_vector(rows, total, vectors + i * rows, &vector));
    PetscCall(EPSGetEigenpair(eps, i, &value, NULL, vector, NULL));
    PetscCall(EPSComputeError(eps, i, EPS_ERROR_ABSOLUTE, &residuals[i]));
    values[i] = value;
    PetscCall(VecDestroy(&vector));
  }
  PetscCall(EPSDestroy(&eps));
  for (int64_t i = 0; i < deflated; i++) PetscCall(VecDestroy(&space[i]));
  PetscCall(PetscFree(space));
  PetscCall(MatDestroy(&shell));
  PetscFunctionReturn(0);
}

struct hw_matrix {
  Mat a, block; // block is a for several columns at once
  int64_t rows, total, columns;
};

int hw_matrix_new(int64_t rows, int64_t total, const int64_t *ptr, const int64_t *col, const double *val, hw_matrix **out) {
  hw_matrix *m;
  PetscInt *i, *j;
  PetscFunctionBegin;
  PetscCall(PetscNew(&m));
  PetscCall(PetscMalloc2(rows + 1, &i, ptr[rows], &j));
  for (int64_t r = 0; r <= rows; r++) i[r] = (PetscInt)ptr[r];
  for (int64_t p = 0; p < ptr[rows]; p++) j[p] = (PetscInt)col[p];
  PetscCall(MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, (PetscInt)rows, (PetscInt)rows, (PetscInt)total, (PetscInt)total, i, j, val, &m->a));
  PetscCall(PetscFree2(i, j));
  m->rows = rows;
  m->total = total;
  *out = m;
  PetscFunctionReturn(0);
}

int hw_matrix_multiply(hw_matrix *m, int64_t columns, const double *x, double *y) {
  Vec from, to;
  PetscFunctionBegin;
  if (m->columns != columns) {
    PetscCall(MatDestroy(&m->block));
    PetscCall(MatCreateMAIJ(m->a, (PetscInt)columns, &m->block));
    m->columns = columns;
  }
  PetscCall(VecCreateMPIWithArray(PETSC_COMM_WORLD, (PetscInt)columns, (PetscInt)(m->rows * columns), (PetscInt)(m->total * columns), x, &from));
  PetscCall(VecCreateMPIWithArray(PETSC_COMM_WORLD, (PetscInt)columns, (PetscInt)(m->rows * columns), (PetscInt)(m->total * columns), y, &to));
  PetscCall(MatMult(m->block, from, to));
  PetscCall(VecDestroy(&from));
  PetscCall(VecDestroy(&to));
  PetscFunctionReturn(0);
}

int hw_matrix_free(hw_matrix *m) {
  PetscFunctionBegin;
  PetscCall(MatDestroy(&m->block));
  PetscCall(MatDestroy(&m->a));
  PetscCall(PetscFree(m));
  PetscFunctionReturn(0);
}
