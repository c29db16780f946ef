#!/bin/bash
# A kernel block in eight shares, and what puts them together:
#
#   id=$(sbatch --parsable --array=0-7 examples/deploy/slurm.sh)
#   sbatch --dependency=afterok:$id --wrap 'heatwalk merge part-*.npy -o K.npy'
#
# A share that failed is run again alone: sbatch --array=3 examples/deploy/slurm.sh
#SBATCH --job-name=heatwalk-kernel
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=02:00:00
#SBATCH --requeue
set -euo pipefail

shares=8 # whatever part of the array runs

heatwalk kernel graph/ --cols train.ids --slab "$SLURM_ARRAY_TASK_ID/$shares" --threads "$SLURM_CPUS_PER_TASK" \
    --max-memory 3800MiB --progress none --kernel diffusion:laplacian=normalized:beta=1 -o "part-$SLURM_ARRAY_TASK_ID.npy"
