/* graphblas THREADS GRAPH.bin JOB DTYPE COLUMNS REPEAT: seconds and checksum.
   spmm runs twice, as C += A*X with the bare pattern and plus_second (without
   the scaling by 1/degree) and with values and plus_times; the faster counts,
   the checksum is that of the second. */
#include <GraphBLAS.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(call) do { GrB_Info info = (call); if (info != GrB_SUCCESS) { \
    fprintf(stderr, "GraphBLAS error %d at line %d\n", info, __LINE__); exit(1); } } while (0)

enum { STEPS = 10, STRIDE = 20 };
enum content { ZERO, INPUT, PRIOR, LABELS };

static int64_t n, nnz, *ptr;
static int32_t *col;
static int k, walk, single;
static GrB_Type type;
static size_t size;

static void put(void *x, int64_t at, double v) {
    if (single) ((float *)x)[at] = (float)v; else ((double *)x)[at] = v;
}

static GrB_Matrix adjacency(int valued) {
    GrB_Matrix a;
    GrB_Index *p = malloc((n + 1) * 8), *j = malloc(nnz * 8);
    void *x = malloc(valued ? nnz * size : size);
    memcpy(p, ptr, (n + 1) * 8);
    for (int64_t e = 0; e < nnz; e++) j[e] = col[e];
    if (valued)
        for (int64_t i = 0; i < n; i++)
            for (int64_t e = ptr[i]; e < ptr[i + 1]; e++)
                put(x, e, (walk && i % STRIDE == 0 ? .5 : 1) / (double)(ptr[i + 1] - ptr[i]));
    else
        put(x, 0, 1);
    CHECK(GrB_Matrix_new(&a, type, n, n));
    CHECK(GxB_set(a, GxB_FORMAT, GxB_BY_ROW));
    CHECK(GxB_Matrix_pack_CSR(a, &p, &j, &x, (n + 1) * 8, nnz * 8, valued ? nnz * size : size, !valued, false, 0));
    return a;
}

static GrB_Matrix block(enum content what) {
    GrB_Matrix b;
    void *x = malloc((size_t)n * k * size);
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < k; c++) {
            int hit = i % STRIDE == 0 && c == i / STRIDE % k;
            double v = what == ZERO ? 0 : what == INPUT ? (i * k + c) % 17 + 1
                     : what == LABELS ? .5 * hit : i % STRIDE ? 1. / k : hit;
            put(x, i * k + c, v);
        }
    CHECK(GrB_Matrix_new(&b, type, n, k));
    CHECK(GxB_set(b, GxB_FORMAT, GxB_BY_ROW));
    CHECK(GxB_set(b, GxB_SPARSITY_CONTROL, GxB_FULL));
    CHECK(GxB_Matrix_pack_FullR(b, &x, (size_t)n * k * size, false, 0));
    return b;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double checksum(GrB_Matrix y) {
    void *x;
    GrB_Index bytes;
    bool iso;
    double sum = 0;
    CHECK(GxB_Matrix_unpack_FullR(y, &x, &bytes, &iso, 0));
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < k; c++) {
            double v = single ? ((float *)x)[i * k + c] : ((double *)x)[i * k + c];
            sum += v * (walk ? (double)((31 * i + 17 * c) % 101) : 1);
        }
    free(x);
    return sum;
}

int main(int argc, char **argv) {
    if (argc != 7) return 2;
    FILE *f = fopen(argv[2], "rb");
    int64_t head[2];
    if (!f || fread(head, 8, 2, f) != 2) return 1;
    n = head[0], nnz = head[1];
    ptr = malloc((n + 1) * 8), col = malloc(nnz * 4);
    if (fread(ptr, 8, n + 1, f) != (size_t)n + 1 || fread(col, 4, nnz, f) != (size_t)nnz) return 1;
    fclose(f);
    walk = !strcmp(argv[3], "walk");
    single = !strcmp(argv[4], "float32");
    k = atoi(argv[5]);
    int repeat = atoi(argv[6]);
    CHECK(GrB_init(GrB_NONBLOCKING));
    CHECK(GxB_set(GxB_NTHREADS, atoi(argv[1])));
    type = single ? GrB_FP32 : GrB_FP64;
    size = single ? 4 : 8;
    GrB_BinaryOp plus = single ? GrB_PLUS_FP32 : GrB_PLUS_FP64;
    GrB_Semiring times = single ? GrB_PLUS_TIMES_SEMIRING_FP32 : GrB_PLUS_TIMES_SEMIRING_FP64;
    GrB_Semiring second = single ? GxB_PLUS_SECOND_FP32 : GxB_PLUS_SECOND_FP64;

    double best = 1e99, sum = 0;
    for (int valued = walk; valued < 2; valued++) {
        GrB_Matrix a = adjacency(valued), x = block(walk ? PRIOR : INPUT), labels = walk ? block(LABELS) : 0;
        GrB_Matrix p[STEPS + 1] = {x};
        for (int r = 0; r <= repeat; r++) {
            GrB_Matrix y = walk ? 0 : block(ZERO);
            double start = now();
            if (walk)
                for (int t = 1; t <= STEPS; t++) {
                    GrB_Matrix_free(&p[t]);
                    CHECK(GrB_Matrix_dup(&p[t], labels));
                    CHECK(GrB_mxm(p[t], 0, plus, times, a, p[t - 1], 0));
                    CHECK(GrB_Matrix_wait(p[t], GrB_MATERIALIZE));
                }
            else {
                CHECK(GrB_mxm(y, 0, plus, valued ? times : second, a, x, 0));
                CHECK(GrB_Matrix_wait(y, GrB_MATERIALIZE));
            }
            double seconds = now() - start;
            if (r > 0 && seconds < best) best = seconds;
            if (r == repeat) sum = checksum(walk ? p[STEPS] : y);
            if (!walk) GrB_Matrix_free(&y);
        }
        GrB_Matrix_free(&a);
        GrB_Matrix_free(&x);
    }
    printf("%.9g %.17g\n", best, sum);
    return 0;
}
