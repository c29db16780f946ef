// One job of PETSc or SLEPc on a matrix in a file of PETSc's binary form, see solvers.py: prints the processor seconds of the
// set-up and of the solve, the number of products or steps, and numbers to compare. Options of PETSc select the method, for
// example -pc_type hypre or -eps_type lobpcg.
//
//   -job eigen -k 20              the k largest eigenpairs of a symmetric matrix: their values
//   -job solve -rows 5,7,…        columns of L⁺ of a connected graph: their elements on the diagonal. With -grounded the matrix
//                                 is L without its last row and column, so that it can be factored exactly
//   -job expm -t 10 -k 16         exp(t·A)·B, B_ij = sin(1 + i·k + j): the sums of the squares of the columns
#include <math.h>
#include <slepceps.h>
#include <slepcmfn.h>
#include <time.h>

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static PetscErrorCode products(PetscInt *count) {
  PetscLogEvent product;
  PetscEventPerfInfo info;
  PetscCall(PetscLogEventGetId("MatMult", &product));
  PetscCall(PetscLogEventGetPerfInfo(0, product, &info));
  *count = info.count;
  return 0;
}

static PetscErrorCode eigen(Mat A, PetscInt k) {
  EPS eps;
  PetscInt pairs, count;
  PetscScalar value;
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOperators(eps, A, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_LARGEST_REAL));
  PetscCall(EPSSetDimensions(eps, k, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(EPSSetTolerances(eps, 1e-8, 100000));
  PetscCall(EPSSetFromOptions(eps));
  double begun = seconds();
  PetscCall(EPSSetUp(eps));
  double ready = seconds();
  PetscCall(EPSSolve(eps));
  double done = seconds();
  PetscCall(EPSGetConverged(eps, &pairs));
  PetscCall(products(&count));
  printf("%.4f %.4f %d", ready - begun, done - ready, (int)count);
  for (PetscInt i = 0; i < (pairs < k ? pairs : k); i++) {
    PetscCall(EPSGetEigenvalue(eps, i, &value, NULL));
    printf(" %.10g", (double)PetscRealPart(value));
  }
  return EPSDestroy(&eps);
}

static PetscErrorCode solve(Mat A, PetscInt count, const PetscInt *rows, PetscBool grounded) {
  KSP ksp;
  Vec x, b;
  MatNullSpace constants;
  PetscInt n, step, steps = 0;
  PetscScalar sum, value, diagonal[64];
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(MatSetOption(A, grounded ? MAT_SPD : MAT_SYMMETRIC, PETSC_TRUE));
  if (!grounded) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(A, constants));
    PetscCall(MatSetNearNullSpace(A, constants));
  }
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100000));
  PetscCall(KSPSetFromOptions(ksp));
  double begun = seconds();
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetUp(ksp));
  double ready = seconds();
  PetscInt nodes = n + grounded;
  for (PetscInt j = 0; j < count; j++) {
    PetscCall(VecSet(b, -1. / nodes));
    if (rows[j] < n) PetscCall(VecSetValue(b, rows[j], 1, ADD_VALUES));
    PetscCall(VecAssemblyBegin(b));
    PetscCall(VecAssemblyEnd(b));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &step));
    steps += step;
    PetscCall(VecSum(x, &sum));
    PetscCall(VecShift(x, -sum / nodes));
    value = -sum / nodes;
    if (rows[j] < n) PetscCall(VecGetValues(x, 1, &rows[j], &value));
    diagonal[j] = value;
  }
  printf("%.4f %.4f %d", ready - begun, seconds() - ready, (int)steps);
  for (PetscInt j = 0; j < count; j++) printf(" %.10g", (double)diagonal[j]);
  return KSPDestroy(&ksp);
}

static PetscErrorCode expm(Mat A, PetscInt k, PetscReal t) {
  MFN mfn;
  FN exponential;
  Vec x, b;
  PetscInt n, count;
  PetscReal norm;
  PetscScalar *value, sums[64];
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(MFNCreate(PETSC_COMM_WORLD, &mfn));
  PetscCall(MFNSetOperator(mfn, A));
  PetscCall(MFNGetFN(mfn, &exponential));
  PetscCall(FNSetType(exponential, FNEXP));
  PetscCall(FNSetScale(exponential, t, 1));
  PetscCall(MFNSetTolerances(mfn, 1e-8, 10000));
  PetscCall(MFNSetFromOptions(mfn));
  double begun = seconds();
  PetscCall(MFNSetUp(mfn));
  double ready = seconds();
  for (PetscInt j = 0; j < k; j++) {
    PetscCall(VecGetArray(b, &value));
    for (PetscInt i = 0; i < n; i++) value[i] = sin(1. + i * k + j);
    PetscCall(VecRestoreArray(b, &value));
    PetscCall(MFNSolve(mfn, b, x));
    PetscCall(VecNorm(x, NORM_2, &norm));
    sums[j] = norm * norm;
  }
  double done = seconds();
  PetscCall(products(&count));
  printf("%.4f %.4f %d", ready - begun, done - ready, (int)count);
  for (PetscInt j = 0; j < k; j++) printf(" %.10g", (double)sums[j]);
  return MFNDestroy(&mfn);
}

int main(int argc, char **argv) {
  Mat A;
  PetscViewer file;
  PetscInt k = 20, count = 64, rows[64];
  PetscReal t = 10;
  PetscBool grounded = PETSC_FALSE;
  char name[PETSC_MAX_PATH_LEN], job[16];
  PetscCall(SlepcInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", name, sizeof name, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-job", job, sizeof job, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-k", &k, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-t", &t, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-grounded", &grounded, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-rows", rows, &count, NULL));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &file));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatLoad(A, file));
  switch (job[1]) {
  case 'i': PetscCall(eigen(A, k)); break;
  case 'o': PetscCall(solve(A, count, rows, grounded)); break;
  default: PetscCall(expm(A, k, t));
  }
  printf("\n");
  PetscCall(MatDestroy(&A));
  PetscCall(SlepcFinalize());
  return 0;
}
