#!/usr/bin/env bash
# PyTorch Geometric 2.8.0.post1, AddRandomWalkPE: with edge weights the rows of its matrix do not sum to 1
#
# AddRandomWalkPE(k) gives each node the probabilities that a random walk is back after 1 ... k
# steps. It reads edge_weight, but uses it in the degrees alone: the matrix is 1/d(i) at each edge
# and not w(i, j)/d(i). On a path with weights 1, 9, 1 an inner node is back after two steps with
# "probability" 0.11; the right value is 1/10 + (9/10)(9/10) = 0.91. Degrees below 1 are raised to
# 1, so that the same graph with all weights divided by 10, which is the same walk, has other
# values, and some above 1.
#
# A good guess is that a transform that takes edge_weight walks by weight, and that a common factor
# of all weights does not matter. Without weights it is right.
#
# Output seen:
#
#     exact, node 1:           [0.0, 0.91, 0.0, 0.9091]
#     weights 1, 9, 1:         [0.0, 0.11, 0.0, 0.0131]
#     weights 0.1, 0.9, 0.1:   [0.0, 2.0, 0.0, 5.0]
#     without weights:         [0.0, 0.75, 0.0, 0.6875]
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
import numpy, torch
from torch_geometric.data import Data
from torch_geometric.transforms import AddRandomWalkPE

edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
weights = torch.tensor([1.0, 1, 9, 9, 1, 1])
encoding = lambda w: AddRandomWalkPE(4, attr_name="p")(Data(edge_index=edges, edge_weight=w, num_nodes=4)).p.numpy()
walk = numpy.zeros((4, 4))
walk[edges[0], edges[1]] = weights
walk /= walk.sum(1, keepdims=True)
exact = numpy.stack([numpy.diag(numpy.linalg.matrix_power(walk, k)) for k in (1, 2, 3, 4)], 1)
given, tenth = encoding(weights), encoding(weights / 10)
print("exact, node 1:          ", exact[1].round(4).tolist())
print("weights 1, 9, 1:        ", [round(float(v), 4) for v in given[1]])
print("weights 0.1, 0.9, 0.1:  ", [round(float(v), 4) for v in tenth[1]])
print("without weights:        ", [round(float(v), 4) for v in encoding(None)[1]])
raise SystemExit(0 if abs(given[1, 1] - 0.11) < 1e-6 and tenth.max() > 1 else 1)
PYTHON
