#!/usr/bin/env bash
# Installs the peers from the distribution's packages.
set -euo pipefail
apt-get update
apt-get install -y --no-install-recommends \
	python3-numpy python3-scipy python3-pandas python3-igraph libgraphblas-dev libeigen3-dev gcc g++
