#!/usr/bin/env bash
# Measures every method on the small labelled graphs: accuracy with 30 % labelled of the smallest
# and 10 % of the others, drawn by class; parameters by cross-validation inside each training
# set; processor seconds and memory of the whole run on Cora.
#
#   papers/experiments/methods.sh DATA OUT [HEATWALK]
#
# DATA is a folder of the graphs below. OUT gets a line for each graph and method: graph, method,
# training size, accuracy and its standard error in %, processor seconds, peak memory in MB.
# Lines that OUT has are not measured again. The table goes to stdout as Markdown. SPLITS (10)
# is the number of splits.
set -euo pipefail
data=${1:?give the folder of the data}
out=${2:?give a file for the measurements}
heatwalk=${3:-heatwalk}
splits=${SPLITS:-10}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
graphs='karate football polbooks lazega/friend lazega/advice lazega/cowork webkb-texas webkb-cornell enron184 chameleon-filtered cora'
methods='auto majority lp wvrn rl lgc poisson gp-transduction cwk+svm cwk+rls'
for kernel in diffusion exponential von-neumann regularized-laplacian pseudo-inverse regularized-commute-time p-step matern modularity pagerank heat-pagerank vertex; do
	methods+=" $kernel+rls"
done
for learner in svm logistic gp perceptron centroid density dkm dkm-svm; do methods+=" diffusion+$learner"; done

touch "$out"
for graph in $graphs; do
	labels=$data/$graph/labels.tsv.gz
	[ -e "$labels" ] || labels=$data/${graph%/*}/labels.tsv.gz
	nodes=$data/$graph/nodes.tsv.gz
	if [ -e "$nodes" ]; then gzip -dc "$nodes"; else gzip -dc "$labels" | cut -f1; fi >"$work/ids"
	"$heatwalk" ingest "$data/$graph/edges.tsv.gz" --nodes "$work/ids" -o "$work/graph" --force --quiet
	gzip -dc "$labels" | awk -F'\t' '{ line[NR] = $0; class[NR] = $2; n[$2]++ } END { for (i = 1; i <= NR; i++) if (n[class[i]] >= 5) print line[i] }' >"$work/labels"
	share=0.3
	case $graph in cora | chameleon-filtered) share=0.1 ;; esac
	for method in $methods; do
		! grep -q "^$graph	$method	" "$out" || continue
		case $method in auto | majority | lp* | wvrn | poisson) choice=() ;; *) choice=(--tuning-splits 0) ;; esac
		seconds=$( { TIMEFORMAT=%U; time "$heatwalk" evaluate "$work/graph" --labels "$work/labels" --method "$method" "${choice[@]}" \
			--draw stratified --train "$share" --splits "$splits" --seed 1 --threads 1 --json --quiet >"$work/report" 2>"$work/problem" || true; } 2>&1)
		awk -F'[:,]' -v graph="$graph" -v method="$method" -v share="$share" -v seconds="$seconds" '
			/"method"/ { ours = $0 !~ /"majority"/ || method == "majority" } /"accuracy_mean"/ && ours && mean == "" { mean = 100 * $2 } /"accuracy_stderr"/ && ours && error == "" { error = 100 * $2 }
			/"peak_memory_bytes"/ { memory = $2 / 1e6 }
			END { if (mean != "") printf "%s\t%s\t%s\t%.1f\t%.1f\t%s\t%.0f\n", graph, method, share, mean, error, seconds, memory }' "$work/report" >>"$out"
		[ ! -s "$work/problem" ] || { echo "$graph, $method:" >&2; cat "$work/problem" >&2; }
	done
done

awk -F'\t' -v methods="$methods" -v graphs="$graphs" '
	{ value[$2, $1] = $4; if ($4 > best[$1]) best[$1] = $4; share[$1] = 100 * $3; if ($1 == "cora") { seconds[$2] = $6; memory[$2] = $7 } }
	END {
		nm = split(methods, m, " "); ng = split(graphs, g, " ")
		printf "| method |"; for (j = 1; j <= ng; j++) printf " %s, %d %% |", g[j], share[g[j]]; print " mean regret | largest | seconds | MB |"
		printf "|---|"; for (j = 1; j <= ng + 4; j++) printf "--:|"; print ""
		for (i = 1; i <= nm; i++) {
			printf "| `%s` |", m[i]; sum = n = worst = 0
			for (j = 1; j <= ng; j++) {
				if (!((m[i], g[j]) in value)) { printf " – |"; continue }
				v = value[m[i], g[j]]; r = best[g[j]] - v; sum += r; n++; if (r > worst) worst = r
				printf r == 0 ? " **%.1f** |" : " %.1f |", v
			}
			printf " %.1f | %.1f | %s | %s |\n", n ? sum / n : 0, worst, seconds[m[i]], memory[m[i]]
		}
	}' "$out"
