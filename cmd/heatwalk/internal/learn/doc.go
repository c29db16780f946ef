// Package learn has the subcommands that learn from labels or numbers of nodes: classify, evaluate, predict, explain,
// suggest, regress, rank and demo.
package learn
