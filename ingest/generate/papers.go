package generate

import (
	"context"
	"encoding/binary"
	"io"
	"math"

	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/param"
)

// citations is a graph of the shape of ogbn-papers100M: a block model with 14.5 edges for each
// node, whose communities have sizes of a power law, and numbers for each node. The class of a
// node is its community, except for strays: strays have the class of a random node. The numbers of
// a node are the center of its class plus noise. Nodes are numbered by age; of the labelled nodes,
// the newest are the test set. (Hu and others, Open Graph Benchmark, 2020.)
//
// The constants were chosen so that, with 24,000 labels on 2 million nodes, ridge regression on
// the numbers has an accuracy of about 50 %, and label propagation one of 60 to 65 %.
var citations = &Model{
	Spec: param.Spec{Name: "papers", Title: "Citations of papers: 172 classes, numbers for each paper, and few labels", Works: param.Undirected, Params: []param.Param{
		wholeNumber("nodes", "nodes; 14.5 edges for each", fewNodes, 100_000),
		withCheck(wholeNumber("classes", "classes, with sizes of a power law",
			between(1, mostClasses), 172), checkClasses),
		wholeNumber("attributes", "numbers for each node", between(1, 1<<16), 128),
	}},
	HasClasses: true, HasAttributes: true,
	graph: func(v param.Values, d draws) Graph {
		n := float64(v.Int("nodes"))
		return papers{attributes: v.Int("attributes"), sbm: sbm{
			nodes: v.Int("nodes"), edges: int(min(math.Round(14.5*n), n*(n-1)/2)),
			shares: powers(v.Int("classes")), draws: d,
			homophily: 1, noise: 0.1, exponent: 2.5,
		}}
	},
}

const (
	classExponent = 0.8  // class c has a size proportional to 1/(c+1)^0.8
	strayShare    = 0.34 // share of nodes whose class is not their community
	spread        = 0.44 // standard deviation of a center, per column; that of the noise is 1
	testShare     = 0.14 // share of the labelled nodes in the test set
)

// powers returns shares of classes whose sizes follow a power law.
func powers(classes int) []float64 {
	list := make([]float64, classes)
	sum := 0.0
	for c := range list {
		list[c] = math.Pow(float64(c+1), -classExponent)
		sum += list[c]
	}
	for c := range list {
		list[c] /= sum
	}
	return list
}

type papers struct {
	sbm
	attributes int
}

// Size implements [Graph].
func (g papers) Size() Size {
	size := g.sbm.Size()
	size.Bytes += int64(g.attributes) * int64(8*len(g.shares)+
		2*attributeRows*g.workers)
	return size
}

// drawLabels returns the class of each node: its community, or that of a random node.
func (g papers) drawLabels(ctx context.Context) ([]uint16, error) {
	community, err := g.drawClasses(ctx)
	if err != nil {
		return nil, err
	}
	class := make([]uint16, len(community))
	r := source(g.rngSeed, strayStream)
	for u := range class {
		if err := checkContext(ctx, u); err != nil {
			return nil, err
		}
		origin := u
		if r.Float64() < strayShare {
			origin = int(r.Uint64N(uint64(len(class))))
		}
		class[u] = community[origin]
	}
	return class, nil
}

// LabelsTo implements [Graph].
func (g papers) LabelsTo(ctx context.Context, w io.Writer, share float64) error {
	return g.labelsTo(ctx, w, share, 0, 1-testShare)
}

// TestLabelsTo implements [Attributed].
func (g papers) TestLabelsTo(ctx context.Context, w io.Writer,
	share float64) error {
	return g.labelsTo(ctx, w, share, 1-testShare, 1)
}

// TruthTo implements [Attributed].
func (g papers) TruthTo(ctx context.Context, w io.Writer) error {
	return g.labelsTo(ctx, w, 1, 0, 1)
}

// labelsTo writes the classes of a share of the nodes, which are in the order of their age: from the share first
// of these to the share last.
func (g papers) labelsTo(ctx context.Context, w io.Writer,
	share, first, last float64) error {
	class, err := g.drawLabels(ctx)
	if err != nil {
		return err
	}
	return g.writeLabels(ctx, w, class, share, first, last)
}

// attributeRows is the number of rows of numbers that share a random stream.
const attributeRows = 1 << 10

// AttributeBytes implements [Attributed].
func (g papers) AttributeBytes() int64 {
	return 128 + 2*int64(g.nodes)*int64(g.attributes)
}

// AttributesTo implements [Attributed]. It keeps the classes of the nodes and 1,024 rows for each worker.
func (g papers) AttributesTo(ctx context.Context, w io.Writer) error {
	class, err := g.drawLabels(ctx)
	if err != nil {
		return err
	}
	centers := make([]float64, len(g.shares)*g.attributes)
	r := source(g.rngSeed, attributeStream)
	for i := range centers {
		centers[i] = spread * r.NormFloat64()
	}
	if _, err := w.Write(npy.Header("<f2", g.nodes, g.attributes)); err != nil {
		return err
	}
	return inOrder(ctx, w, g.workers, (g.nodes+attributeRows-1)/attributeRows, func(text []byte, k int) []byte {
		r := source(g.rngSeed, attributeStream|uint64(k+1)<<8)
		for u := k * attributeRows; u < min((k+1)*attributeRows, g.nodes); u++ {
			for _, center := range centers[int(class[u])*g.attributes:][:g.attributes] {
				text = binary.LittleEndian.AppendUint16(text,
					halfBits(float32(center+r.NormFloat64())))
			}
		}
		return text
	})
}

// halfBits returns the float16 nearest to x, |x| < 65,504; numbers below 2^-14 become zero.
func halfBits(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits>>16) & 0x8000
	magnitude := bits&^(1<<31) + 1<<12
	if magnitude < 113<<23 {
		return sign
	}
	return sign | uint16((magnitude-112<<23)>>13)
}
