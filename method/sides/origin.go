package sides

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Origin describes the content of a graph and the effective settings of its edges, given or chosen. A result keeps the
// origin of its graph. When the result is used with another graph, the origins are compared, or the settings applied.
type Origin struct {
	Content  string            `json:"content,omitempty"` // see [shard.Manifest.Content]; "": no store
	Directed bool              `json:"directed,omitempty"`
	Signed   bool              `json:"signed,omitempty"`
	Weighted *bool             `json:"weighted,omitempty"` // whether some weight is not 1; nil: not known
	Reading  map[string]string `json:"reading,omitempty"`  // settings of reading by the name of the flag; nil: not known
	Edges    *Kept             `json:"edges,omitempty"`    // nil: edges have neither kinds nor times
	Weights  string            `json:"weights,omitempty"`  // function of edge weights; "": as given
}

// OriginOf returns the origin of the graph of a store.
func OriginOf(m *shard.Manifest) *Origin {
	o := &Origin{Content: m.Content(), Directed: m.Directed, Signed: m.Negative > 0, Weighted: &m.Weighted, Reading: maps.Clone(m.Options)}
	delete(o.Reading, shard.ContentOption)
	if o.Reading["hyperedges"] != "" { // "yes" in old stores
		o.Reading["hyperedges"] = "true"
	}
	return o
}

// Learn returns o with the edge weights that a method has learned from: the function weights, and the given factors if not
// nil.
func (o *Origin) Learn(factors *Choice, weights string) *Origin {
	learned := *o
	if factors != nil {
		learned.Edges = factors.Keep()
	}
	learned.Weights = weights
	return &learned
}

// fixedReading lists the settings of reading, with their defaults, that change the graph for good.
var fixedReading = [][2]string{{"self_loops", "drop"}, {"duplicates", "default"}, {"cocitation", "false"},
	{"coupling", "false"}, {"hyperedges", "false"}}

// Difference is the error if a graph was read with another setting than the graph of a result, and the setting cannot be
// changed.
type Difference struct {
	Setting       string // name of the flag
	Result, Graph string // values of the setting
}

// Error implements error.
func (d *Difference) Error() string {
	return fmt.Sprintf("edges: %s is %s, and the result was made with %s", d.Setting, d.Graph, d.Result)
}

// String returns all fields with their values.
func (o *Origin) String() string {
	values := o.fields()
	var list []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, name+" "+values[name])
	}
	return strings.Join(list, ", ")
}

// fields returns the values of all fields as text, by the names of JSON.
func (o *Origin) fields() map[string]string {
	fields := map[string]any{}
	text, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err != nil {
		panic(err)
	}
	values := map[string]string{}
	addFields(values, "", fields)
	return values
}

func addFields(values map[string]string, list string, fields map[string]any) {
	for name, value := range fields {
		inner, isList := value.(map[string]any)
		switch {
		case isList && name == "kinds":
			addFields(values, "kind ", inner)
		case isList:
			addFields(values, "", inner)
		default:
			values[list+name] = fmt.Sprint(value)
		}
	}
}

// Compare returns a [*Difference] if graph cannot be used with a result of origin o.
func (o *Origin) Compare(graph *Origin) error {
	if graph == nil {
		return nil
	}
	if o.Directed != graph.Directed {
		return &Difference{"directed", fmt.Sprint(o.Directed), fmt.Sprint(graph.Directed)}
	}
	if o.Reading["self_loops"] == "" || graph.Reading["self_loops"] == "" { // unknown settings
		return nil
	}
	for _, setting := range fixedReading {
		name, usual := setting[0], setting[1]
		value := func(o *Origin) string {
			if text := o.Reading[name]; text != "" {
				return text
			}
			return usual
		}
		if value(o) != value(graph) {
			return &Difference{name, value(o), value(graph)}
		}
	}
	return nil
}

// CompareWeights returns how the weights of a graph differ from those that a result of origin o was made with, or nil if they
// have the same title or the result does not depend on them. The values of the difference are the title of the column, or
// "true", or "" without weights. Unlike the settings of [Origin.Compare], other weights do not make the result meaningless.
func (o *Origin) CompareWeights(graph *Origin) *Difference {
	if graph == nil || o.Weighted == nil || graph.Weighted == nil || o.Weights == "none" {
		return nil
	}
	value := func(o *Origin) string {
		if !*o.Weighted {
			return ""
		}
		return cmp.Or(o.Reading[shard.WeightTitleOption], "true")
	}
	d := &Difference{"weight", value(o), value(graph)}
	if d.Result == d.Graph || d.Result != "" && d.Graph != "" && (d.Result == "true" || d.Graph == "true") {
		return nil
	}
	return d
}

// Kept are the effective factors of edges that a result keeps, given or chosen.
type Kept struct {
	Kinds    map[string]float64 `json:"kinds,omitempty"`
	Since    string             `json:"since,omitempty"`
	Until    string             `json:"until,omitempty"`
	HalfLife float64            `json:"half_life,omitempty"` // half-life in units of times; 0: no decay
}

// Keep returns the factors of c to keep with a result.
func (c *Choice) Keep() *Kept {
	k := &Kept{Since: c.given.Since, Until: c.given.Until}
	if c.Kinds != nil {
		k.Kinds = c.ByName()
	}
	if c.HalfLife <= math.MaxFloat64 {
		k.HalfLife = c.HalfLife
	}
	return k
}

// complete returns the options of e, where the kept factors k replace options that are not given or that labels are to
// choose. It ignores kept factors of kinds or times that the edges do not have. k may be nil.
func (e *Edges) complete(k *Kept) *Options {
	o := *e.Options
	m := e.Store.Manifest
	if k == nil {
		k = new(Kept)
	}
	if m.Kinds != nil && o.Kinds == nil {
		o.Kinds = k.Kinds
	}
	if m.Times == nil {
		return &o
	}
	if o.Since == "" && o.Until == "" {
		o.Since = k.Since
		o.Until = k.Until
	}
	if k.HalfLife > 0 && (o.HalfLife == "" || o.HalfLife == ChosenHalfLife) {
		o.HalfLife = strconv.FormatFloat(k.HalfLife, 'g', -1, 64)
	}
	return &o
}

// Differs reports whether the factors of a kept model differ from the given factors.
func (e *Edges) Differs(k *Kept) bool {
	return !reflect.DeepEqual(e.complete(k), e.Options)
}

// Restore returns the given factors, where the kept factors k replace factors that are open or not given. Other kinds have
// the weight 1. If k is nil, Restore returns nil. If no edge is in the window of times, it returns an error.
func (e *Edges) Restore(k *Kept) (*Choice, error) {
	options := e.complete(k)
	if m := e.Store.Manifest; m.Times != nil {
		if _, _, err := options.window(m.Times); err != nil {
			return nil, err
		}
	}
	c := (&Edges{Store: e.Store, Options: options}).Given()
	c.IsGiven = !e.Differs(k)
	return c, nil
}
