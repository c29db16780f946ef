package cli

import "embed"

// coraFiles holds the Cora citation graph and its labels.
//
//go:embed cora/edges.tsv.gz cora/labels.tsv.gz
var coraFiles embed.FS
