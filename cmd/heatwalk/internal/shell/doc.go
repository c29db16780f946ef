// Package shell is the ground of the subcommands of heatwalk.
//
//   - [Session] is one run. Its parts are [CommandLine], with the mistakes in flags, which are
//     reported together; [Console], the streams; and [Costs], limits of memory and the plan.
//     Checks of flags take the command line, functions that only print the console, and
//     functions that only plan the costs.
//   - [Inputs] and [GraphInputs] hold the flags for reading files; functions open graphs, labels and lists
//     of ids with them.
//   - [Outputs] are the files that a run publishes together, with the run file.
//
// A subcommand is made by [NewCommand]. It has options, a struct with the values of its flags; its constructor declares
// the flags, a check notes mistakes in them, and a function runs it.
//
// A run begins its outputs before it reads any input, because a full or read-only disk should
// be reported before hours of computation. It ends with a summary, or with one JSON document.
//
// Only the subcommands print. Data and closing summaries go to stdout, unless stdout carries an
// output; progress, warnings and errors go to stderr. [ErrorReports] gives errors their lines,
// PLACE: PROBLEM; REMEDY, and [ExitCode] their exit codes.
package shell
