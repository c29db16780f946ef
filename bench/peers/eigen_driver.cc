// eigen THREADS GRAPH.bin spmm DTYPE COLUMNS REPEAT: seconds and checksum.
#include <Eigen/Sparse>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace Eigen;

static int64_t n, nnz;
static std::vector<int64_t> ptr;
static std::vector<int32_t> col;

template <class S, int K> static void run(int repeat) {
    using Rows = Matrix<S, Dynamic, K, K == 1 ? ColMajor : RowMajor>;
    std::vector<int32_t> p(ptr.begin(), ptr.end());
    std::vector<S> v(nnz);
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = ptr[i]; e < ptr[i + 1]; e++) v[e] = S(1.0 / double(ptr[i + 1] - ptr[i]));
    Map<SparseMatrix<S, RowMajor, int32_t>> a(n, n, nnz, p.data(), col.data(), v.data());
    Rows x(n, K), y = Rows::Zero(n, K);
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < K; j++) x(i, j) = S((i * K + j) % 17 + 1);
    double best = 1e99;
    for (int r = 0; r <= repeat; r++) {
        auto start = std::chrono::steady_clock::now();
        y.noalias() = a * x;
        std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        if (r > 0) best = std::min(best, seconds.count());
    }
    std::printf("%.9g %.17g\n", best, y.template cast<double>().sum());
}

template <class S> static bool dispatch(int k, int repeat) {
    switch (k) {
    case 1: run<S, 1>(repeat); return true;
    case 5: run<S, 5>(repeat); return true;
    case 8: run<S, 8>(repeat); return true;
    case 16: run<S, 16>(repeat); return true;
    case 40: run<S, 40>(repeat); return true;
    }
    return false;
}

int main(int argc, char **argv) {
    if (argc != 7 || std::strcmp(argv[3], "spmm")) return 2;
    FILE *f = std::fopen(argv[2], "rb");
    int64_t head[2];
    if (!f || std::fread(head, 8, 2, f) != 2) return 1;
    n = head[0], nnz = head[1];
    ptr.resize(n + 1), col.resize(nnz);
    if (std::fread(ptr.data(), 8, n + 1, f) != size_t(n + 1) || std::fread(col.data(), 4, nnz, f) != size_t(nnz)) return 1;
    std::fclose(f);
    setNbThreads(std::atoi(argv[1]));
    int k = std::atoi(argv[5]), repeat = std::atoi(argv[6]);
    return (std::strcmp(argv[4], "float32") ? dispatch<double>(k, repeat) : dispatch<float>(k, repeat)) ? 0 : 2;
}
