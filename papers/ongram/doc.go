// Package ongram registers kinds of items with package items: the records of a table, the graphs of a collection, with kernels
// of package graphs, and items whose kernel values are in files. They are the commands records, graphs and gram of a program
// that imports this package:
//
//	import _ "github.com/heatwalk/heatwalk/papers/ongram"
//
// # Diffusion kernels in closed form
//
// The kernels of records, and of trees and chains, are from R. Kondor, J. Lafferty, Diffusion kernels on graphs and other
// discrete input spaces, ICML 2002, sections 4 and 5. They are K = exp(βH) with H = A − D, the negative Laplacian, in closed
// form. Some are functions of distances:
//
//   - infinite trees: [RegularTree], where every vertex has k neighbours, and
//     [RootedTree], where every vertex has k − 1 children;
//   - rings and paths: [ClosedChain] and [OpenChain].
//
// Complete graphs, their products and the hypercube give kernels of records: a vertex of a product of complete graphs is a
// record with an attribute for each complete graph.
//
// [RecordKernels] lists the kernels of records of attributes: categorical, hypercube, hamming, strings.
//
//	k := ongram.RecordKernels().Named("categorical")
//	v, err := k.Resolve(param.Values{"beta": param.Of(0.3)}, nil)
//	values, err := k.Of(attributes, v)
//	values.RowTo(row, i)                       // row[j] = K(i, j)
//
// A [classify.Gram] holds only the records and computes values on request. Equal records are stored once.
//
// # Errors in the paper
//
// The formulas are tested against the exponential of an explicit matrix. They differ from the paper in these points:
//
//   - Equation (15) has the prefactor 2/(π(k−1)), which is right for d = 4 only; it must be
//     2/(π(k−1)^(d/2−1)). Equations (15) and (16) are for the generator A/k − I; here it is A − kI.
//   - The method of images gives K(d) + K(d′ + 1) without the factors ½ of section 4.5:
//     the rows of T must have length one.
//   - Equation (18) counts n − |s| places at which two strings differ, and one factor
//     for all alignments; neither holds. The recursion below it is a kernel, the sum
//     Σ_n 2^−(n+1)·K_n over numbers n of places; its κ belongs to (i+1, j+1).
//   - The exponent in section 5 must be 1 − δ(x_i, x′_i), and the kernel of the Hamming distance
//     counts the attributes that agree.
//   - Hypercubes and products of complete graphs are scaled to K(x, x) = 1. That is scale=unit here; scale=raw is the diffusion
//     kernel itself.
package ongram

import (
	"embed"
	"io/fs"

	"github.com/heatwalk/heatwalk/method/items"
)

//go:embed help
var helpFolder embed.FS

var helpTexts, _ = fs.Sub(helpFolder, "help") // the folder is there

func init() {
	items.Register(&collections)
	items.Register(&records)
	items.Register(&kernelFiles)
}
