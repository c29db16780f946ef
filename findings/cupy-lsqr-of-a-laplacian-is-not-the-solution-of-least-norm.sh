#!/usr/bin/env bash
# CuPy 14.2.0, cupyx.scipy.sparse.linalg.lsqr: not LSQR, and not the solution of least norm
#
# The Laplacian L of a connected graph is singular, and L x = b has solutions x + c for every
# constant c. The algorithm LSQR starts from 0 and ends at the solution of least norm; SciPy's lsqr
# returns it. The function of the same name in CuPy is a sparse QR factorization: on a path of ten
# nodes with a source at one end and a sink at the other it returns 7, 6, ..., -2, which is the
# right solution plus 2.5, without a word (its second value, istop, is None). lsmr, minres, cg and
# gmres of CuPy return the solution of least norm, 4.5 to -4.5.
#
# A good guess from the name and from SciPy is that lsqr is safe for singular matrices. Differences
# of potentials are right, potentials and norms are not.
#
# Output seen:
#
#     SciPy lsqr: solves True least norm True
#     CuPy lsqr:  solves True least norm False first 7.0 last -2.0
#     CuPy lsmr:  solves True least norm True
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
import cupy, numpy, scipy.sparse, scipy.sparse.linalg, cupyx.scipy.sparse, cupyx.scipy.sparse.linalg as gpu

n = 10
a = scipy.sparse.diags([numpy.ones(n - 1), numpy.ones(n - 1)], [-1, 1])
laplacian = scipy.sparse.csr_matrix(scipy.sparse.diags(numpy.asarray(a.sum(1)).ravel()) - a)
b = numpy.zeros(n)
b[0], b[-1] = 1, -1
least = numpy.linalg.pinv(laplacian.toarray()) @ b
right = lambda x: bool(numpy.allclose(x, least, atol=1e-6))
solved = lambda x: bool(numpy.allclose(laplacian @ x, b, atol=1e-6))
m = cupyx.scipy.sparse.csr_matrix(laplacian)
cpu = scipy.sparse.linalg.lsqr(laplacian, b)[0]
qr = cupy.asnumpy(gpu.lsqr(m, cupy.asarray(b))[0])
lsmr = cupy.asnumpy(gpu.lsmr(m, cupy.asarray(b))[0])
print("SciPy lsqr: solves", solved(cpu), "least norm", right(cpu))
print("CuPy lsqr:  solves", solved(qr), "least norm", right(qr), "first", round(float(qr[0]), 3), "last", round(float(qr[-1]), 3))
print("CuPy lsmr:  solves", solved(lsmr), "least norm", right(lsmr))
raise SystemExit(0 if right(cpu) and right(lsmr) and not right(qr) else 1)
PYTHON
