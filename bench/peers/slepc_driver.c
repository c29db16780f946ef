// The k largest eigenpairs of a symmetric matrix by SLEPc, its Krylov–Schur method unless options of the command line say
// otherwise, for example -eps_type lobpcg. The file has the binary form of PETSc, see eigen_peers.py. Prints CPU seconds of
// the solve, the number of products, and the values.
#include <slepceps.h>
#include <time.h>

int main(int argc, char **argv) {
  Mat A;
  EPS eps;
  PetscViewer file;
  PetscInt k = 20, pairs;
  PetscScalar value;
  PetscLogEvent product;
  PetscEventPerfInfo counts;
  char name[PETSC_MAX_PATH_LEN];
  PetscCall(SlepcInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", name, sizeof name, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-k", &k, NULL));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &file));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatLoad(A, file));
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOperators(eps, A, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_LARGEST_REAL));
  PetscCall(EPSSetDimensions(eps, k, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(EPSSetTolerances(eps, 1e-8, 100000));
  PetscCall(EPSSetFromOptions(eps));
  clock_t begun = clock();
  PetscCall(EPSSolve(eps));
  double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
  PetscCall(EPSGetConverged(eps, &pairs));
  PetscCall(PetscLogEventGetId("MatMult", &product));
  PetscCall(PetscLogEventGetPerfInfo(0, product, &counts));
  printf("%.2f %d", seconds, counts.count);
  for (PetscInt i = 0; i < (pairs < k ? pairs : k); i++) {
    PetscCall(EPSGetEigenvalue(eps, i, &value, NULL));
    printf(" %.10f", (double)PetscRealPart(value));
  }
  printf("\n");
  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&A));
  PetscCall(SlepcFinalize());
  return 0;
}
