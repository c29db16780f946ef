#!/usr/bin/env bash
# Runs the comparison of D. Zhang and R. Mao, A new kernel for classification of networked
# entities, MLG 2008, Figure 1, again on the data that is there: support vector machines
# (C = 1) on the modularity kernel of links, of content, and of both with equal weights,
# beside the Laplacian kernel of Herbster et al., the pseudo-inverse of L; accuracy in
# cross-validation by five folds. Content joins all pairs of nodes, weighted by the cosine
# of their words.
#
#   papers/experiments/modularity.sh DATA [HEATWALK]
#
# DATA is a folder that holds cora, webkb-texas and webkb-cornell, each with its links,
# features.svm.gz and labels.tsv.gz. The table goes to stdout as Markdown.
set -euo pipefail
data=${1:?give the folder of the data}
heatwalk=${2:-heatwalk}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# links NAME writes the links of a data set as an edge list with weights: of pages those of
# co-citation, of papers one for each citation.
links() {
	case $1 in
	webkb-*)
		"$heatwalk" ingest "$data/$1/raw/${1#webkb-}.cites" --cocitation --coupling -o "$work/$1.links" --quiet
		"$heatwalk" convert "$work/$1.links" -o "$work/$1.tsv" --quiet
		;;
	*) gzip -dc "$data/$1/edges.tsv.gz" >"$work/$1.tsv" ;;
	esac
	gzip -dc "$data/$1/labels.tsv.gz" | cut -f1 >"$work/$1.ids"
	# Of a class with fewer nodes than folds some fold has none to learn from.
	gzip -dc "$data/$1/labels.tsv.gz" |
		awk -F'\t' '{ line[NR] = $0; class[NR] = $2; n[$2]++ } END { for (i = 1; i <= NR; i++) if (n[class[i]] >= 5) print line[i] }' >"$work/$1.labels"
}

# accuracy STORE LABELS KERNEL prints its mean and standard error in per cent.
accuracy() {
	local laplacian=
	[ "$3" = modularity ] || laplacian=:laplacian=combinatorial
	"$heatwalk" evaluate "$1" --labels "$2" --method "$3$laplacian:cost=1" --folds 5 --grid none --seed 1 --json --quiet |
		awk -F'[:,]' '/"accuracy_mean"/ { mean = $2 } /"accuracy_stderr"/ { printf "%.1f ± %.1f", 100 * mean, 100 * $2; exit }'
}

echo '| data | modularity of links | L⁺ of links | modularity of content | modularity of both | L⁺ of both |'
echo '|---|--:|--:|--:|--:|--:|'
for name in webkb-cornell webkb-texas cora; do
	links "$name"
	content=(--of "$data/$name/features.svm.gz" --feature-ids "$work/$name.ids" --least-cosine 1e-9)
	"$heatwalk" ingest "$work/$name.tsv" --nodes "$work/$name.ids" -o "$work/link" --force --quiet
	"$heatwalk" ingest "${content[@]}" -o "$work/content" --force --quiet
	"$heatwalk" ingest "$work/$name.tsv" "${content[@]}" -o "$work/both" --force --quiet
	printf '| %s' "$name"
	for run in link:modularity link:pseudo-inverse content:modularity both:modularity both:pseudo-inverse; do
		printf ' | %s' "$(accuracy "$work/${run%%:*}" "$work/$name.labels" "${run#*:}")"
	done
	echo ' |'
done
