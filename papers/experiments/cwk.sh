#!/usr/bin/env bash
# Runs the experiments of M. Neumann, R. Garnett and K. Kersting, Coinciding walk kernels, 2013,
# again on the data that is there: Tables 1 to 3 and Figures 2 to 4.
#
#   papers/experiments/cwk.sh DATA OUT [HEATWALK]
#
# DATA is a folder that holds cora and the two webkb graphs. Reports (as evaluate writes them)
# and figures go to the folder OUT, tables to stdout as Markdown. A report that OUT has is not
# made again.
#
# The populated places are not there: block models of as many nodes, edges and classes stand for
# them, whose classes link to other classes (with --homophily 0.3, at the paper's P_switch, they
# hold so little of the classes that no method finds more than the largest). Nor are DBLP,
# CiteSeer and the WebKB graph of NetKit: cocited pages of two universities stand for the
# last. All methods have the grids of the paper but relaxation labelling: of its 720 settings
# it has the 72 of walks of 1 to 3 steps and β = 1. Walks of 4 and 5 steps have 2,801 and 19,608
# sequences of the 7 classes of Cora, and other β, which move its accuracy there by a few tenths
# of a point, take a product for each pair of a node and a label.
#
# SPLITS (20) and TUNING (10) are the paper's; smaller numbers give quicker runs. STEPS lists
# what to do: tables, heatmap, seconds (default all).
set -euo pipefail
data=${1:?give the folder of the data}
out=${2:?give a folder for the reports and figures}
heatwalk=${3:-heatwalk}
here=$(dirname "$0")
splits=${SPLITS:-20}
tuning=${TUNING:-10}
steps=${STEPS:-tables heatmap seconds}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
methods=cwk:features=plain,diffusion+svm,pseudo-inverse+svm,von-neumann+svm,rl,lgc,lp
sizes=0.01,0.02,0.03,0.04,0.05,0.06,0.07,0.08,0.09,0.1,0.11,0.12,0.13,0.14,0.15

# graphs writes each graph as a store and its labels.
graphs() {
	local name row nodes edges
	"$heatwalk" ingest "$data/cora/edges.tsv.gz" -o "$work/cora" --quiet
	gzip -dc "$data/cora/labels.tsv.gz" >"$work/cora.labels"
	for name in cornell texas; do
		"$heatwalk" ingest "$data/webkb-$name/raw/$name.cites" --cocitation --coupling -o "$work/$name" --quiet
		"$heatwalk" convert "$work/$name" -o "$work/$name.tsv" --quiet 2>"$work/warnings"
		gzip -dc "$data/webkb-$name/labels.tsv.gz"
	done >"$work/webkb.labels"
	cut -f1 "$work/webkb.labels" >"$work/webkb.ids"
	cat "$work/cornell.tsv" "$work/texas.tsv" >"$work/webkb.tsv"
	"$heatwalk" ingest "$work/webkb.tsv" --nodes "$work/webkb.ids" -o "$work/webkb" --quiet
	for row in pp1k:1000:5253 pp3k:3000:16546 pp5k:5000:26648; do
		IFS=: read -r name nodes edges <<<"$row"
		"$heatwalk" generate sbm --nodes "$nodes" --edges "$edges" --homophily 0 --seed 1 --truth "$work/$name.labels" -o "$work/$name.tsv" --quiet
		"$heatwalk" ingest "$work/$name.tsv" -o "$work/$name" --quiet
	done
}

# report NAME SIZES makes OUT/NAME.json, methods side by side by the paper's protocol.
report() {
	[ -e "$out/$1.json" ] || "$heatwalk" evaluate "$work/$1" --labels "$work/$1.labels" --method "$methods" --grid paper \
		--tuning-splits "$tuning" --train "$2" --splits "$splits" --seed 1 --report "$out/$1.json" --quiet >"$work/text"
}

# points NAME prints method, training size in %, accuracy, its standard error and its standing.
points() {
	awk -F'[:,]' '/"method"/ { name = $0; sub(/.*"method": *"/, "", name); sub(/[+:"].*/, "", name) }
		/"train_fraction"/ { size = 100 * $2 } /"accuracy_mean"/ { mean = 100 * $2 } /"accuracy_stderr"/ { error = 100 * $2 }
		/"standing"/ { standing = $2; gsub(/[ "]/, "", standing); printf "%s\t%g\t%.2f\t%.2f\t%s\n", name, size, mean, error, standing }' "$out/$1.json"
}

# figure NAME TITLE draws accuracy over training sizes.
figure() {
	points "$1" | awk -v title="$2" -v xlabel='% labelled' -f "$here/curves.awk" >"$out/cwk-$1.svg"
}

properties() {
	echo '| graph | nodes | edges | components | classes | P_freq, % | P_switch, % | paper: nodes | edges | components | classes | P_freq | P_switch |'
	echo '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|'
	local row name paper
	for row in 'pp1k|1000 | 5253 | 1 | 5 | 43 | 69' 'pp3k|3000 | 16546 | 1 | 5 | 50 | 66' 'pp5k|5000 | 26648 | 1 | 5 | 53 | 70' \
		'webkb|1462 | 61766 | 4 | 6 | 28 | 33' 'cora|2708 | 5278 | 78 | 7 | 30 | 18'; do
		name=${row%%|*} paper=${row#*|}
		"$heatwalk" info "$work/$name" --labels "$work/$name.labels" --json --quiet |
			awk -F'[:,]' -v name="$name" -v paper="$paper" '{ gsub(/[ "]/, "", $1); v[$1] = $2 }
				END { printf "| %s |%s |%s |%s |%s | %.0f | %.0f | %s |\n", name, v["nodes"], v["edges"], v["components"], v["classes"], 100 * v["p_freq"], 100 * v["p_switch"], paper }'
	done
}

# row NAME SIZE PAPER... prints ours and the paper's numbers; those of the best method and of
# those that are not worse by a paired t-test are bold.
row() {
	local name=$1 size=$2
	shift 2
	points "$name" | awk -F'\t' -v name="$name" -v size="$size" -v paper="$*" '$2 == size { mean[$1] = $3; bold[$1] = $5 != "worse" }
		END {
			n = split("cwk diffusion pseudo-inverse von-neumann rl lgc lp", m, " "); split(paper, p, " ")
			printf "| %s | %s |", name, size
			for (i = 1; i <= n; i++) {
				b = bold[m[i]] ? "**" : ""
				printf " %s%.1f%s%s |", b, mean[m[i]], b, p[i] == "" ? "" : " (" p[i] ")"
			}
			print ""
		}'
}

tables() {
	echo "Table 1"
	echo
	properties
	for name in pp1k pp5k cora; do report "$name" "$sizes"; done
	report webkb "${sizes#*,}" # one node in a hundred leaves a class without any
	report pp3k 0.05,0.1
	echo
	echo "Tables 2 and 3: accuracy in %, mean over $splits splits; the paper's in brackets"
	echo
	echo '| graph | % labelled | CWK | DIFF | L⁺ | VND | RL | LGC | LP |'
	echo '|---|--:|--:|--:|--:|--:|--:|--:|--:|'
	row pp1k 5 52.4 44.3 45.2 46.1 42.6 42.8 32.7
	row pp3k 5 61.0 60.2 51.5 52.6 57.7 60.9 44.7
	row pp5k 5 58.4 59.7 53.4 54.5 53.3 58.8 39.9
	row webkb 5 61.5 47.7 38.8 54.4 57.2 61.6 43.4
	row cora 5 72.1 70.6 57.2 59.9 67.9 73.8 73.2
	row pp1k 10 55.0 50.6 48.5 49.9 46.1 48.2 33.8
	row pp3k 10 63.3 63.2 53.9 55.8 59.4 62.0 50.2
	row pp5k 10 64.0 61.6 55.5 57.4 59.2 60.4 40.4
	row webkb 10 63.2 52.6 49.0 59.0 61.0 65.6 45.7
	row cora 10 76.0 77.2 67.4 70.9 73.5 78.2 78.2
	figure pp1k 'Block model of 1,000 nodes (Figure 2): accuracy in %'
	figure pp5k 'Block model of 5,000 nodes (Figure 2): accuracy in %'
	figure webkb 'Pages of two universities (Figure 3): accuracy in %'
	figure cora 'Cora: accuracy in %'
}

# heatmap: accuracy of the kernel by α and length of walks, with C = 1, on 10 splits of 5 %.
heatmap() {
	local list= alpha t
	local alphas='0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.75 0.8 0.9 1' lengths='0 1 2 3 5 7 10 20 30 40 59 80 100'
	for alpha in $alphas; do
		for t in $lengths; do list+=${list:+,}cwk:alpha=$alpha:steps=$t:features=plain:cost=1; done
	done
	[ -e "$out/heatmap.json" ] || "$heatwalk" evaluate "$work/cora" --labels "$work/cora.labels" --method "$list" --grid none \
		--tuning-splits 0 --train 0.05 --splits 10 --seed 1 --report "$out/heatmap.json" --quiet >"$work/text"
	awk -F'[:,]' '/"method": *"cwk/ { a = t = $0; sub(/.*alpha=/, "", a); sub(/[:"].*/, "", a); sub(/.*steps=/, "", t); sub(/[:"].*/, "", t) }
		/"accuracy_mean"/ && a != "" { printf "%s\t%s\t%.2f\n", a, t, 100 * $2; a = "" }' "$out/heatmap.json" >"$work/heatmap.points"
	awk -v title='Cora, 5 % labelled (Figure 4a): accuracy in % of the coinciding walk kernel' -v xlabel='last step of the walk' -v ylabel=α \
		-f "$here/heatmap.awk" "$work/heatmap.points" >"$out/cwk-heatmap.svg"
	echo
	sort -t$'\t' -k3,3gr "$work/heatmap.points" | awk -F'\t' 'NR == 1 { printf "Figure 4a: the best accuracy of these, %.1f %%, is at α = %s and %s steps (the paper: 72.1 at 0.75 and 59);", $3, $1, $2 }
		$1 > 0.4 && $2 > 2 { if (!n++ || $3 < least) least = $3 } END { printf " for α > 0.4 and more than 2 steps none is below %.1f (the paper: 65).\n", least }'
}

# seconds: of a block of kernel values, all nodes by the labelled ones, up to a hundred million
# values, and up to the first size that takes more than ten seconds.
seconds() {
	local n edges share kernel name took
	: >"$work/seconds.points"
	for kernel in cwk:1 cwk:5 cwk:10 diffusion:1 pseudo-inverse:1 von-neumann:1; do
		share=${kernel#*:} name="${kernel%:*}, $share %"
		for n in 1 2 5 10 20 50 100; do
			[ $((n * n * share)) -le 10000 ] || break
			edges=$((n * 3745))
			"$heatwalk" generate sbm --nodes ${n}000 --edges $edges --homophily 0 --seed 1 --fraction "$(awk -v s="$share" 'BEGIN { print s / 100 }')" --labels "$work/known" -o "$work/graph.tsv" --quiet
			"$heatwalk" ingest "$work/graph.tsv" -o "$work/graph" --force --quiet
			cut -f1 "$work/known" >"$work/known.ids"
			took=$( { TIMEFORMAT=%U; time "$heatwalk" kernel "$work/graph" --kernel "${kernel%:*}" $([ "${kernel%:*}" = cwk ] && echo --labels "$work/known") \
				--cols "$work/known.ids" -o "$work/K.npy" --threads 1 --quiet; } 2>&1)
			rm -f "$work"/K.npy*
			printf '%s\t%s\t%s\n' "$name" "${n}000" "$took" >>"$work/seconds.points"
			[ "${took%.*}" -lt 10 ] || break
		done
	done
	awk -v title='Block models (Figure 4b): seconds of processor time for kernel values of all nodes with the labelled ones' -v xlabel=nodes -v logx=1 -v logy=1 \
		-f "$here/curves.awk" "$work/seconds.points" >"$out/cwk-seconds.svg"
	echo
	echo 'Figure 4b: seconds of processor time for kernel values of all nodes with the labelled ones'
	echo
	awk -F'\t' '{ if (!($1 in row)) { row[$1] = ++rows; name[rows] = $1 } value[row[$1], $2] = $3; if (!($2 in column)) { column[$2] = ++columns; size[columns] = $2 } }
		END {
			printf "| kernel, labelled |"; for (j = 1; j <= columns; j++) printf " %s |", size[j]; print ""
			printf "|---|"; for (j = 1; j <= columns; j++) printf "--:|"; print ""
			for (i = 1; i <= rows; i++) { printf "| %s |", name[i]; for (j = 1; j <= columns; j++) printf " %s |", (i, size[j]) in value ? value[i, size[j]] : "–"; print "" }
		}' "$work/seconds.points"
}

graphs
for step in $steps; do "$step"; done
