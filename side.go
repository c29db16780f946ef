package heatwalk

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Side is one side of a bipartite graph, whose edges join nodes of different sides alone: the cards of a graph of cards
// and shops.
type Side struct {
	Rows   []int  // rows of the nodes, in the order of files of predictions
	Name   string // title of the column of the nodes, which precedes their ids; "" if the ids have none
	Others int    // number of nodes on the other side
	Other  string // title of the column of the other nodes, or ""
}

// oneSided is the number of labels, beyond one for each component, that show that the labels are on one side of a graph
// by intention: labels on random sides are on one side with a probability of 2⁻¹⁵.
const oneSided = 15

// LabelledSide returns the side of the graph that has all the given rows, those of labels or seeds, or nil. The nodes of
// the other side are then of a kind that has no labels. There are two kinds of nodes if ids begin with the titles of two
// columns (Reading.Bipartite of [Options]), or if the graph is bipartite and at least 15 rows, in addition to one of each component, are on
// one side. Nodes of components without any of the rows belong to the side. Directed and signed graphs, and graphs that
// several processes share, have no sides. Cost: at most four sweeps and 20 bytes a node.
func (g *Graph) LabelledSide(ctx context.Context, rows []int) (*Side, error) {
	if err := g.checkOpen(); err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row < 0 || row >= len(g.Degrees) {
			return nil, refuse("rows", "the graph has no row %d", row)
		}
	}
	if g.Directed || g.Signed || g.options.Network != nil || len(rows) == 0 {
		return nil, nil
	}
	side := new(Side)
	isOther := g.otherTitle(rows, side)
	if isOther == nil {
		if len(rows) <= oneSided {
			return nil, nil
		}
		var err error
		if isOther, err = g.oppositeSide(ctx, rows); isOther == nil || err != nil {
			return nil, err
		}
	}
	for row := range g.Nodes.Rows() {
		if isOther(row) {
			side.Others++
		} else {
			side.Rows = append(side.Rows, row)
		}
	}
	if side.Others == 0 {
		return nil, nil
	}
	return side, nil
}

// otherTitle sets the titles of the sides of a graph that was read as bipartite, and returns a function that reports whether a
// node is on the side without any of rows. It returns nil if both sides, or other graphs, have some of the rows.
func (g *Graph) otherTitle(rows []int, side *Side) func(row int) bool {
	if g.Store == nil || g.Store.Manifest.Options["bipartite"] != "true" {
		return nil
	}
	titleOf := func(row int) string {
		title, _, _ := strings.Cut(g.Nodes.ID(row), ":")
		return title
	}
	side.Name = titleOf(rows[0])
	isElsewhere := func(row int) bool { return titleOf(row) != side.Name }
	if slices.ContainsFunc(rows, isElsewhere) {
		return nil
	}
	for row := range g.Nodes.Rows() {
		if isElsewhere(row) {
			side.Other = titleOf(row)
			return isElsewhere
		}
	}
	return nil
}

// oppositeSide returns a function that reports whether a node is on the side without any of rows, or nil if there is no such
// side.
func (g *Graph) oppositeSide(ctx context.Context, rows []int) (func(row int) bool, error) {
	if joined, err := g.joinsNeighbours(ctx, rows); joined || err != nil {
		return nil, err
	}
	sides, err := sparse.FindSides(ctx, g.A, -1, g.options.Workers)
	if err != nil {
		return nil, err
	}
	components, err := g.graph().FindComponents(ctx)
	if err != nil {
		return nil, err
	}
	labelled := make([]float64, len(components.Sizes)) // side of the rows of each component; 0: no rows
	shown := 0
	for _, row := range rows {
		side := &labelled[components.Of[row]]
		switch {
		case sides[row] == 0 || *side != 0 && *side != sides[row]:
			return nil, nil
		case *side != 0:
			shown++
		}
		*side = sides[row]
	}
	if shown < oneSided {
		return nil, nil
	}
	return func(row int) bool {
		side := labelled[components.Of[row]]
		return side != 0 && sides[row] != side
	}, nil
}

// joinsNeighbours reports whether an edge joins two of rows, or two neighbours of them, so that rows are not on one side of a
// bipartite graph. It shows most graphs not to be bipartite before their sides are computed.
func (g *Graph) joinsNeighbours(ctx context.Context, rows []int) (bool, error) {
	n := len(g.Degrees)
	isRow := sched.Mark(n, rows)
	isNeighbour := make([]bool, n)
	errJoined := errors.New("joined")
	err := sparse.EachRow(ctx, g.A, g.options.Workers, func(_, row int, col []uint32, _ []float64) error {
		for _, c := range col {
			if isRow[row] && isRow[c] {
				return errJoined
			}
			isNeighbour[row] = isNeighbour[row] || isRow[c]
		}
		return nil
	})
	if err == nil {
		err = sparse.EachRow(ctx, g.A, g.options.Workers, func(_, row int, col []uint32, _ []float64) error {
			for _, c := range col {
				if isNeighbour[row] && isNeighbour[c] {
					return errJoined
				}
			}
			return nil
		})
	}
	if errors.Is(err, errJoined) {
		return true, nil
	}
	return false, err
}
