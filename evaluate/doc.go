// Package evaluate measures methods side by side.
//
// [Run] draws splits and gives every [engine.Engine] the same training sets; the [Report] holds means, standard errors,
// corrected t-tests, macro-F1 and confusion tables, as text, JSON or one HTML page. A method gets a problem with the
// training labels alone. [engine.Engine.Tune] on splits is the protocol of Neumann, Garnett and Kersting's paper.
//
// Results are the same to the bit for any number of workers and any memory limit.
package evaluate
