"""Kernels, matrix functions, eigenpairs and solutions against SciPy and dense algebra."""

import os
import tempfile
import unittest
from unittest import mock

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

import heatwalk as hw
from heatwalk import _process

from .graphs import laplacian, random_graph


class Functions(unittest.TestCase):
    def setUp(self):
        self.A = random_graph(200, 600, 1)
        self.L = laplacian(self.A).toarray()
        self.B = np.random.default_rng(2).standard_normal((200, 3))

    def test_expm_multiply(self):
        for t, matrix, dense in ((0.1, "adjacency", self.A.toarray()), (-2, "laplacian", self.L)):
            want = scipy.linalg.expm(t * dense) @ self.B
            got = hw.expm_multiply(self.A, self.B, t=t, matrix=matrix, tol=1e-10)
            self.assertLess(np.linalg.norm(got - want), 1e-9 * np.linalg.norm(want))
            column = hw.expm_multiply(self.A, self.B[:, 0], t=t, matrix=matrix, tol=1e-10)
            self.assertEqual(column.shape, (200,))
            self.assertLess(np.abs(column - want[:, 0]).max(), 1e-8)

    def test_expm_multiply_of_times(self):
        want = scipy.sparse.linalg.expm_multiply(self.A.tocsc(), self.B, start=0, stop=0.2, num=3)
        with mock.patch.object(_process, "run", wraps=_process.run) as run:
            got = hw.expm_multiply(self.A, self.B, 0, 0.2, 3)
        self.assertEqual(run.call_count, 1)  # one process for all times
        self.assertEqual(got.shape, want.shape)
        self.assertLess(np.abs(got - want).max(), 1e-6)
        np.testing.assert_allclose(hw.expm_multiply(self.A, self.B[:, 0], 0, 0.2, 3), got[:, :, 0], atol=1e-6)
        with self.assertRaisesRegex(ValueError, "start and stop are given together"):
            hw.expm_multiply(self.A, self.B, 0)

    def test_solve(self):
        x, info = hw.solve(self.A, self.B, shift=0.5)
        self.assertEqual(info, 0)
        self.assertLess(np.abs(x - np.linalg.solve(self.L + 0.5 * np.eye(200), self.B)).max(), 1e-6)
        x, _ = hw.solve(self.A, self.B[:, 0])
        self.assertLess(np.abs(x - np.linalg.pinv(self.L) @ self.B[:, 0]).max(), 1e-6)
        with self.assertRaises(ValueError):
            hw.solve(self.A, self.B, shift=-1)

    def test_eigsh(self):
        values = np.linalg.eigvalsh(self.A.toarray())
        for which in ("LA", "SA", "LM"):
            want = {"LA": values[-5:], "SA": values[:5], "LM": np.sort(values[np.argsort(-abs(values))[:5]])}[which]
            w, v = hw.eigsh(self.A, 5, which=which)
            self.assertLess(np.abs(w - want).max(), 1e-6, which)
            self.assertLess(np.abs(self.A @ v - v * w).max(), 1e-5)
        with self.assertRaisesRegex(ValueError, "which='SM' is not supported; give LM, LA or SA"):
            hw.eigsh(self.A, 5, which="SM")
        with self.assertRaisesRegex(ValueError, "sigma is not supported"):
            hw.eigsh(self.A, 2, sigma=0.5)
        triangle = np.ones((3, 3)) - np.eye(3)
        self.assertEqual(hw.eigsh(triangle, 2, which="LA", return_eigenvectors=False).dtype, np.float64)

    def test_apply(self):
        for name, dense in (("adjacency", self.A), ("laplacian", self.L)):
            block = hw.apply(self.A, name, self.B)
            self.assertLess(np.abs(block.array - dense @ self.B).max(), 1e-10)
            self.assertLess(block.error_bound, 1e-8)
        block = hw.apply(self.A, "diffusion:beta=2:laplacian=combinatorial", self.B, tol=1e-10)
        self.assertLess(np.abs(block.array - scipy.linalg.expm(-2 * self.L) @ self.B).max(), 1e-8)

    def test_loops_count_for_matrix_functions(self):
        A = (self.A + sp.diags(np.arange(200) % 3 / 10)).tocsr()
        want = scipy.linalg.expm(0.1 * A.toarray()) @ self.B
        self.assertLess(np.abs(hw.expm_multiply(A, self.B, t=0.1) - want).max(), 1e-6)
        self.assertLess(np.abs(hw.eigsh(A, 1, which="LA")[0] - np.linalg.eigvalsh(A.toarray())[-1]).max(), 1e-6)

    def test_kernel(self):
        K = hw.kernel(self.A, "diffusion:beta=1:laplacian=combinatorial", rows=[5, 3], cols=[0, 199], dtype="float64")
        want = scipy.linalg.expm(-self.L)[[5, 3]][:, [0, 199]]
        self.assertLess(np.abs(K.array - want).max(), 1e-9)
        self.assertEqual((list(K.rows), list(K.cols)), ([5, 3], [0, 199]))
        self.assertLess(K.error_bound, 1e-8)
        self.assertEqual(np.asarray(K).dtype, np.float64)
        with self.assertRaisesRegex(hw.UsageError, "^kernel: .*did you mean diffusion"):
            hw.kernel(self.A, "difusion")
        masked = hw.kernel(self.A, "diffusion:beta=1:laplacian=combinatorial", rows=[5, 3], cols=np.isin(np.arange(200), (0, 199)), dtype="float64")
        np.testing.assert_array_equal(masked.array, K.array)
        for arguments, text in ((dict(rows=[200]), "rows: 200 is not a row of the matrix"), (dict(cols=3), r"cols is one node; give a list, as in cols=\[3\]"),
                                (dict(rows=np.ones(7, dtype=bool)), "rows is a mask"), (dict(kernel="cwk"), "labels is missing")):
            with self.assertRaisesRegex(ValueError, text):
                hw.kernel(self.A, **arguments)

    def test_out(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "K.npy")
            K = hw.kernel(self.A, "diffusion", cols=[1, 2], out=path)
            self.assertIsInstance(K.array, np.memmap)
            self.assertEqual(np.load(path).tobytes(), K.array.tobytes())
            self.assertTrue(os.path.exists(path + ".run.json"))

    def test_features(self):
        F = hw.features(self.A, {0: "x", 1: "y", 2: "x"}, "cwk:steps=3", dtype="float64")
        K = hw.kernel(self.A, "cwk:steps=3", labels={0: "x", 1: "y", 2: "x"}, dtype="float64")
        self.assertLess(np.abs(F.array @ F.array.T - K.array).max(), 1e-12)
        self.assertEqual(F.cols[1], (0, "y"))

    def test_forms_of_matrices(self):
        want = hw.apply(self.A, "laplacian", self.B).array
        wide = self.A.copy()
        wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
        shuffled = self.A.tocoo()
        order = np.random.default_rng(1).permutation(shuffled.nnz)
        shuffled = sp.coo_matrix((shuffled.data[order], (shuffled.row[order], shuffled.col[order])), shape=(200, 200))
        unsorted = self.A.copy()
        for i in range(200):
            part = slice(*unsorted.indptr[i:i + 2])
            unsorted.indices[part], unsorted.data[part] = unsorted.indices[part][::-1].copy(), unsorted.data[part][::-1].copy()
        unsorted.has_sorted_indices = False
        frozen = self.A.copy()
        for array in (frozen.data, frozen.indices, frozen.indptr):
            array.flags.writeable = False
        before = unsorted.indices.copy()
        for form in (sp.csr_array(self.A), self.A.tocsc(), self.A.toarray(), wide, shuffled, unsorted, frozen, self.A.todense()):
            np.testing.assert_array_equal(hw.apply(form, "laplacian", self.B).array, want, str(type(form)))
        np.testing.assert_array_equal(unsorted.indices, before)
        pattern = self.A.astype(bool)
        self.assertLess(np.abs(hw.apply(pattern, "adjacency", self.B).array - pattern.astype(float) @ self.B).max(), 1e-12)

    def test_refused(self):
        for matrix, text in (
            (laplacian(self.A).tocsr(), 'pass the adjacency matrix and matrix="laplacian"'),
            (np.ones((2, 3, 4)), "two dimensions"),
            (sp.random(5, 8), "5×8"),
            (self.A * 1j, "Complex data"),
            (self.A * np.nan, "NaN or infinity"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                hw.expm_multiply(matrix, np.ones(matrix.shape[0]))
        with self.assertRaisesRegex(ValueError, "B has shape"):
            hw.expm_multiply(self.A, np.ones(7))
        with self.assertRaisesRegex(ValueError, "complex"):
            hw.expm_multiply(self.A, np.ones(200) * 1j)
        with self.assertRaisesRegex(hw.UsageError, "exp: t"):
            hw.expm_multiply(self.A, self.B, t=1e6)
        directed = self.A.copy()
        directed.data[3] *= 2
        with self.assertRaisesRegex(hw.UsageError, "^graph: is directed, and exp needs an undirected graph; pass a symmetric matrix"):
            hw.expm_multiply(directed, self.B)


if __name__ == "__main__":
    unittest.main()
