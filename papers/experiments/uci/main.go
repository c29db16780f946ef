// Command uci repeats the experiments on UCI data of R. Kondor, J. Lafferty, Diffusion kernels on
// graphs and other discrete input spaces, ICML 2002, Table 1: voted perceptrons of ten rounds
// with the diffusion kernel of categorical records and with the kernel of the Hamming distance,
// on 40 random splits into 80 % for training and 20 % for testing. It adds support vector
// machines and logistic regression with the diffusion kernel.
//
//	go run ./papers/experiments/uci DATA
//
// DATA is a folder that holds uci-breast-cancer-wisconsin, uci-hepatitis, uci-adult and
// uci-house-votes-84 as the archive publishes them. The table goes to stdout as Markdown.
//
// β, and the costs of the other learners, have the least error on separate random splits.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// main prints a table of errors with a row for each data set and kernel, and the figures of the paper.
func main() {
	splits := flag.Int("splits", 40, "random splits")
	seed := flag.Uint64("seed", 1, "of the splits")
	flag.Parse()
	if flag.NArg() != 1 || *splits < 2 {
		fmt.Fprintln(os.Stderr,
			"uci: give the folder of the data and two splits or more; usage: uci [--splits N] [--seed N] DATA")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	began := time.Now()
	fmt.Println("| data | kernel, learner | paper: error, % | \\|SV\\| | β | here: error, % | \\|SV\\| | parameters |")
	fmt.Println("|---|---|--:|--:|--:|--:|--:|---|")
	for i := range sets {
		if err := run(ctx, flag.Arg(0), &sets[i], *splits, *seed); err != nil {
			fmt.Fprintf(os.Stderr, "uci: %v\n", err)
			os.Exit(1)
		}
	}
	fmt.Printf("\nMeans and standard deviations over %d splits, rng seed %d; %.0f s in all.\n\n", *splits, *seed, time.Since(began).Seconds())
	for _, s := range sets {
		fmt.Printf("- %s: %s\n", s.name, s.note)
	}
}
