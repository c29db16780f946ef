package heatwalk

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/kernel/function"
	"github.com/heatwalk/heatwalk/param"
)

// refuse returns the error about an argument or an option, in the words of the command.
func refuse(option, format string, args ...any) error {
	return param.Refuse("heatwalk", option, format, args...)
}

// rowsOf returns the rows of ids, of all nodes in their order for nil. option names the list, which must have each node once.
func (g *Graph) rowsOf(option string, ids []string) ([]int, error) {
	g.checkOpen()
	var rows []int
	if ids == nil {
		for row := range g.Nodes.Rows() {
			rows = append(rows, row)
		}
		return rows, nil
	}
	if len(ids) == 0 {
		return nil, refuse(option, "it lists no node; give one or more")
	}
	isListed := make(map[int]bool, len(ids))
	for _, id := range ids {
		row, ok := g.Nodes.Lookup(id)
		if !ok {
			return nil, &IDError{id}
		}
		if isListed[row] {
			return nil, refuse(option, "%q is listed twice; give each node once", id)
		}
		isListed[row] = true
		rows = append(rows, row)
	}
	return rows, nil
}

// largestValue bounds the numbers of [Graph.Regress], so that their squares are finite.
const largestValue = 1e100

// checkValue returns the error about the number of a node.
func checkValue(id string, value float64) error {
	if math.Abs(value) <= largestValue {
		return nil
	}
	return refuse("values", "%v of %q is not a number up to ±%.2g; leave the node out", value, id, largestValue)
}

// checkShares returns the error about shares of the labels.
func checkShares(option string, shares []float64) error {
	if shares != nil && len(shares) == 0 {
		return refuse(option, "it is empty; give shares of the labels above 0 and below 1, or nil for 0.1")
	}
	for _, share := range shares {
		if !(share > 0 && share < 1) {
			return refuse(option, "%v is out of range; give shares of the labels above 0 and below 1", share)
		}
	}
	return nil
}

// checkBlock returns the error about a matrix with a row for each of n nodes.
func checkBlock(option string, b mat.Matrix, n int) error {
	if b == nil {
		return refuse(option, "it is nil; give a matrix with a row for each node")
	}
	rows, cols := b.Dims()
	switch {
	case rows != n:
		return refuse(option, "%d rows; the graph has %d nodes", rows, n)
	case cols == 0:
		return refuse(option, "it has no columns; give one or more")
	}
	for i := range rows {
		for j := range cols {
			if v := b.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return refuse(option, "%v in row %d and column %d is not finite; give finite numbers", v, i, j)
			}
		}
	}
	return nil
}

// checkRanking returns the error about a kernel that cannot rank nodes.
func checkRanking(name string) error {
	if name == cwk.Spec.Name {
		return refuse("kernel", "%s: its walks start at labels of classes, which seeds do not have; give another kernel, such as %s",
			name, kernel.Families()[0].Name)
	}
	f := kernel.Families().Named(name)
	switch {
	case name == function.PersonalizedPageRank.Name:
	case f == nil:
		return refuse("kernel", "there is no kernel %q that ranks nodes; give another, such as %s", name, kernel.Families()[0].Name)
	case f.Distance != "":
		return refuse("kernel", "%s is a distance; give %s", name, f.Distance)
	}
	return nil
}
