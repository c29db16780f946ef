#!/usr/bin/env bash
# JAX 0.11.2, jax.experimental.sparse.CSR: todense on a GPU keeps one entry of a place, products add them
#
# A CSR matrix with two entries 1 and 2 at one place is the value 3: the product with a vector gives
# 3 on any device, and todense() gives 3 on a CPU. On an NVIDIA GPU todense() calls cuSPARSE, which
# stores one of the entries, here 1. COO and BCSR of the same package give 3 everywhere.
#
# A good guess is that todense() is what products multiply with, and that a device changes rounding
# only. A test that compares with a dense matrix on a CPU passes; parallel edges disappear on the
# GPU without a warning.
#
# Output seen:
#
#     CPU: CSR.todense 3, CSR @ 1 3, BCSR.todense 3
#     GPU: CSR.todense 1, CSR @ 1 3, BCSR.todense 3
set -euo pipefail
nvidia-smi >/dev/null 2>&1 || { echo "needs an NVIDIA GPU"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=python3
if ! python3 -c 'from importlib.metadata import version; assert version("jax").split("+")[0] == "0.11.2"' 2>/dev/null; then
	python3 -m venv "$folder/venv"
	"$folder/venv/bin/pip" install -q 'jax[cuda13]==0.11.2'
	python=$folder/venv/bin/python
fi
"$python" -W ignore - <<'PYTHON'
import jax
import jax.numpy as jnp
from jax.experimental import sparse

def matrices():
    data, columns, starts = jnp.array([1.0, 2.0]), jnp.array([1, 1]), jnp.array([0, 2, 2])
    csr = sparse.CSR((data, columns, starts), shape=(2, 2))
    bcsr = sparse.BCSR((data, columns, starts), shape=(2, 2))
    return float(csr.todense()[0, 1]), float((csr @ jnp.ones(2))[0]), float(bcsr.todense()[0, 1])

with jax.default_device(jax.devices("cpu")[0]):
    cpu = matrices()
with jax.default_device(jax.devices("gpu")[0]):
    gpu = matrices()
print("CPU: CSR.todense %g, CSR @ 1 %g, BCSR.todense %g" % cpu)
print("GPU: CSR.todense %g, CSR @ 1 %g, BCSR.todense %g" % gpu)
raise SystemExit(0 if cpu == (3, 3, 3) and gpu[0] != 3 and gpu[1:] == (3, 3) else 1)
PYTHON
