#!/usr/bin/env bash
# PyTorch 2.11.0 (CUDA 13.0): use_deterministic_algorithms(True) neither fixes nor refuses sparse × dense products
#
# With torch.use_deterministic_algorithms(True), an operation without a deterministic implementation
# is to raise an error. On a GPU, the product of a sparse CSR or COO matrix with a dense block or a
# vector gives other bits at nearly each of 20 calls on a graph with hubs, and there is neither an
# error nor a warning. torch.bmm of the same matrix and index_add_ give the same bits each time,
# because the flag does choose another kernel for those.
#
# A good guess is that a run under this flag is reproducible, or stops. A second good guess, that
# CSR is safe because each row is summed in order, is wrong too: long rows are cut and their parts
# added by atomic operations.
#
# Output seen:
#
#     CSR block: more than one result in 20 calls: True
#     CSR vector: more than one result in 20 calls: True
#     COO block: more than one result in 20 calls: True
#     bmm: more than one result in 20 calls: False
set -euo pipefail
nvidia-smi >/dev/null 2>&1 || { echo "needs an NVIDIA GPU"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=python3
if ! python3 -c 'from importlib.metadata import version; assert version("torch").split("+")[0] == "2.11.0"' 2>/dev/null; then
	python3 -m venv "$folder/venv"
	"$folder/venv/bin/pip" install -q torch==2.11.0
	python=$folder/venv/bin/python
fi
"$python" -W ignore - <<'PYTHON'
import torch

generator = torch.Generator().manual_seed(1)
n, m = 20000, 400000
rows = (n * torch.rand(m, generator=generator, dtype=torch.float64) ** 4).long()
columns = torch.randint(n, (m,), generator=generator)
values = torch.rand(m, generator=generator, dtype=torch.float64)
coo = torch.sparse_coo_tensor(torch.stack([rows, columns]), values, (n, n)).coalesce().cuda()
csr = coo.to_sparse_csr()
x = torch.rand(n, 8, generator=generator, dtype=torch.float64).cuda()
torch.use_deterministic_algorithms(True)
count = lambda f: len({f().cpu().numpy().tobytes() for _ in range(20)})
products = {"CSR block": lambda: csr @ x, "CSR vector": lambda: csr @ x[:, 0], "COO block": lambda: coo @ x}
random = {name: count(f) for name, f in products.items()}
for name, results in random.items():
    print(f"{name}: more than one result in 20 calls: {results > 1}")
batched = count(lambda: torch.bmm(torch.stack([coo]), x[None]))
print(f"bmm: more than one result in 20 calls: {batched > 1}")
raise SystemExit(0 if min(random.values()) > 1 and batched == 1 else 1)
PYTHON
