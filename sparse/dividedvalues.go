package sparse

// LocalRows returns the rows of a that this process has: a itself, or, of a [Divided] matrix, its own rows
// and its share of the named rows, while its other rows are empty. Columns after those of a are ghost
// rows. See [Team.SumNamed] for sums over the entries of each row.
func LocalRows(a Matrix) Matrix {
	if m, ok := a.(*Divided); ok {
		return m.local
	}
	return a
}

// WithGhosts returns the numbers v of the rows of a block, followed by those of the ghost rows. Every
// process calls it.
func (m *Divided) WithGhosts(v []float64) []float64 {
	all := make([]float64, m.local.cols)
	copy(all, v)
	m.ghosts.Begin(bytesOf(all[:m.Own]), bytesOf(all[m.local.rows:]), sizeOf[float64]())
	m.ghosts.End()
	return all
}

// WithValues returns a matrix with the same entries but other values, which value returns for each row, column,
// see [LocalRows], and value of m. It shares the memory of m, except for 8 bytes for each entry, and is
// released with m.
func (m *Divided) WithValues(value func(row, col int, w float64) float64) *Divided {
	local := *m.local
	local.val = make([]float64, len(local.col))
	for i := range local.rows {
		for e := local.ptr[i]; e < local.ptr[i+1]; e++ {
			w := 1.0
			if m.local.val != nil {
				w = m.local.val[e]
			}
			local.val[e] = value(i, int(local.col[e]), w)
		}
	}
	other := *m
	other.local = &local
	return &other
}
