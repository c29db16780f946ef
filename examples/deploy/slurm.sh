#!/bin/bash
# A kernel block by the processes of two nodes, which share the rows of the graph: sbatch examples/deploy/slurm.sh
#SBATCH --job-name=heatwalk-kernel
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=02:00:00
#SBATCH --requeue
set -euo pipefail

mpirun --bind-to none heatwalk-mpi kernel graph/ --cols train.ids --kernel diffusion:laplacian=normalized:beta=1 \
    --threads 4 --max-memory 3800MiB --progress none -o K.npy
