package ingest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// stage has the data that the stages of a run, from [reader] to [edgeSorter], hand on.
type stage struct {
	t         *task
	c         *Config
	m         *memory
	lines     *lineStore
	names     *names
	numbering *numbering
}

// task is the state of a run that all stages share.
type task struct {
	ctx        context.Context
	c          Config
	workers    int
	report     *Report
	files      []FileReport
	dir        string
	fs         durable.FS
	inputBytes int64 // bytes of all inputs, as stored; 0: not known
	inputs     []*textio.Reader
	codes      lines.Codes        // codes of kinds and times
	textIDs    map[string][2]bool // for each file, columns of ids that an earlier run found to be text, see textIDs

	mu sync.Mutex // guards the callbacks, the report and the lines while files are read
}

func (t *task) warn(warning error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Warnings = append(t.report.Warnings, warning.Error())
	if t.c.Warn != nil {
		t.c.Warn(warning)
	}
}

func (t *task) progress(stage string, done, total int64) {
	if t.c.Progress != nil {
		t.c.Progress(stage, done, total)
	}
}

// ZeroWeightsOption is the key of an option in a manifest. The option is the number of lines that were left
// out because their weight is 0.
const ZeroWeightsOption = "zero_weights"

// noteWeight stores the title of the column of weights among the options of a manifest, if there is one.
func (t *task) noteWeight(options map[string]string) {
	for _, f := range t.files {
		for _, c := range f.Columns {
			if c.Use == input.Weight {
				options[shard.WeightTitleOption] = c.Title
				return
			}
		}
	}
}

// storeOptions returns the settings of edges for the manifest of a store, by the names of the command's
// flags. It omits settings that are not given, except self_loops.
func (c *Config) storeOptions() map[string]string {
	word := func(is bool, text string) string {
		if is {
			return text
		}
		return ""
	}
	options := map[string]string{
		"self_loops": cmp.Or(word(c.KeepLoops, "keep"), "drop"),
		"duplicates": duplicateNames[c.Duplicates],
		"directed":   word(c.Directed, "true"),
		"undirected": word(c.Undirected && c.Sources == nil, "true"),
		"fields":     strings.Join(c.Fields, ","),
		"weight":     c.Weight,
		"weights":    word(c.Signed, "signed"),
		"kind":       c.Kind,
		"time":       c.Time,
		"unweighted": word(c.Unweighted, "true"),
		"bipartite":  word(c.Bipartite, "true"),
		"missing":    strings.Join(c.Missing, ","),
		"header":     []string{"", "yes", "no"}[c.Header],
		"delimiter":  c.Text.Delimiter,
		"decimal":    strings.Trim(c.Text.Decimal, "."),
		"thousands":  c.Text.Thousands,
		"encoding":   c.Text.Encoding,
	}
	for _, s := range c.Sources {
		for _, option := range strings.Fields(s.Option) {
			options[option] = "true"
		}
	}
	maps.DeleteFunc(options, func(_, text string) bool { return text == "" })
	return options
}

func (t *task) create(directed bool) (*shard.Writer, error) {
	o := shard.WriteOptions{}
	if t.c.Store != nil {
		o = *t.c.Store
	}
	o.Directed = directed
	o.Force = t.c.Force
	o.Workers = t.workers
	options := t.c.storeOptions()
	maps.Copy(options, o.Options)
	o.Options = options
	w, err := shard.Create(t.dir, &o)
	if _, temporary := durable.InTempDir(t.dir); err == nil && w.Unlocked && !temporary {
		t.warn(fmt.Errorf("%s: %w", t.dir, durable.ErrNoLocks))
	}
	if err == nil && w.Removed > 0 {
		t.warn(fmt.Errorf("%s: removed %s of an unfinished ingest", t.dir,
			words.Counted(w.Removed, "file")))
	}
	return w, err
}

// shareRead returns the share of the inputs' bytes that has been read, or 1 if it is not known.
func (t *task) shareRead() float64 {
	done := t.report.Bytes
	for _, in := range t.inputs {
		read, _ := in.Progress()
		done += read
	}
	if t.inputBytes == 0 || done == 0 || done >= t.inputBytes {
		return 1
	}
	return float64(done) / float64(t.inputBytes)
}

func (t *task) warnUnlisted(ids int) {
	if ids > 0 && table.Extension(t.c.Nodes) == nodefile.ContentFile &&
		t.c.UnknownIDs == DefaultUnknown {
		t.warn(textio.Fault(t.c.Nodes, 0,
			"to leave them out pass {unknown-ids=skip}",
			"does not list %s of the edges; they are nodes too",
			words.Counted(ids, "id")))
	}
}
