#!/usr/bin/env bash
# @antv/algorithm 0.1.26: louvain puts two triangles joined by one edge into one community
#
# The two triangles have modularity 0.357 as two communities and 0 as one; Louvain's method moves
# nodes only where modularity rises. louvain of @antv/algorithm, the layout and analysis library of
# G6, returns one cluster of all six nodes, and so does its labelPropagation. graphology-
# communities-louvain finds the triangles. With six cliques of three nodes in a ring @antv/algorithm
# merges two of them; from five nodes a clique on it is right.
#
# A good guess is that a method that maximizes modularity cannot end at 0 on the textbook example.
# sumTot of the cluster is reported as 0 too.
#
# Output seen:
#
#     @antv/algorithm: sizes [6]
#     graphology: communities 2 modularity 0.357
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @antv/algorithm@0.1.26 graphology@0.26.0 graphology-communities-louvain@2.0.2 >/dev/null
node - <<'NODE'
const { louvain } = require('@antv/algorithm');
const Graph = require('graphology');
const peer = require('graphology-communities-louvain');
const nodes = [...'abcdef'];
const edges = ['ab', 'bc', 'ca', 'de', 'ef', 'fd', 'cd'];
const clusters = louvain({
  nodes: nodes.map((id) => ({ id })),
  edges: edges.map((e) => ({ source: e[0], target: e[1] })),
}).clusters.map((c) => c.nodes.length);
const graph = new Graph({ type: 'undirected' });
nodes.forEach((n) => graph.addNode(n));
edges.forEach((e) => graph.addEdge(e[0], e[1]));
const detailed = peer.detailed(graph);
console.log('@antv/algorithm: sizes', JSON.stringify(clusters));
console.log('graphology: communities', detailed.count, 'modularity', detailed.modularity.toFixed(3));
process.exit(clusters.length === 1 && detailed.count === 2 ? 0 : 1);
NODE
