package sides

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Options are the given factors of the kinds and times of edges. With the zero value all factors are 1.
type Options struct {
	Kinds        map[string]float64 // weights ≥ 0 by kind; kinds that are not listed have the weight 1; nil: not given
	Since, Until string             // first and last time of the edges that count; "": all
	HalfLife     string             // h of the factor 2^(−t/h) of an edge of age t: a number of units, 30d, 4w or 1y; [ChosenHalfLife]; "": no decay
}

// ChosenHalfLife is the value of Options.HalfLife for a half-life that labels choose.
const ChosenHalfLife = "choose"

func wrong(option, format string, args ...any) error {
	return param.Refuse("edges", option, format, args...)
}

// Check returns a [*param.ParameterError] if the options do not fit a store with the manifest m.
func (o *Options) Check(m *shard.Manifest) error {
	if o.Kinds != nil && m.Kinds == nil {
		return wrong("kind-weights",
			"edges have no kinds; read the table with --kind COLUMN")
	}
	var names []string
	for _, k := range m.Kinds {
		names = append(names, k.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Kinds)) {
		if w := o.Kinds[name]; !(w >= 0) || w > math.MaxFloat32 {
			return wrong("kind-weights", "%s=%v; give a finite weight ≥ 0", name, w)
		}
		if !slices.Contains(names, name) {
			listed := strings.Join(names[:min(len(names), 20)], ", ")
			if word := words.Nearest(name, names); word != "" {
				listed = word
			}
			return wrong("kind-weights", "there is no kind %q; choose from %s",
				name, listed)
		}
	}
	for _, option := range [][2]string{{"since", o.Since}, {"until", o.Until},
		{"half-life", o.HalfLife}} {
		if option[1] != "" && m.Times == nil {
			return wrong(option[0],
				"edges have no times; read the table with --time COLUMN")
		}
	}
	if m.Times == nil {
		return nil
	}
	_, _, err := o.window(m.Times)
	if err == nil {
		_, err = o.halfLife(m.Times)
	}
	return err
}

func (o *Options) window(t *shard.Times) (first, last int, err error) {
	bounds := [2]int{0, math.MaxUint16}
	for i, option := range [][2]string{{"since", o.Since}, {"until", o.Until}} {
		if option[1] == "" {
			continue
		}
		parsed, time, fault := table.ParseTimeRange(option[1], t.Unit)
		switch {
		case fault != "":
			return 0, 0, wrong(option[0], "%q %s", option[1], fault)
		case time.Unit != t.Unit:
			return 0, 0, wrong(option[0],
				"%s is a %s, and edges have %ss from %s to %s", option[1], time.Unit,
				t.Unit, t.Text(t.First), t.Text(t.Last))
		}
		bounds[i] = parsed[i]
	}
	if bounds[0] > int(t.Last) || bounds[1] < int(t.First) ||
		bounds[0] > bounds[1] {
		option := "since"
		if bounds[1] < int(t.First) {
			option = "until"
		}
		return 0, 0, wrong(option,
			"no edge is in the window; edges are from %s to %s", t.Text(t.First),
			t.Text(t.Last))
	}
	return bounds[0], bounds[1], nil
}

var daysOf = map[byte]float64{'d': 1, 'w': 7, 'y': 365.25}

// halfLife returns the half-life in units of times. Without decay, or if labels choose the half-life, it returns +Inf.
func (o *Options) halfLife(t *shard.Times) (float64, error) {
	if o.HalfLife == "" || o.HalfLife == ChosenHalfLife {
		return math.Inf(1), nil
	}
	text := o.HalfLife
	scale := 1.0
	if days, ok := daysOf[text[len(text)-1]]; ok {
		text = text[:len(text)-1]
		scale = days
		if t.Unit != "day" {
			return 0, wrong("half-life",
				"%s is a number of days, and times are %ss; give a number",
				o.HalfLife, t.Unit)
		}
	}
	h, err := strconv.ParseFloat(text, 64)
	if err != nil || !(h > 0) || math.IsInf(h, 1) {
		return 0, wrong("half-life",
			"%q is not a time; give a number of %ss, a time such as 30d, 4w or 1y, or %s", o.HalfLife, t.Unit, ChosenHalfLife)
	}
	return h * scale, nil
}

// factors returns the factor of each time from t.First to t.Last, see [shard.Codebook].Times. It is 0 outside the
// window of o. o must be valid.
func (o *Options) factors(t *shard.Times, halfLife float64) []float64 {
	first, last, _ := o.window(t)
	end := min(last, int(t.Last))
	factors := make([]float64, int(t.Last)-int(t.First)+1)
	for i := range factors {
		if time := int(t.First) + i; first <= time && time <= last {
			factors[i] = math.Exp2(-float64(end-time) / halfLife)
		}
	}
	return factors
}

// factorsOf returns the factor of each kind of a store. If a kind is not in factors, its factor is 1.
func factorsOf(m *shard.Manifest, factors map[string]float64) (list []float64) {
	for _, kind := range m.Kinds {
		w, ok := factors[kind.Name]
		if !ok {
			w = 1
		}
		list = append(list, w)
	}
	return list
}

// Book returns the codebook of valid options for a store. Factors that labels are to choose are 1. If all factors are
// 1, Book returns nil.
func (o *Options) Book(m *shard.Manifest) *shard.Codebook {
	c := new(shard.Codebook)
	if o.Kinds != nil {
		c.Kinds = factorsOf(m, o.Kinds)
	}
	h := math.Inf(1)
	if m.Times != nil {
		h, _ = o.halfLife(m.Times)
	}
	if o.Since != "" || o.Until != "" || !math.IsInf(h, 1) {
		c.Times = o.factors(m.Times, h)
	}
	if c.Kinds == nil && c.Times == nil {
		return nil
	}
	return c
}
