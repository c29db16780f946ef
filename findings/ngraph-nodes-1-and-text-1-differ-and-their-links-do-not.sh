#!/usr/bin/env bash
# ngraph.graph 20: the number 1 and the text '1' are two nodes, but their links are one
#
# Nodes are kept in a Map, so that 1 and '1' are different nodes. Links are kept under a text made
# of both ids, so that the link '1' to '2' takes the place of the link 1 to 2: the graph has four
# nodes and one link, with the ends of the first and the data of the second. The texts '1' and '2'
# each list this link, which begins and ends at other nodes. Nothing is raised.
#
# Two good guesses are wrong: that ids are compared in one way, whichever it is, and that ids of
# mixed type are harmless if one uses the library through addLink alone. JSON gives texts as keys of
# objects and numbers as values, so that nodes read from keys and links read from values meet here.
#
# Output seen:
#
#     nodes 4 links [["number","second"]] links listed at '1' without this end 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ngraph.graph@20.1.2 >/dev/null
node - <<'NODE'
const createGraph = require('ngraph.graph');
const graph = createGraph();
graph.addLink(1, 2, 'first');
graph.addLink('1', '2', 'second');
const links = [];
graph.forEachLink((link) => { links.push([typeof link.fromId, link.data]); });
const strange = [...graph.getLinks('1')].filter((link) => link.fromId !== '1' && link.toId !== '1').length;
console.log('nodes', graph.getNodeCount(), 'links', JSON.stringify(links), "links listed at '1' without this end", strange);
process.exit(graph.getNodeCount() === 4 && links.length === 1 && links[0][0] === 'number' && links[0][1] === 'second' && strange === 1 ? 0 : 1);
NODE
