#!/bin/sh
# Labels the nodes of a day's file with a saved model, for cron, a systemd timer or Slurm; docs/run.md explains it.
#
#   nightly.sh FOLDER     with payments.csv, checked.ids and fraud.model; writes predictions.csv
#
#SBATCH --job-name=heatwalk-nightly
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=02:00:00
set -u
cd "${1:-/var/lib/heatwalk}" || exit 2
heatwalk predict payments.csv --model fraud.model --nodes checked.ids --max-memory 3800MiB --json --log-format json \
    --progress none -o predictions.csv >predictions.json.part 2>messages.json
code=$?
case $code in
0) mv predictions.json.part predictions.json || code=1 ;;
1 | 130 | 137) echo "heatwalk: exit code $code; run again: $(tail -n 1 messages.json)" >&2 ;;
*) echo "heatwalk: exit code $code, which another run does not mend: $(tail -n 1 messages.json)" >&2 ;;
esac
rm -f predictions.json.part
exit $code
