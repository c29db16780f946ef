#!/usr/bin/env bash
# Builds heatwalk and the drivers and prints the table: run.sh EDGES.tsv [NODES.tsv]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
edges=$(realpath "$1")
nodes=${2:+$(realpath "$2")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(cd "$here/../.." && go build -o "$work/heatwalk" ./cmd/heatwalk)
gcc -O3 -march=native -fopenmp "$here/graphblas_driver.c" -lgraphblas -o "$work/graphblas"
g++ -O3 -march=native -fopenmp -I/usr/include/eigen3 "$here/eigen_driver.cc" -o "$work/eigen"
python=$(PATH=/usr/bin:$PATH command -v python3)
"$python" "$here/graph.py" "$work/graph.bin" "$edges" ${nodes:+"$nodes"}
"$work/heatwalk" ingest "$edges" ${nodes:+--nodes "$nodes"} -o "$work/store" --order none --quiet >/dev/null
"$python" "$here/table.py" "$work"
