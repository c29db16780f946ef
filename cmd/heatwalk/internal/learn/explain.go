package learn

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/explain"
)

type explainOptions struct {
	classify classifyOptions
	nodes    []string
	number   int // largest number of reasons of each kind
}

func NewExplain(run *shell.Session) *cobra.Command {
	cmd, o, flags := shell.NewCommand(run,
		"explain GRAPH NODE... --labels L.tsv -o OUT.tsv",
		"Why a node has its label: the labelled nodes and links that carry it",
		checkExplain, runExplain)
	shell.Annotate(cmd, shell.NodeArguments)
	c := &o.classify
	c.learning.labelsFlag(flags)
	flags.AddOutput(&c.out, "output", "-", "of reasons: .tsv or .csv; - is stdout", tablefile.LineEndings)
	flags.AddLetter(&o.number, "number", 10, listLengths,
		"labelled nodes, attributes and links to list for each node")
	c.methodFlags(flags)
	flags.AddInput(&c.model, "model", "that classify --save-model wrote, in place of --labels and --method")
	c.learning.learningFlagSet(flags)
	return cmd
}

func checkExplain(line *shell.CommandLine, o *explainOptions, args []string) {
	o.nodes = args[min(1, len(args)):]
	line.Refuse(o.classify.model != "",
		"labels method edge-weights prior effort", "the model of --model has it; leave it out")
	if o.classify.model == "" {
		checkMethod(line, &o.classify, args)
	}
}

type explainDocument struct {
	Output   string                    `json:"output"`
	Labelled int                       `json:"labelled"`
	Method   string                    `json:"method"`
	Nodes    []heatwalk.Reasons        `json:"nodes"`
	Chosen   *engine.Parameters        `json:"parameters,omitempty"`
	Features *shell.AttributesDocument `json:"node_features,omitempty"`
	Covered  float64                   `json:"covered"` // mean over the nodes
	Error    float64                   `json:"error"`   // largest over the nodes
	shell.Closing
}

func runExplain(run *shell.Session, o *explainOptions, name string) error {
	c := &o.classify
	if c.model != "" {
		if err := c.readModel(run); err != nil {
			return err
		}
		if c.kept.Value != nil {
			return shell.UsageError("--model", "%s predicts numbers, which have no reasons; give a model of labels", c.model)
		}
		if c.kept.Several != nil {
			return shell.UsageError("--model", "%s predicts several labels of a node, whose probabilities are no sums over labelled nodes; leave it out, and give --labels with one label and its absence as two classes", c.model)
		}
	}
	d, s, err := readLearned(run, c, name)
	if err != nil {
		return err
	}
	rows := make([]int, len(o.nodes))
	for i, id := range o.nodes {
		row, isThere := d.Graph.Nodes.Lookup(id)
		if !isThere {
			return shell.UsageError(shell.Quote(id),
				"is no node of %s; give ids as they are written there", name)
		}
		rows[i] = row
	}
	const lineBytes = 64
	run.Costs.Disk += shell.RunFileBytes + int64(len(rows))*int64(3*o.number+3)*lineBytes
	p, err := predictNodes(run, c, d, s, &heatwalk.PredictOptions{Explain: rows,
		Reasons: o.number})
	if err != nil {
		return err
	}
	doc := &explainDocument{Output: c.out, Labelled: len(d.Labels.Row),
		Method: c.method.Name, Nodes: p.Reasons, Features: d.Graph.DescribeAttributes()}
	if p.Settings > 0 {
		doc.Chosen = &p.Parameters
	}
	cancelled := ""
	for i := range p.Reasons {
		e := &p.Reasons[i]
		doc.Covered += e.Covered / float64(len(p.Reasons))
		doc.Error = max(doc.Error, e.Error)
		if cancelled == "" && e.Sizes > 10*max(1, math.Abs(e.Score)) {
			cancelled = fmt.Sprintf("shares of opposite signs cancel: of %s their absolute values add up to %.3g, and the score is %.3g; compare shares with each other", shell.Quote(e.Node), e.Sizes, e.Score)
		}
	}
	heatwalk.NameAttributes(d.Graph.Attributes, p.Reasons)
	if err := writeReasons(d, c.out, p.Reasons); err != nil {
		return err
	}
	text := fmt.Sprintf("%s explained by %s · ", words.Counted(len(rows), "node"), doc.Method)
	if doc.Covered > 0 {
		text += fmt.Sprintf("shares cover %s of the scores, to an error of %.1g", words.Percent(doc.Covered), doc.Error)
	} else {
		text += "links alone"
	}
	return d.Out.Finish(doc, doc.Chosen, text, cancelled)
}

var reasonTitles = []string{"node", "label", "reason", "name", "detail", "share"}

// linkText describes the edges of one kind between two nodes: their weight, and their times.
func linkText(k explain.LinkKind) string {
	text := fmt.Sprintf("weight %.6g", k.Weight)
	switch {
	case k.First != k.Last:
		text += ", " + k.First + " to " + k.Last
	case k.First != "":
		text += ", " + k.First
	}
	return text
}

func writeReasons(d *shell.GraphRun, file string, list []heatwalk.Reasons) error {
	var lines [][]string
	for i := range list {
		r := &list[i]
		add := func(reason, name, detail string, share float64) {
			lines = append(lines,
				[]string{r.Node, r.Label, reason, name, detail,
					strconv.FormatFloat(share, 'g', 6, 64)})
		}
		add("score", r.Rival,
			strconv.FormatFloat(r.Probability, 'g', 6, 64), r.Score)
		for _, l := range r.Labels {
			add("label", l.Node, l.Label, l.Share)
		}
		if r.OtherLabels > 0 {
			add("other labels", "", strconv.Itoa(r.OtherLabels), r.OtherShare)
		}
		for _, a := range r.Attributes {
			add("attribute", a.Name, strconv.Itoa(a.Column), a.Share)
		}
		if r.Attributes != nil {
			add("other attributes", "", "", r.OtherWords)
		}
		add("rest", "", "", r.Rest)
		for _, l := range r.Links {
			var kinds []string
			for _, k := range l.Kinds {
				kinds = append(kinds, k.Kind)
			}
			add(strings.TrimSpace("link "+strings.Join(kinds, ",")), l.From, l.To,
				l.Importance)
			for _, k := range l.Kinds {
				reason := "kind"
				if k.Kind == "" {
					reason = "edges"
				}
				add(reason, k.Kind, linkText(k), k.Share*l.Importance)
			}
		}
	}
	return tablefile.WriteLines(d.Out.Run.Context, d.Out.Writer, shell.Ending(file),
		reasonTitles, len(lines),
		func(i int, cells []string) { copy(cells, lines[i]) })
}
