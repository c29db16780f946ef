#!/usr/bin/env bash
# The node property prediction of the Open Graph Benchmark (Hu et al. 2020) on its published splits:
#
#     bench/ogb/run.sh FOLDER [arxiv|products]...     # HEATWALK=heatwalk
#
# Downloads the data into FOLDER unless they are there (arxiv 80 MB, products 1.4 GB), and prints one line of a table for each
# method: the accuracy of the test nodes, with the training nodes as labels, seconds and peak memory.
set -euo pipefail
folder=${1:?usage: bench/ogb/run.sh FOLDER [arxiv|products]...}
shift
heatwalk=${HEATWALK:-heatwalk}

[ $# -gt 0 ] || set -- arxiv products
for name; do
	data=$folder/$name
	if [ ! -e "$data/raw/edge.csv.gz" ]; then
		curl -fL -o "$folder/$name.zip" "http://snap.stanford.edu/ogb/data/nodeproppred/$name.zip"
		unzip -q -o "$folder/$name.zip" -d "$folder"
	fi
	if [ ! -e "$data/test.tsv" ]; then
		gzip -dc "$data/raw/node-label.csv.gz" | awk '{ print NR - 1 "\t" $1 }' >"$data/all.tsv"
		for split in train test; do
			gzip -dc "$data"/split/*/$split.csv.gz | awk 'NR == FNR { want[$1]; next } $1 in want' - "$data/all.tsv" >"$data/$split.tsv"
		done
		gzip -dc "$data/raw/node-feat.csv.gz" | awk -F, -v OFS=, 'NR == 1 {
			printf "id"; for (i = 1; i <= NF; i++) printf ",f%d", i; print "" } { print NR - 1, $0 }' | gzip >"$data/features.csv.gz"
	fi
	[ -e "$data/graph" ] || "$heatwalk" ingest "$data/raw/edge.csv.gz" --nodes "$data/all.tsv" --undirected --header no -o "$data/graph" --quiet
	printf '| data | method | test accuracy %% | seconds | peak GB |\n|---|---|--:|--:|--:|\n'
	for method in lp lgc beliefs spectral+logistic auto auto,attributes; do
		arguments=(--method "${method%,attributes}")
		[ "$method" != auto,attributes ] || arguments+=(--node-features "$data/features.csv.gz")
		"$heatwalk" classify "$data/graph" --labels "$data/train.tsv" --truth "$data/test.tsv" "${arguments[@]}" \
			--unreached prior --scores none -o "$data/$method.tsv" --json --quiet 2>"$data/$method.err" | python3 -c "
import json, sys
d = json.load(sys.stdin)
print('| ogbn-$name | $method | %.2f | %.0f | %.1f |' % (100 * d['truth']['accuracy'], d['seconds'], d['peak_memory_bytes'] / 1e9))"
	done
done
