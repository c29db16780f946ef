package test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// bitShapes has one shape for each feature.
var bitShapes = []string{"parts", "signed with loops", "directed", "hub", "hub with loops", "large"}

// TestBits tries goroutines, the disk, a limit, the layout, a late decision on the layout, and a second question to the
// same graph.
func TestBits(t *testing.T) {
	turn := rand.IntN(397)
	for i, shape := range Shapes {
		if !testgraph.Hunt && !slices.Contains(bitShapes, shape.Name) {
			continue
		}
		t.Run(shape.Name, func(t *testing.T) {
			c := Draw(shape, 1000+uint64(i))
			store, _ := c.Store(t, nil)
			options := func(change func(o *heatwalk.Options)) *heatwalk.Graph {
				o := &heatwalk.Options{Workers: 1, Edges: unit(c)}
				if change != nil {
					change(o)
				}
				return openPath(t, store, o)
			}
			ways := map[string]func(o *heatwalk.Options){
				"2 goroutines": func(o *heatwalk.Options) { o.Workers = 2 },
				"7 goroutines": func(o *heatwalk.Options) { o.Workers = 7 },
				"streamed":     func(o *heatwalk.Options) { o.Workers, o.Stream = 2, true },
				"coded":        func(o *heatwalk.Options) { o.Workers, o.Coded = 2, true },
			}
			base := options(nil)
			opened := map[string]*heatwalk.Graph{}
			for _, j := range jobs() {
				if shape.Nodes >= 500 && j.isSlow() && !testgraph.Hunt {
					continue
				}
				for _, name := range []string{"2 goroutines", "7 goroutines", "streamed", "coded", "again", "limit"} {
					if turn++; !selected(name+"/"+j.name) || !testgraph.Hunt && turn%397 != 0 {
						continue
					}
					want := j.answer(t.Context(), options(nil), c)
					var got *answer
					switch name {
					case "again":
						got = j.answer(t.Context(), base, c)
					case "limit":
						got = answerWithin(t, &j, c, store)
					default:
						if opened[name] == nil {
							opened[name] = options(ways[name])
						}
						got = j.answer(t.Context(), opened[name], c)
					}
					compare(t, name+": "+j.name, got, want, nil, 0)
				}
			}
		})
	}
}

// answerWithin uses about the smallest limit that the job accepts.
func answerWithin(t *testing.T, j *job, c *Graph, store string) *answer {
	limit := int64(1 << 20)
	for {
		g, err := heatwalk.Open(t.Context(), store, &heatwalk.Options{Workers: 2, Memory: limit, Edges: unit(c)})
		if over := new(budget.Error); errors.As(err, &over) {
			limit *= 2
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		a, err := j.ask(t.Context(), g, c)
		_ = g.Close() // only reads
		if over := new(budget.Error); err != nil && (errors.As(err, &over) || errors.Is(err, sparse.ErrMemory)) && limit < 1<<34 {
			limit *= 2
			continue
		}
		if err != nil {
			return &answer{problem: err.Error()}
		}
		return a
	}
}

func TestProcesses(t *testing.T) {
	turn := rand.IntN(51)
	for i, shape := range Shapes {
		if !testgraph.Hunt && !slices.Contains(bitShapes, shape.Name) {
			continue
		}
		t.Run(shape.Name, func(t *testing.T) {
			c := Draw(shape, 2000+uint64(i))
			store, _ := c.Store(t, nil)
			one := openPath(t, store, &heatwalk.Options{Edges: unit(c)})
			for _, j := range jobs() {
				if j.chooses || strings.HasPrefix(j.name, "explain") || !selected("processes/"+j.name) {
					continue
				}
				if shape.Nodes >= 500 && j.isSlow() && !testgraph.Hunt {
					continue
				}
				if turn++; !testgraph.Hunt && turn%51 != 0 {
					continue
				}
				size := 2 + turn%2
				want := j.answer(t.Context(), one, c)
				var got *answer
				err := testgraph.Processes(size, func(n sparse.Network) error {
					g, err := heatwalk.Open(t.Context(), store, &heatwalk.Options{Network: n, Workers: 2, Edges: unit(c)})
					if err != nil {
						return err
					}
					defer g.Close()
					a, err := j.ask(t.Context(), g, c)
					switch {
					case n.Rank() == 0 && err != nil:
						got = &answer{problem: err.Error()}
					case n.Rank() == 0:
						got = a
					}
					return nil
				})
				if err != nil {
					t.Errorf("%s: %v", j.name, err)
					continue
				}
				if strings.Contains(got.problem, sparse.ErrDivided.Error()) {
					continue
				}
				compare(t, fmt.Sprintf("%d processes: %s", size, j.name), got, want, []string{"unreached components"}, tolerance(c, &j))
			}
		})
	}
}
