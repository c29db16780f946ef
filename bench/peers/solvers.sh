#!/usr/bin/env bash
# Builds heatwalk and the drivers of solvers, and prints the tables of eigenpairs, solves and exponentials:
# solvers.sh FOLDER [pairs|solves|exponentials|heat...], see solvers.py. Needs the packages of install.sh and scripts/mpi-packages.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(cd "$here/../.." && go build -o "$work/heatwalk" ./cmd/heatwalk && go test -c -o "$work/solve" ./bench)
mpicc -O3 -march=native "$here/petsc_driver.c" $(pkg-config --cflags --libs slepc petsc) -lm -o "$work/petsc"
gcc -O3 -march=native "$here/sampled_driver.c" -lm -o "$work/sampled"
"$work/heatwalk" version | head -2 | paste -sd' '
pkg-config --modversion petsc slepc | paste -sd' ' | sed 's/ /, SLEPc /; s/^/PETSc /'
dpkg-query -W -f '${Package} ${Version}\n' 'libhypre-2*' libcholmod3 2>/dev/null || true
python=$(PATH=/usr/bin:$PATH command -v python3)
"$python" "$here/solvers.py" "$work" "$@"
