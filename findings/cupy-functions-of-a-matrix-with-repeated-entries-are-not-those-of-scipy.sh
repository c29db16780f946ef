#!/usr/bin/env bash
# CuPy 14.2.0, cupyx.scipy.sparse: power, sqrt, log1p, sign and astype act on repeated entries one by one
#
# A COO or CSR matrix may hold several entries at one place; their sum is the value there, as for
# parallel edges of a graph. SciPy adds them before it applies a function. CuPy applies the function
# to each and the sum is taken later: entries 1 and 2 at one place give power(2) = 5 in place of 9,
# sqrt = 2.41 in place of 1.73, and astype(bool), the usual way to drop weights, gives a matrix
# whose float form has a 2. linalg.norm of the COO matrix is 2.24 in place of 3. sum, multiply, @,
# diagonal, max and toarray are right.
#
# A good guess is that one class has one rule. Here functions that touch only stored values skip the
# sum, the others do not; log(1 + w) or "weights to 1" on a graph with parallel edges is wrong on
# the GPU only. A call of sum_duplicates() first helps.
#
# Output seen:
#
#     power(2): SciPy 9.000, CuPy 5.000
#     sqrt: SciPy 1.732, CuPy 2.414
#     log1p: SciPy 1.386, CuPy 1.792
#     sign: SciPy 1.000, CuPy 2.000
#     astype(bool).astype(float): SciPy 1.000, CuPy 2.000
#     norm: SciPy 3.000, CuPy 2.236
set -euo pipefail
nvidia-smi >/dev/null 2>&1 || { echo "needs an NVIDIA GPU"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=python3
if ! python3 -c 'from importlib.metadata import version; assert version("cupy-cuda13x").split("+")[0] == "14.2.0" and version("scipy").split("+")[0] == "1.18.1" and version("numpy").split("+")[0] == "2.5.2"' 2>/dev/null; then
	python3 -m venv "$folder/venv"
	"$folder/venv/bin/pip" install -q cupy-cuda13x==14.2.0 scipy==1.18.1 numpy==2.5.2
	python=$folder/venv/bin/python
fi
"$python" -W ignore - <<'PYTHON'
import cupy, numpy, scipy.sparse, scipy.sparse.linalg, cupyx.scipy.sparse, cupyx.scipy.sparse.linalg

values, rows, columns = numpy.array([1.0, 2.0]), numpy.array([0, 0]), numpy.array([1, 1])
cpu = scipy.sparse.coo_matrix((values, (rows, columns)), shape=(2, 2))
gpu = cupyx.scipy.sparse.coo_matrix((cupy.asarray(values), (cupy.asarray(rows), cupy.asarray(columns))), shape=(2, 2))
table = {
    "power(2)": lambda a: a.power(2).toarray()[0, 1],
    "sqrt": lambda a: a.sqrt().toarray()[0, 1],
    "log1p": lambda a: a.log1p().toarray()[0, 1],
    "sign": lambda a: a.sign().toarray()[0, 1],
    "astype(bool).astype(float)": lambda a: a.astype(bool).astype(float).toarray()[0, 1],
    "norm": lambda a: (scipy.sparse.linalg if scipy.sparse.issparse(a) else cupyx.scipy.sparse.linalg).norm(a),
}
same = False
for name, f in table.items():
    x, y = float(f(cpu)), float(f(gpu))
    print(f"{name}: SciPy {x:.3f}, CuPy {y:.3f}")
    same |= abs(x - y) < 1e-9
raise SystemExit(1 if same else 0)
PYTHON
