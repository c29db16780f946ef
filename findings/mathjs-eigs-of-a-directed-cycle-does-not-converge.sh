#!/usr/bin/env bash
# mathjs 15.2.0: eigs fails for the adjacency matrix of a directed cycle, from three nodes on
#
# The adjacency matrix of a directed cycle of n nodes is a permutation; its eigenvalues are the n-th
# roots of one, well apart on the unit circle. math.eigs raises "The eigenvalues failed to converge"
# for n = 3, 4, 5 and 6, having found none. All eigenvalues have the same size, and an orthogonal
# matrix is a fixed point of QR steps without a shift; LAPACK tries other shifts after steps without
# progress.
#
# A good guess is that the error means a defective or a large matrix. A chord that breaks the cycle
# helps: the walk 1 to 2 to 3 to (1 or 2) has eigenvalues at once. Markov chains with a period are
# the case that users meet.
#
# Output seen:
#
#     3 The eigenvalues failed to converge
#     4 The eigenvalues failed to converge
#     5 The eigenvalues failed to converge
#     6 The eigenvalues failed to converge
#     with a chord: 3 eigenvalues
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund mathjs@15.2.0 >/dev/null
node - <<'NODE'
const math = require('mathjs');
let failed = 0;
for (const n of [3, 4, 5, 6]) {
  const cycle = math.zeros(n, n);
  for (let i = 0; i < n; i++) cycle.set([i, (i + 1) % n], 1);
  try {
    console.log(n, math.eigs(cycle).values.toString());
  } catch (e) {
    failed++;
    console.log(n, e.message.split('.')[0]);
  }
}
const chord = math.eigs([[0, 1, 0], [0, 0, 1], [0.5, 0.5, 0]]).values;
console.log('with a chord:', chord.length, 'eigenvalues');
process.exit(failed === 4 && chord.length === 3 ? 0 : 1);
NODE
