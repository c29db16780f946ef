#!/usr/bin/env bash
# PyTorch Geometric 2.8.0.post1, ToUndirected and to_undirected: weights double if the graph is undirected already
#
# Each edge is added in the other direction and repeated edges are merged by a sum. An undirected
# graph has both directions, so that each of its weights is added to itself. The transform is not
# idempotent: three calls multiply all weights by eight. Without attributes the result is right,
# because a repeated edge without a weight is one edge.
#
# A good guess is that making an undirected graph undirected changes nothing, as in NetworkX and
# igraph. Since data sets come in both forms, the transform is often applied to be safe. Methods
# that normalize do not notice; thresholds, GDC with a self loop, solves and exponentials do.
# reduce="mean" or "max" helps for symmetric weights.
#
# Output seen:
#
#     undirected before: True weights [1.0, 1.0, 5.0, 5.0]
#     after one call: [2.0, 2.0, 10.0, 10.0] after three: [8.0, 8.0, 40.0, 40.0]
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
from torch_geometric.data import Data
from torch_geometric.transforms import ToUndirected
from torch_geometric.utils import is_undirected

edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
weights = torch.tensor([1.0, 1, 5, 5])
data = Data(edge_index=edges, edge_weight=weights, num_nodes=3)
print("undirected before:", is_undirected(edges, weights), "weights", weights.tolist())
once = ToUndirected()(data)
first = once.edge_weight.tolist()
thrice = ToUndirected()(ToUndirected()(once)).edge_weight.tolist()
print("after one call:", first, "after three:", thrice)
raise SystemExit(0 if first == [2, 2, 10, 10] and thrice == [8, 8, 40, 40] else 1)
PYTHON
