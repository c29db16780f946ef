// Package cli is the heatwalk command; each subcommand is in one file.
//
// [Main] is the whole command as a function of its arguments and streams, so that a test runs
// it in its own process. The parts are:
//
//   - session is one run. Its parts are commandLine, with the mistakes in flags, which are
//     reported together; streams, the console; and runCosts, limits of memory and the plan.
//     Checks of flags take the command line, functions that only print the console, and
//     functions that only plan the costs.
//   - inputs and graphInputs hold the flags for reading files; functions open graphs, labels, lists
//     of ids and tables with them.
//   - outputs are the files that a run publishes together, with the run file.
//   - Each subcommand has options, a struct with the values of its flags: newName declares the
//     flags, checkName notes mistakes in them, and runName does the work.
//
// A run begins its outputs before it reads any input, because a full or read-only disk should
// be reported before hours of computation. It ends with a summary, or with one JSON document.
//
// Only this package prints. Data and closing summaries go to stdout, unless stdout carries an
// output; progress, warnings and errors go to stderr. Package fault gives errors their lines
// and exit codes.
package cli
