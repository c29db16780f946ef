// Package graphs has the subcommands that read, write, describe and generate graphs: ingest, info, convert, generate
// and verify.
package graphs
