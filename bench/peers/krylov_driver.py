#!/usr/bin/env python3
"""krylov_driver.py GRAPH.bin JOB ARGUMENTS...: SciPy's seconds and checksum.

exponential BETA TOLERANCE COLUMNS REPEAT [multiply]
    exp(-beta L~) B by a Chebyshev recurrence written in SciPy, cut where the
    tail is below TOLERANCE relative to |Y| (given by the result itself), or by
    scipy.sparse.linalg.expm_multiply
solve SYSTEM ALPHA TOLERANCE COLUMNS REPEAT
    scipy.sparse.linalg.cg with Jacobi, column by column
eigen MATRIX WHICH K TOLERANCE NCV REPEAT
    scipy.sparse.linalg.eigsh; NCV 0 is its default
"""
import sys
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sl
import scipy.special as ss

path, job = sys.argv[1:3]
rest = sys.argv[3:]
raw = np.fromfile(path, np.int64, 2)
n, nnz = int(raw[0]), int(raw[1])
indptr = np.fromfile(path, np.int64, n + 1, offset=16)
indices = np.fromfile(path, np.int32, nnz, offset=16 + 8 * (n + 1))
degree = np.diff(indptr).astype(float)
root = np.divide(1, np.sqrt(degree), out=np.zeros(n), where=degree > 0)
a = sp.csr_matrix((np.ones(nnz), indices, indptr.astype(np.int32)), shape=(n, n))
s = sp.csr_matrix(sp.diags(root) @ a @ sp.diags(root))
laplacian = sp.csr_matrix(sp.diags(degree) - a)
normalized = sp.csr_matrix(sp.diags((degree > 0).astype(float)) - s)
one = sp.identity(n, format="csr")


def noise(k):
    h = (np.arange(n)[:, None] * k + np.arange(k)).astype(np.uint32)
    for _ in range(2):
        h = (h ^ h >> 16) * np.uint32(73244475)
    return (h ^ h >> 16) / 2.0**31 - 1


def checksum(y):
    return (y * ((31 * np.arange(n)[:, None] + 17 * np.arange(y.shape[1])) % 101 - 50)).sum()


def fastest(work, repeat):
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def chebyshev(b, beta, tolerance):
    """exp(-beta L~) b on [0, 2], H = L~ - I: coefficients 2 (-1)^j exp(-beta) I_j(beta)"""
    h = sp.csr_matrix(normalized - one)

    def run(eps):
        most = int(40 + 4 * beta + 2 * np.log(1 / eps))
        c = 2 * ss.ive(np.arange(most), beta)
        c[0] /= 2
        tail = np.cumsum(c[::-1])[::-1]
        c = c[: int(np.argmax(tail < eps))] * (-1.0) ** np.arange(int(np.argmax(tail < eps)))
        t0, t1 = b, h @ b
        y = c[0] * t0 + c[1] * t1
        for j in range(2, len(c)):
            t0, t1 = t1, 2 * (h @ t1) - t0
            y += c[j] * t1
        return y, len(c) - 1

    share = np.linalg.norm(run(1e-3)[0]) / np.linalg.norm(b)
    return lambda: run(tolerance * share)


if job == "exponential":
    beta, tolerance, k, repeat = float(rest[0]), float(rest[1]), int(rest[2]), int(rest[3])
    b = noise(k)
    if rest[4:] == ["multiply"]:
        seconds, y = fastest(lambda: sl.expm_multiply(-beta * normalized, b), repeat)
        work = 0
    else:
        seconds, (y, work) = fastest(chebyshev(b, beta, tolerance), repeat)
    print(seconds, checksum(y), work)
elif job == "solve":
    system, alpha, tolerance, k, repeat = rest[0], float(rest[1]), float(rest[2]), int(rest[3]), int(rest[4])
    m = {
        "von-neumann": lambda: one - alpha * s,
        "regularized-laplacian": lambda: one + alpha * normalized,
        "combinatorial": lambda: one + alpha * laplacian,
    }[system]().tocsr()
    inverse = 1 / m.diagonal()
    jacobi = sl.LinearOperator(m.shape, matvec=lambda r: inverse * r)
    b = noise(k)
    steps = [0]

    def run():
        x = np.empty_like(b)
        for j in range(k):
            steps[0] = 0
            x[:, j], failed = sl.cg(m, b[:, j], tol=tolerance, atol=0, M=jacobi,
                                    callback=lambda _: steps.__setitem__(0, steps[0] + 1))
            if failed:
                sys.exit("scipy cg did not converge")
        return x

    seconds, x = fastest(run, repeat)
    print(seconds, checksum(x), steps[0])
elif job == "eigen":
    matrix, which, k, tolerance, ncv, repeat = rest[0], rest[1], int(rest[2]), float(rest[3]), int(rest[4]), int(rest[5])
    vol = degree.sum()
    m = {
        "normalized-adjacency": s,
        "normalized-laplacian": normalized,
        "laplacian": laplacian,
        "adjacency": a,
        "modularity": None,
    }[matrix]
    products = [0]

    def product(x):
        products[0] += 1
        if m is None:
            return a @ x - degree * (degree @ x / vol)
        return m @ x

    operator = sl.LinearOperator((n, n), matvec=product, dtype=float)
    v0 = np.random.default_rng(0).standard_normal(n)

    def run():
        products[0] = 0
        return sl.eigsh(operator, k, which={"largest": "LA", "smallest": "SA"}[which], tol=tolerance, v0=v0, ncv=ncv or None)

    seconds, (values, vectors) = fastest(run, repeat)
    worst = max(np.linalg.norm(product(v) - w * v) for w, v in zip(values, vectors.T))
    print(seconds, np.sort(values).sum(), products[0] - k, worst)
