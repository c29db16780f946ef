#!/usr/bin/env bash
# PyTorch Geometric 2.8.0.post1, LabelPropagation: edge_weight=ones is not the same as no edge_weight
#
# Without edge_weight the model multiplies by the normalized matrix D^-1/2 A D^-1/2. With
# edge_weight, also of ones, it multiplies by the weights as they are, and clamps the result to [0,
# 1] after each step. On a graph of a few steps all classes reach 1 at most nodes, and argmax is
# then the first class. Correct & Smooth, which is built on it, changes too.
#
# A good guess is that weights of one are no weights, and that a model that normalizes does so for
# any weights. The weights have to be normalized by the caller (gcn_norm with add_self_loops=False),
# which the documentation does not say.
#
# Output seen:
#
#     no weights:      [[0.26, 0.119], [0.249, 0.19], [0.19, 0.249], [0.119, 0.26]] classes [0, 0, 1, 1]
#     weights of one:  [[1.0, 0.9], [1.0, 1.0], [1.0, 1.0], [0.9, 1.0]] classes [0, 0, 0, 1]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=python3
if ! python3 -c 'from importlib.metadata import version; assert version("torch").split("+")[0] == "2.11.0" and version("torch-geometric").split("+")[0] == "2.8.0.post1"' 2>/dev/null; then
	python3 -m venv "$folder/venv"
	"$folder/venv/bin/pip" install -q torch==2.11.0 torch-geometric==2.8.0.post1
	python=$folder/venv/bin/python
fi
"$python" -W ignore - <<'PYTHON'
import torch
from torch_geometric.nn.models import LabelPropagation

edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
classes = torch.tensor([0, 0, 0, 1])
known = torch.tensor([True, False, False, True])
model = LabelPropagation(num_layers=50, alpha=0.9)
plain = model(classes, edges, known)
ones = model(classes, edges, known, edge_weight=torch.ones(6))
print("no weights:     ", [[round(v, 3) for v in row] for row in plain.tolist()], "classes", plain.argmax(1).tolist())
print("weights of one: ", [[round(v, 3) for v in row] for row in ones.tolist()], "classes", ones.argmax(1).tolist())
raise SystemExit(0 if plain.max() < 0.5 and ones[1].tolist() == [1, 1] and plain.argmax(1)[2] != ones.argmax(1)[2] else 1)
PYTHON
