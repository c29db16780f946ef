#!/bin/sh
# Labels the nodes of a day's file with a saved model, for cron, a systemd timer or Slurm; docs/run.md explains it.
#
#   nightly.sh FOLDER     with payments.csv, checked.ids and fraud.model
#
# The link last leads to the folder of the last night that succeeded, with predictions.csv and the record predictions.json. It
# changes in one step, so that both are of one night. Seven nights are kept.
#
#SBATCH --job-name=heatwalk-nightly
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=02:00:00
set -u
cd "${1:-/var/lib/heatwalk}" || exit 2
exec 9>lock
flock -n 9 || { echo "heatwalk: another run in $PWD has not ended; run again after it" >&2; exit 1; }
night=nights/$(date -u +%Y%m%dT%H%M%SZ).$$
mkdir -p "$night" || exit 1
# In the folder of the night, because the records name files as seen from there.
(cd "$night" && exec heatwalk predict ../../payments.csv --model ../../fraud.model --nodes ../../checked.ids \
    --max-memory 3800MiB --json --log-format json --progress none -o predictions.csv) >"$night/predictions.json" 2>messages.json
code=$?
case $code in
0) ln -s "$night" last.part && mv -T last.part last || code=1 ;;
1 | 130 | 137) echo "heatwalk: exit code $code; run again: $(tail -n 1 messages.json)" >&2 ;;
*) echo "heatwalk: exit code $code, which another run does not mend: $(tail -n 1 messages.json)" >&2 ;;
esac
rm -f last.part
for old in nights/*; do [ -e "$old/predictions.csv.run.json" ] || rm -r "$old"; done # of runs that failed
ls -d nights/* 2>/dev/null | sort -r | tail -n +8 | while read -r old; do rm -rf "$old"; done
exit $code
