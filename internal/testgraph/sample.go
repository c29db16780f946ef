//go:build !hunt

package testgraph

// Hunt says that sweeps over plans, kills and random files are to be long ones:
// every case, not a sample. go test -tags hunt sets it.
const Hunt = false
