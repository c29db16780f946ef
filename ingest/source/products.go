package source

import (
	"cmp"
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// pieceWork is the largest number of products in a piece of several rows. It bounds memory, because the
// elements of some pieces wait to be visited.
const pieceWork = 1 << 16

// productBytes returns an upper bound of the memory of [eachProduct] and [nearestRows] without their matrix.
// Each row has a column in common with at most common rows.
func productBytes(rows, cols int, entries, common int64, workers int) int64 {
	const (
		grown   = 2                   // slices that grow have at most this multiple of the memory that they need
		row     = 8 + 1 + grown*(4+4) // for each row and worker: sum, seen, found, nearest
		element = grown * (4 + 8)     // for each element of a piece
		entry   = 4 + 8               // for each entry of Xᵀ
		column  = 2 * 8               // for each column of Xᵀ, with its count
		end     = 8 + grown*8         // for each row: its square, and its end in a piece
	)
	n := int64(sched.Workers(workers))
	return entry*entries + column*int64(cols) + (n*row+end)*int64(rows) +
		pieces*n*element*max(pieceWork, common)
}

// maxCommonRows returns an upper bound of the number of rows of X that have a column in common with one row.
func maxCommonRows(x *sparse.CSR) int64 {
	rows, cols := x.Dims()
	count := make([]int64, cols)
	for i := range rows {
		columns, _ := x.Row(i)
		for _, c := range columns {
			count[c]++
		}
	}
	largest := int64(0)
	for i := range rows {
		work := int64(0)
		columns, _ := x.Row(i)
		for _, c := range columns {
			work += count[c]
		}
		largest = max(largest, min(work, int64(rows)))
	}
	return largest
}

// pieces is the number of pieces of each worker that are in memory at the same time.
const pieces = 2

// eachProduct visits the rows of X·Xᵀ right of the diagonal. For each row i of X these are all j > i with
// at least one common column c, in increasing order, and the values v = Σ_c x_ic·x_jc, summed over
// increasing c. It calls visit for one row at a time, in increasing order of i. The slices are valid during
// the call. The error comes from the context or visit. Time: proportional to Σ_c n_c² for columns with n_c
// entries. Memory: Xᵀ, a number for each row and worker, and some rows of the result.
func eachProduct(ctx context.Context, x *sparse.CSR, workers int,
	visit func(i int, j []uint32, v []float64) error) error {
	return eachRow(ctx, x, workers, func(p *products, i int) {
		p.multiply(i, i+1)
		slices.Sort(p.columns)
		for _, j := range p.columns {
			if p.sum[j] != 0 {
				p.j = append(p.j, j)
				p.v = append(p.v, p.sum[j])
			}
		}
	}, visit)
}

// products computes rows of X·Xᵀ. Each worker has its own.
type products struct {
	x, xt   *sparse.CSR
	sum     []float64 // the current row of X·Xᵀ, by column
	seen    []bool    // whether the current row has the column
	columns []uint32  // columns of the current row, as they were found
	nearest []uint32  // columns with the largest values

	// Rows of a piece to visit, one after another.
	j   []uint32
	v   []float64
	end []int
}

// multiply stores Σ_c x_ic·x_jc in sum for all rows j ≥ first with a common column. It stores these j in
// columns, but may omit rows with the sum 0.
func (p *products) multiply(i, first int) {
	for _, j := range p.columns {
		p.seen[j] = false
		p.sum[j] = 0
	}
	p.columns = p.columns[:0]
	cols, vals := p.x.Row(i)
	work := 0
	for _, c := range cols {
		rows, _ := p.xt.Row(int(c))
		work += len(rows)
	}
	// If most rows occur, looking at all rows afterwards takes less time than checking at each entry whether
	// its row is new.
	isDense := work > len(p.sum)
	for e, c := range cols {
		w := 1.0
		if vals != nil {
			w = vals[e]
		}
		rows, values := p.xt.Row(int(c))
		position, _ := slices.BinarySearch(rows, uint32(first))
		rows = rows[position:]
		if values != nil {
			values = values[position:]
		}
		if !isDense {
			for _, j := range rows {
				if !p.seen[j] {
					p.seen[j] = true
					p.columns = append(p.columns, j)
				}
			}
		}
		addTo(p.sum, rows, values, w)
	}
	if isDense {
		for j := first; j < len(p.sum); j++ {
			if p.sum[j] != 0 {
				p.columns = append(p.columns, uint32(j))
			}
		}
	}
}

// addTo adds w·values to sum at the given rows. If values is nil, all values are 1.
func addTo(sum []float64, rows []uint32, values []float64, w float64) {
	if values == nil {
		for _, j := range rows {
			sum[j] += w
		}
		return
	}
	for k, j := range rows {
		sum[j] += float64(w * values[k])
	}
}

// eachRow calls fill to append the elements of row i to p, on several workers. It then calls visit with each
// row in order. The division into pieces depends on the matrix alone.
func eachRow(ctx context.Context, x *sparse.CSR, workers int,
	fill func(p *products, i int),
	visit func(i int, j []uint32, v []float64) error) error {
	xt := x.Transpose()
	bounds := cut(x, xt)
	rows, _ := x.Dims()
	workspace := make([]*products, sched.Workers(workers))
	for i := range workspace {
		workspace[i] = &products{x: x, xt: xt, sum: make([]float64, rows),
			seen: make([]bool, rows)}
	}
	done := make([]products, min(pieces*len(workspace), len(bounds)-1)) // pieces that wait for their turn
	for first := 0; first+1 < len(bounds); first += len(done) {
		wave := done[:min(len(done), len(bounds)-1-first)]
		err := sched.Run(ctx, len(workspace), len(wave), func(worker, piece int) error {
			p := workspace[worker]
			out := &wave[piece]
			p.j = out.j[:0]
			p.v = out.v[:0]
			p.end = out.end[:0]
			for i := bounds[first+piece]; i < bounds[first+piece+1]; i++ {
				fill(p, i)
				p.end = append(p.end, len(p.j))
			}
			out.j = p.j
			out.v = p.v
			out.end = p.end
			return nil
		})
		if err != nil {
			return err
		}
		for piece := range wave {
			out := &wave[piece]
			start := 0
			for k, end := range out.end {
				if err := visit(bounds[first+piece]+k, out.j[start:end], out.v[start:end]); err != nil {
					return err
				}
				start = end
			}
		}
	}
	return nil
}

// cut divides the rows of x into pieces of at most [pieceWork] products. A row with more is a piece. It
// returns the first row of each piece, and then the number of rows. xt is the transpose of x.
func cut(x, xt *sparse.CSR) []int {
	rows, _ := x.Dims()
	work := 0
	bounds := []int{0}
	for i := range rows {
		cols, _ := x.Row(i)
		rowWork := 1
		for _, c := range cols {
			members, _ := xt.Row(int(c))
			rowWork += len(members)
		}
		if work > 0 && work+rowWork > pieceWork {
			bounds = append(bounds, i)
			work = 0
		}
		work += rowWork
	}
	return append(bounds, rows)
}

// byValue compares columns by decreasing value, and columns of equal value by number.
func (p *products) byValue(a, b uint32) int {
	return cmp.Or(cmp.Compare(p.sum[b], p.sum[a]), cmp.Compare(a, b))
}
