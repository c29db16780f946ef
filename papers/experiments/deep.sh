#!/usr/bin/env bash
# Runs the experiments of Y. Tang and M. Zhu, Classifying network data with deep kernel
# machines, 2010, Figure 1, again on the data that is there: the simple kernel machine (level 0)
# beside deep kernel machines of levels 1 to 4 on the diffusion kernel of L, over its β;
# 25 random stratified splits, half of the nodes observed.
#
#   papers/experiments/deep.sh DATA OUT [HEATWALK]
#
# DATA is a folder that holds enron184 and lazega. Tables go to stdout as Markdown, figures to
# the folder OUT as deep-TASK.svg.
#
# Tasks 1 and 2 are the paper's: managers, and all who direct others, among the Enron mailboxes
# without the two unnamed ones that sent nothing. What the partners of task 3 thought of workflow
# is not in the data: in its place, their practice (litigation or corporate, as the paper's task
# 20 to 16), and partners beside associates.
set -euo pipefail
data=${1:?give the folder of the data}
out=${2:?give a folder for the figures}
heatwalk=${3:-heatwalk}
here=$(dirname "$0")
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
betas='0.001 0.003 0.01 0.03 0.1 0.3 1 3'
levels='0 1 2 3 4'

# Enron: who wrote to whom, without weights; the role of a mailbox tells its class.
gzip -dc "$data/enron184/edges.tsv.gz" | cut -f1,2 >"$work/enron.tsv"
gzip -dc "$data/enron184/nodes.tsv.gz" | grep -vx -e gretel.smith -e steven.south >"$work/enron.ids"
gzip -dc "$data/enron184/labels.tsv.gz" >"$work/roles"
# roles WORDS writes the labels of a task: 1 for nodes of these roles, or else 2.
roles() {
	awk -F'\t' -v words="$1" 'NR == FNR { role[$1] = $2; next }
		{ print $1 "\t" (role[$1] != "" && index(words, ";" role[$1] ";") ? 1 : 2) }' "$work/roles" "$work/enron.ids"
}
heads=';CEO;President;Managing Director;'
roles "$heads" >"$work/enron-heads.labels"
roles "${heads}Director;Vice President;Manager;In House Lawyer;" >"$work/enron-ranks.labels"
"$heatwalk" ingest "$work/enron.tsv" --nodes "$work/enron.ids" --unknown-ids skip -o "$work/enron-heads" --quiet
cp -r "$work/enron-heads" "$work/enron-ranks"

# Lazega: half a friendship and half a common case make a tie.
for part in friend cowork; do
	gzip -dc "$data/lazega/$part/edges.tsv.gz" | awk -F'\t' '{ print $1 "\t" $2 "\t" 0.5 }'
done >"$work/lawyers.tsv"
gzip -dc "$data/lazega/attributes.tsv.gz" | awk -F'\t' 'NR > 1 { print $1 "\t" $2 }' >"$work/lawyers-status.labels"
gzip -dc "$data/lazega/attributes.tsv.gz" | awk -F'\t' 'NR > 1 && $2 == 1 { print $1 "\t" $7 }' >"$work/lawyers-practice.labels"
awk -F'\t' '$1 <= 36 && $2 <= 36' "$work/lawyers.tsv" >"$work/partners.tsv"
seq 71 >"$work/lawyers.ids"
seq 36 >"$work/partners.ids"
"$heatwalk" ingest "$work/lawyers.tsv" --nodes "$work/lawyers.ids" -o "$work/lawyers-status" --quiet
"$heatwalk" ingest "$work/partners.tsv" --nodes "$work/partners.ids" -o "$work/lawyers-practice" --quiet

# task NAME MEASURE TITLE prints a table, a row for each β and a column for each level, and
# draws it.
task() {
	local methods= beta level learner
	for beta in $betas; do
		for level in $levels; do
			learner=density
			deep=
			[ "$level" = 0 ] || { learner=dkm deep=":depth=$level"; }
			methods+=${methods:+,}diffusion+$learner:laplacian=combinatorial:beta=$beta$deep
		done
	done
	"$heatwalk" evaluate "$work/$1" --labels "$work/$1.labels" --method "$methods" --grid none --tuning-splits 0 \
		--draw stratified --train 0.5 --splits 25 --seed 1 --json --quiet |
		awk -v measure="$2" -F'[:,]' '/"method": *"diffusion/ { name = $0; beta = name; sub(/.*beta=/, "", beta); sub(/[:"].*/, "", beta)
				level = 0; if (name ~ /depth=/) { level = name; sub(/.*depth=/, "", level); sub(/[:"].*/, "", level) } }
			$1 ~ "\"" measure "\"" && name != "" { printf "level %d\t%s\t%.2f\n", level, beta, 100 * $2; name = "" }' >"$work/$1.points"
	echo "$3" | sed 's/$/:/'
	echo
	awk -F'\t' -v betas="$betas" -v levels="$levels" '{ value[$1, $2] = $3 }
		END {
			nb = split(betas, b, " "); nl = split(levels, l, " ")
			printf "| β |"; for (j = 1; j <= nl; j++) printf " level %s |", l[j]; print ""
			printf "|--:|"; for (j = 1; j <= nl; j++) printf "--:|"; print ""
			for (i = 1; i <= nb; i++) { printf "| %s |", b[i]; for (j = 1; j <= nl; j++) printf " %.1f |", value["level " l[j], b[i]]; print "" }
		}' "$work/$1.points"
	echo
	awk -v title="$3" -v xlabel=β -v logx=1 -f "$here/curves.awk" "$work/$1.points" >"$out/deep-$1.svg"
}

task enron-heads average_precision 'Task 1, 16 heads among 182 mailboxes, average precision in %, mean over both classes'
task enron-ranks auc 'Task 2, 78 who direct others among 182 mailboxes, AUC in %'
task lawyers-practice auc 'In place of task 3, practice of the 36 partners, AUC in %'
task lawyers-status auc 'Partners beside associates, 71 lawyers, AUC in %'
