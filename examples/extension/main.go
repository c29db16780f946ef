// Command extension is heatwalk with a kernel, a learner, two methods, a model for numbers, a file format and a kind of items,
// words, of another module. They have a name in --method, grids, estimates and help, as the additions that come with
// heatwalk, and files that end in .arrows are read as graphs:
//
//	go run . classify GRAPH --labels L.tsv --method signless+nearest -o OUT.tsv
//	go run . evaluate GRAPH --labels L.tsv --method votes,lgc,cwk+nearest
//	go run . words evaluate FILE --learner nearest,svm
package main

import (
	"os"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/command"
	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/propagate"
)

func init() {
	kernel.Register(signless)
	classify.Register(nearest)
	propagate.Register(votes)
	method.Register(damped)
	method.Register(counts)
	graphfile.Register(arrows)
	items.Register(words)
}

func main() { os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
