#!/usr/bin/env bash
# PyTorch 2.11.0, Tensor.sparse_mask: values are multiplied where the mask has repeated entries
#
# x.sparse_mask(mask) takes the values of the dense x at the places of the sparse mask; values of
# the mask do not count. If the mask is a COO tensor that was not coalesced, as sparse_coo_tensor
# makes it from an edge list with a parallel edge, the value is taken once for each entry and the
# copies add up: a matrix of ones, masked, has a 2.
#
# A good guess is that a mask is a set of places: scores of edges read off a dense matrix by the
# adjacency matrix are doubled at parallel edges, and to_dense() of the result is not x anywhere
# there. mask.coalesce() first helps.
#
# Output seen:
#
#     not coalesced [[0.0, 2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
#     coalesced     [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
set -euo pipefail
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

edges = torch.tensor([[0, 0, 1], [1, 1, 2]])
mask = torch.sparse_coo_tensor(edges, torch.ones(3), (3, 3))
ones = torch.ones(3, 3)
repeated = ones.sparse_mask(mask).to_dense()
merged = ones.sparse_mask(mask.coalesce()).to_dense()
print("not coalesced", repeated.tolist())
print("coalesced    ", merged.tolist())
raise SystemExit(0 if repeated[0, 1] == 2 and merged[0, 1] == 1 else 1)
PYTHON
