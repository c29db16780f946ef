#!/usr/bin/env bash
# Runs the experiments on UCI data of R. Kondor and J. Lafferty, Diffusion kernels on graphs and other
# discrete input spaces, 2002, Table 1, again: voted perceptrons of ten rounds with the diffusion kernel of
# categorical records and with the kernel of the Hamming distance, 80 % of the records for training and
# 20 % for testing. It adds support vector machines and logistic regression.
#
#   papers/experiments/uci.sh DATA [HEATWALK]
#
# DATA is a folder that holds uci-breast-cancer-wisconsin, uci-hepatitis, uci-house-votes-84 and uci-adult as
# the archive publishes them. The table goes to stdout as Markdown: means and standard deviations over
# SPLITS (40) random splits, and the size of the model of the first split. β, C and λ are the values with the
# least error on other splits. Machines and regression learn 1,000 of 5,000 incomes.
set -euo pipefail
data=${1:?give the folder of the data}
heatwalk=${2:-heatwalk}
splits=${SPLITS:-40}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
voted=perceptron:epochs=10:vote=voted

# error KERNEL LEARNER SPLITS SEED prints the error in % and its standard deviation, and keeps the splits.
error() {
	rm -f "$work/splits"
	"$heatwalk" records evaluate "${table[@]}" "${known[@]}" --kernel "$1" --learner "$2" --train "$train" --draw random --splits "$3" --seed "$4" \
		--save-splits "$work/splits.tsv" --json --quiet |
		awk -v n="$3" -F'[:,]' '/"accuracy_mean"/ { mean = $2 } /"accuracy_stderr"/ { printf "%.2f ± %.2f", 100 - 100 * mean, 100 * $2 * sqrt(n); exit }'
}

# best KERNEL LEARNER VALUES prints the value in place of X in the kernel or the learner that has the least error.
best() {
	local value least=1000 found
	for value in $3; do
		found=$(error "${1/X/$value}" "${2/X/$value}" "$tuning" 2)
		if awk -v a="${found%% *}" -v b="$least" 'BEGIN { exit !(a < b) }'; then
			least=${found%% *} chosen=$value
		fi
	done
	echo "$chosen"
}

# line KERNEL LEARNER PARAMETERS PAPER prints a line of the table.
line() {
	local found
	found=$(error "$1:missing-values=$missing" "$2" "$splits" 1)
	awk -F'\t' 'NR == FNR { if ($2 ~ /^train/) train[$1]; next } $1 in train' "$work/splits.tsv" "$work/classes" >"$work/labels"
	"$heatwalk" records classify "${table[@]}" --labels "$work/labels" --kernel "$1:missing-values=$missing" --learner "$2" --scores none \
		-o "$work/out.tsv" --json --quiet | awk -F'[:,]' -v head="| $name | ${1%%:*}, ${2%%:*} | $4 | $found" -v parameters="$3" \
		'/"support"/ { support = $2 + 0 } END { print head " | " support " | " parameters " |" }'
}

echo '| data | kernel, learner | paper: error, % | \|SV\| | β | here: error, % | \|SV\| | parameters |'
echo '|---|---|--:|--:|--:|--:|--:|---|'
while IFS='|' read -r name file class attributes missing tuning hamming diffusion; do
	table=("$data/$file" --class "$class" --header no --missing '?')
	[ -z "$attributes" ] || table+=(--attributes "$attributes")
	case $file in *.gz) gzip -dc "$data/$file" ;; *) cat "$data/$file" ;; esac |
		awk -F', *' -v class="$class" 'NF > 1 { print ++n "\t" $class }' >"$work/classes"
	train=0.8 known=()
	line hamming "$voted" '' "${hamming//;/ | } | "
	beta=$(best "categorical:missing-values=$missing:beta=X" "$voted" '0.1 0.2 0.3 0.4 0.6 0.8 1 1.5 2 3')
	line "categorical:beta=$beta" "$voted" "β = $beta" "${diffusion//;/ | }"
	if [ "$name" = Income ]; then
		head -n 5000 "$work/classes" >"$work/known"
		train=0.2 known=(--labels "$work/known")
	fi
	cost=$(best "categorical:missing-values=$missing:beta=$beta" svm:cost=X '0.01 0.1 1 10 100 1000')
	line "categorical:beta=$beta" "svm:cost=$cost" "β = $beta, C = $cost" ' |  | '
	lambda=$(best "categorical:missing-values=$missing:beta=$beta" logistic:lambda=X '0.001 0.01 0.1 1 10 100')
	line "categorical:beta=$beta" "logistic:lambda=$lambda" "β = $beta, λ = $lambda" ' |  | '
done <<'END'
Breast cancer|uci-breast-cancer-wisconsin/breast-cancer-wisconsin.data|11|2,3,4,5,6,7,8,9,10|average|10|7.44 ± 1.70;206.0|3.70 ± 0.83;43.3;0.30
Hepatitis|uci-hepatitis/hepatitis.data|1|3,4,5,6,7,8,9,10,11,12,13,14,20|average|10|19.50 ± 3.90;420.0|18.80 ± 4.13;192.0;1.80
Votes|uci-house-votes-84/house-votes-84.data|1||average|10|4.79 ± 1.16;176.5|4.53 ± 1.44;60.6;1.5
Income|uci-adult/adult.data.gz|15|2,4,6,7,8,9,10,14|value|2|19.19 ± 1.20;1149.5|18.50 ± 1.27;1033.4;0.40
END
