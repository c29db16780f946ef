#!/usr/bin/env python3
"""kiops_driver.py L B.npy T TOLERANCE Y.npy: exp(−T·L)·B column by column, with a Krylov method of adaptive steps.

L is a symmetric matrix in PETSc's format. Y.npy has the result by another program, whose norms make TOLERANCE relative. It
prints 0, the processor seconds of the call, the products of L with a column and the largest relative difference from Y.

The method is KIOPS for φ₀ (Gaudreault, Rainwater and Tokman 2018, J. Comput. Phys. 372, algorithms 2 and 3): a
basis by orthogonalisation against the last two vectors, in which both its size m and the length τ of a step follow
from the estimated error of φ₁, whichever is cheaper. A step that is refused keeps its basis."""
import math
import sys
import time

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

SMALLEST, LARGEST, DELTA = 10, 128, 1.4


def read_petsc(path):
    raw = np.fromfile(path, ">i4", 4)
    n, entries = raw[1], raw[3]
    counts = np.fromfile(path, ">i4", n, offset=16)
    columns = np.fromfile(path, ">i4", entries, offset=16 + 4 * n).astype(np.int32)
    values = np.fromfile(path, ">f8", entries, offset=16 + 4 * (n + entries)).astype(float)
    return sp.csr_matrix((values, columns, np.r_[0, np.cumsum(counts)].astype(np.int32)), shape=(n, n))


def choose_step(tau, remaining, gamma, omega, order):
    wanted = tau * (gamma / omega) ** (1 / order) if omega > 0 else 5 * tau
    return min(remaining, max(tau / 5, min(5 * tau, wanted)))


def exponential(a, b, end, tolerance):
    """exp(end·A)·b with an absolute tolerance, and the number of products."""
    gamma, gamma_largest = (0.2, 0.1) if end > 1 else (0.9, 0.6)
    v = np.empty((LARGEST + 1, len(b)))
    h = np.zeros((LARGEST + 2, LARGEST + 2))
    w, now, tau, m, j, products, refused = b, 0.0, float(end), SMALLEST, 0, 0, 0
    old_m, old_tau, omega = -1, -1.0, math.nan
    order, kappa, old_order, old_kappa = 1.0, 2.0, True, True
    while now < end:
        if j == 0:
            h[:] = 0
            beta = np.linalg.norm(w)
            v[0] = w / beta
        happy = False
        while j < m and not happy:
            x = a @ v[j]
            products += 1
            for i in range(max(0, j - 1), j + 1):
                h[i, j] = v[i] @ x
                x -= h[i, j] * v[i]
            j += 1
            last = np.linalg.norm(x)
            happy = last < 1e-14 * abs(h[:j, j - 1]).max()
            if not happy:
                h[j, j - 1] = last
                v[j] = x / last
        # the column that makes φ₁ appear in the exponential of a larger matrix
        small = h[: j + 1, : j + 1].copy()
        small[j, j - 1], small[0, j] = 0, 1
        f = sl.expm(tau * small)
        if happy:
            omega, new_m, new_tau = 0.0, m, min(end - (now + tau), tau)
        else:
            previous, omega = omega, end * beta * last * abs(f[j - 1, j]) / (tau * tolerance)
            if m == old_m and tau != old_tau and refused:
                order, old_order = max(1.0, math.log(omega / previous) / math.log(tau / old_tau)), False
            else:
                order = j / 4 if old_order or not refused else order
                old_order = True
            if m != old_m and tau == old_tau and refused:
                kappa, old_kappa = max(1.1, (omega / previous) ** (1 / (old_m - m))), False
            else:
                kappa = 2.0 if old_kappa or not refused else kappa
                old_kappa = True
            remaining = end - now if omega > DELTA else end - (now + tau)
            step = choose_step(tau, remaining, gamma, omega, order)
            size = math.ceil(j + math.log(max(omega, 1e-300) / gamma) / math.log(kappa))
            size = max(SMALLEST, min(LARGEST, max(3 * m // 4, min(size, -(-4 * m // 3)))))
            if j == LARGEST:
                new_m, new_tau = j, step
                if omega > DELTA:
                    new_tau = min(end - now, max(tau / 5, tau * (gamma_largest / omega) ** (1 / order)))
            else:
                # products that remain with a step of another length, and with a basis of another size
                longer = math.ceil(remaining / step) * m if step > 0 else 0
                larger = math.ceil(remaining / min(remaining, tau)) * size if remaining > 0 else 0
                new_m, new_tau = (m, step) if longer < larger else (size, min(remaining, tau))
        if omega <= DELTA:
            w = beta * (f[:j, 0] @ v[:j])
            now += tau
            j, refused = 0, 0
        else:
            refused += 1
        old_tau, tau = tau, new_tau
        old_m, m = m, new_m
        if tau <= 1e-14 * end:
            break
    return w, products


if __name__ == "__main__":
    matrix, block = -read_petsc(sys.argv[1]), np.load(sys.argv[2])
    reference = np.load(sys.argv[5])
    norms = np.linalg.norm(reference, axis=0)
    start = time.process_time()
    columns = [exponential(matrix, np.ascontiguousarray(b), float(sys.argv[3]), float(sys.argv[4]) * norm)
               for b, norm in zip(block.T, norms)]
    seconds = time.process_time() - start
    y = np.stack([w for w, _ in columns], axis=1)
    print(0, seconds, sum(count for _, count in columns), (np.linalg.norm(y - reference, axis=0) / norms).max())
