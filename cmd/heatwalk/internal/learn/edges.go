package learn

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// factorsDocument has the chosen weights of kinds and dates of edges, without values that the user
// gave.
type factorsDocument struct {
	KindWeights map[string]float64 `json:"kind_weights,omitempty"`
	HalfLife    float64            `json:"half_life,omitempty"` // in units of times; 0: no decay
	Since       string             `json:"since,omitempty"`     // value of --since in a model
	Until       string             `json:"until,omitempty"`
}

// factorsOf returns the chosen factors of edges without the factors that the user gave.
func factorsOf(g *shell.OpenGraph, c *sides.Choice) (d factorsDocument) {
	if c == nil || c.IsGiven {
		return d
	}
	if len(g.Store.Manifest.Kinds) > 1 && g.Edges.Kinds == nil {
		d.KindWeights = c.ByName()
	}
	if (g.Edges.HalfLife == "" || g.Edges.HalfLife == sides.ChosenHalfLife) && !math.IsInf(c.HalfLife, 1) {
		d.HalfLife = c.HalfLife
	}
	if kept := c.Keep(); g.Edges.Since+g.Edges.Until == "" {
		d.Since = kept.Since
		d.Until = kept.Until
	}
	return d
}

// edgesText describes the factors in d for the summary. source says from what they were chosen, for
// example from held-out labels.
func edgesText(g *shell.OpenGraph, d factorsDocument, source string) string {
	var parts []string
	if d.KindWeights != nil {
		kinds := slices.Clone(g.Store.Manifest.Kinds)
		slices.SortStableFunc(kinds,
			func(a, b shard.Kind) int { return cmp.Compare(d.KindWeights[b.Name], d.KindWeights[a.Name]) })
		for _, k := range kinds {
			weight := "no edges"
			if k.Entries > 0 {
				weight = fmt.Sprintf("%.3g", d.KindWeights[k.Name])
			}
			parts = append(parts, input.Escape(k.Name)+" "+weight)
		}
		parts = []string{"kinds: " + strings.Join(parts, " · ")}
	}
	switch {
	case d.HalfLife > 0:
		parts = append(parts,
			fmt.Sprintf("half-life: %.3g %ss", d.HalfLife,
				g.Store.Manifest.Times.Unit))
	case g.Edges.HalfLife == sides.ChosenHalfLife:
		parts = append(parts, "half-life: none")
	}
	for _, bound := range [][2]string{{"since", d.Since}, {"until", d.Until}} {
		if bound[1] != "" {
			parts = append(parts, strings.Join(bound[:], " "))
		}
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, ", ") + " (" + source + ")"
}
