// Package items classifies items that are not the nodes of one graph, such as records or small graphs, by kernels between
// them. A [Kind] says how its items are read and compared; a registered kind is a command. A [Source] is a kernel between
// the items of a [Collection] with a learner; held-out items choose its parameters.
package items

import (
	"cmp"
	"context"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Kind declares a kind of items, such as records or graphs, and the commands for it.
type Kind struct {
	Name    string // "records"
	Noun    string // "record"
	Title   string
	Example string // kernel with a parameter: "hypercube:beta=0.5"

	// Help has the texts NAME.txt and NAME-COMMAND.txt for the Name of the kind, with examples after a line "Examples:"; it
	// may be nil.
	Help fs.FS

	// Kernels returns the kernels between items. If Kernels is nil, the input consists of kernel values, see
	// [Collection.Classify].
	Kernels func() []*param.Spec

	// Commands are some of kernel, classify and evaluate; see [Standard].
	Commands []Command

	// Calibrated states that printed scores are probabilities, even without --scores probability.
	Calibrated bool

	// MinusOne states that -1 in a file of classes is a class, not a missing label.
	MinusOne bool

	// Check, if not nil, calls report for each wrong flag or argument, with its place and a text PROBLEM; REMEDY.
	Check func(in *Input, report func(place, problem string))

	// HasColumns states that collections have Columns. Then trees are one more learner, and by default compared with the first
	// kernel and learner.
	HasColumns bool

	// Open reads the items.
	Open func(ctx context.Context, in *Input) (*Collection, error)
}

// Command is a subcommand of a kind.
type Command struct {
	Use   string // name and arguments: "classify TABLE -o OUT.tsv"
	Title string
	Flags []Flag
}

// Flag is a flag of one kind, whose value is in [Input.Flags], or one of these flags that all kinds share:
//
//	block                           -o, rows, columns and precision of kernel values
//	output, dtype                   -o, of endings Words, and precision alone
//	kernel, learner                 with the default Initial; evaluate takes lists
//	labels, label-fields, missing   a file of classes, and how it is read
//	unknown-ids                     what unknown ids in files of ids or classes mean
//	scores, sets, truth             scores and sets of classes of predictions; true classes to compare with
//	splits                          training sets and reports of evaluate
//	temp-dir                        directory of [Input.Temp]
type Flag struct {
	Name     string
	Usage    string // the kind of value in backquotes, such as "`NAME` of a column"; of a file "of weights"
	File     bool   // the value is the path of an input file
	Initial  string
	Words    []string // possible values; nil: any text
	Columns  string   // an example of the list of columns that it takes; "": none
	Switch   bool     // the value is "true" or "false"
	Required bool
}

// Standard returns the commands kernel, classify and evaluate with all shared flags and the given flags. argument names
// what the commands read, as "TABLE"; noun is the word for an item, and kernel the default kernel.
func Standard(argument, noun, kernel string, flags ...Flag) []Command {
	compared := Flag{Name: "kernel", Initial: kernel}
	learned := slices.Concat([]Flag{compared,
		{Name: "learner", Initial: classify.Learners()[0].Name}}, flags, []Flag{
		{Name: "labels", Usage: "of " + noun +
			" and class, one pair a line (default: a column of " + argument + ")"},
		{Name: "label-fields"}, {Name: "unknown-ids"}})
	return []Command{
		{"kernel " + argument + " --kernel SPEC -o K.npy",
			"Kernel values between " + noun + "s",
			slices.Concat([]Flag{{Name: "block"}, compared}, flags,
				[]Flag{{Name: "unknown-ids"}})},
		{"classify " + argument + " -o OUT.tsv",
			"Predict the class of every " + noun + " from the classes of some",
			slices.Concat([]Flag{{Name: "output"}}, learned,
				[]Flag{{Name: "scores"}, {Name: "sets"}, {Name: "truth"}})},
		{"evaluate " + argument + " [--learner A,B …]",
			"Kernels and learners compared on splits of the " + noun + "s with a class",
			append(learned, Flag{Name: "splits"})},
	}
}

// Input has the arguments of a command, and functions that it may use.
type Input struct {
	Command   string // kernel, classify or evaluate
	Paths     []string
	Flags     map[string]string // the kind's own flags
	Kernels   []*param.Spec
	Learners  []*classify.Learner
	Trees     bool         // boosted trees are compared too, see [Kind.HasColumns]
	Values    param.Values // given values of kernel and learner parameters
	Calibrate bool         // classes need probabilities, see [Source.Calibrate]

	LabelFile string                // "" if not given
	Labelling *nodefile.LabelConfig // how it is read: as other text, with stdin and warnings

	Trained  int   // number of labels that an evaluation trains on at a time; 0: all
	Memory   int64 // limit for data, in bytes; 0: none
	Workers  int   // number of goroutines; 0: one for each processor
	RNGSeed  uint64
	Temp     func() (string, error)                // makes a directory that is removed at the end of the run
	Progress func(stage string, done, total int64) // shows finished items; total 0: not known
	Note     func(text string)                     // prints how the input is read
	Classes  func(l *nodefile.Labels)              // prints the largest classes
	Count    func(n int, noun string) string       // writes an amount: "1 item", "2,000 items"
}

// Columns returns the list of columns in a flag, nil if it is not given.
func (in *Input) Columns(flag string) (list []string) {
	for column := range strings.SplitSeq(in.Flags[flag], ",") {
		column = strings.TrimSpace(column)
		if column != "" {
			list = append(list, column)
		}
	}
	return list
}

// Part is the memory of a part of a run, with its name What.
type Part struct {
	What  string
	Bytes int64
}

// Collection holds the items of an input. Errors of its functions about the input are a [*nodefile.ParseError].
type Collection struct {
	File   string // name of the input in messages
	IDs    tablefile.Axis
	Lookup nodefile.Lookup // finds items in files of classes; nil: Labels has the labels of the file

	Labels     *nodefile.Labels // classes in the input; may be nil
	Unlabelled string           // PROBLEM; REMEDY if classes are needed but missing; may be ""
	Truth      *nodefile.Labels // classes to compare predictions with; may be nil
	TruthName  string

	// Gram returns the kernel between all items, and the values of all its parameters: the values in v, and defaults for
	// other parameters. labelled are the items whose class a learner knows; nil: no learner follows.
	Gram func(ctx context.Context, kernel *param.Spec, v param.Values,
		labelled []int) (classify.Gram, param.Values, error)

	// Columns, if not nil, returns the columns of items.
	Columns func() *Columns

	// Units, if not nil, returns the [param.Graph] by which [param.Spec.Resolve] computes parameters in
	// units, such as a multiple of a mean.
	Units func(kernel *param.Spec) param.Graph

	// Rows, if not nil, returns a function that computes rows of the kernel, and the values of all its parameters.
	Rows func(ctx context.Context, kernel *param.Spec,
		v param.Values) (Rows, param.Values, error)

	// Classify, if not nil, replaces Gram: it learns from kernel values in the input.
	Classify func(ctx context.Context, set *engine.Settings) (*Classified, error)

	Bytes int64

	// Parts, if not nil, returns the memory of the run in place of an estimate from Bytes. The run learns from l. If l is
	// nil, the run computes rows of a kernel with the given number of columns.
	Parts func(ctx context.Context, l *nodefile.Labels, columns int) ([]Part, error)

	Attributes int    // number of compared columns, for the summary; 0: no table
	Summary    string // summary of a matrix of kernel values, as "between 188 graphs of 3,371 nodes"
	Facts      any    // pointer to a struct with keys of the JSON document; may be nil

	// Describe, if not nil, returns further Facts, and a line of the summary in place of the method, its parameters and its
	// accuracy.
	Describe func(c *Classified) (facts any, text string)
}

// Rows stores K(rows[i], cols[j]) in row i of dst.
type Rows func(ctx context.Context, dst *sparse.Block[float64], rows, cols []int) error

// RowsOf returns a function that computes rows of a kernel, from the field Rows or else from Gram, and the values of all
// parameters of the kernel.
func (c *Collection) RowsOf(ctx context.Context, kernel *param.Spec,
	v param.Values) (Rows, param.Values, error) {
	if c.Rows != nil {
		return c.Rows(ctx, kernel, v)
	}
	gram, values, err := c.Gram(ctx, kernel, v, nil)
	return func(_ context.Context, dst *sparse.Block[float64], rows, cols []int) error {
		for i, row := range rows {
			gram.PartTo(dst.Row(i), row, cols)
		}
		return nil
	}, values, err
}

// Memory returns the memory of a run by parts, see [Collection.Parts].
func (c *Collection) Memory(ctx context.Context, in *Input, l *nodefile.Labels,
	columns int) ([]Part, error) {
	if c.Parts != nil {
		return c.Parts(ctx, l, columns)
	}
	bytes := budget.LearnerBytes + c.Bytes + 16*int64(columns)
	if l != nil {
		workers := int64(1) // splits at the same time
		if in.Command == "evaluate" {
			workers = int64(runtime.GOMAXPROCS(0))
		}
		n := int64(c.IDs.N)
		k := int64(len(l.Names))
		fit := Workspace(in.Learners, cmp.Or(in.Trained, len(l.Row)), len(l.Names)).Required(0)
		if in.Trees {
			columns := 2 * c.Attributes
			bytes += budget.Block[float32](c.IDs.N, columns) +
				classify.BoostingWorkspace(len(l.Row), columns, 0, len(l.Names), 5).Required(0)*workers
		}
		bytes += (c.Bytes+16*n+8*n*k*k+fit)*workers +
			PredictionBytes(c.IDs.N, len(l.Names))
	}
	return []Part{{DataPart, bytes}}, nil
}

// DataPart is the name of the [Part] of a run that has no finer parts.
const DataPart = "data and learner"

// Workspace declares the memory of fitting the learner that needs most.
func Workspace(learners []*classify.Learner, labels, classes int) (w budget.Workspace) {
	for _, l := range learners {
		w = w.Or(l.Declare(labels, 0, classes))
	}
	return w
}

// PredictionBytes returns the memory of the predictions for n items.
func PredictionBytes(n, classes int) int64 {
	return (112 + 4*int64(classes)) * int64(n)
}

var kinds []*Kind

// Kinds returns the kinds that were registered.
func Kinds() []*Kind { return slices.Clone(kinds) }

// Find returns the registered kind with a name. If there is none, it returns nil.
func Find(name string) *Kind {
	for _, k := range kinds {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Register adds a kind; call it from an init function. It panics if Open is nil or the name is taken.
func Register(k *Kind) {
	if k.Open == nil || Find(k.Name) != nil {
		panic("items: a kind needs Open and a name of its own")
	}
	kinds = append(kinds, k)
}
