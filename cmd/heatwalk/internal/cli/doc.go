// Package cli is the heatwalk command: one file for each subcommand, and the
// pieces they share, named by what they are.
//
// [Main] is the whole command as a function of its arguments and streams, so
// that a test runs it in its own process. A subcommand reads like a sentence:
// flags are declared and all of them checked ([invocation.problem] collects
// what is wrong), outputs are opened before any input is read, the graph is opened or
// ingested on the fly, the libraries do the work, the outputs are published,
// and a closing summary (or one JSON document) is printed.
//
// Only this package prints. Data and closing summaries go to stdout, unless
// stdout carries an output; progress, warnings and errors go to stderr.
// Errors become lines and exit codes in package fault.
package cli
