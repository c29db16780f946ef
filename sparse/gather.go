package sparse

// PartOf returns the rows of b that a process has in a division. Padding is zero. b has a row for each row of
// the matrix.
func PartOf[T Float](d *Division, b *Block[T]) *Block[T] {
	part := NewBlock[T](len(d.Rows), b.Cols)
	for i, row := range d.Rows {
		if !d.IsPadding(i) {
			copy(part.Row(i), b.Row(int(row)))
		}
	}
	return part
}

// RowsOf returns the elements of v for the rows of a process in a division. Padding is zero. v has an element for
// each row of the matrix.
func RowsOf[E any](d *Division, v []E) []E {
	part := make([]E, len(d.Rows))
	for i, row := range d.Rows {
		if !d.IsPadding(i) {
			part[i] = v[row]
		}
	}
	return part
}

// Part returns the rows of t that a process has in a division.
func (t *Table) Part(d *Division) *Table {
	part := &Table{Rows: len(d.Rows), Cols: t.Cols}
	dense := make([]float32, t.Cols)
	for i, row := range d.Rows {
		columns, values := t.Row(int(row))
		if d.IsPadding(i) || values == nil {
			continue
		}
		if columns == nil {
			part.Set(i, values)
			continue
		}
		clear(dense)
		for e, c := range columns {
			dense[c] = values[e]
		}
		part.Set(i, dense)
	}
	return part
}

// Gather returns a block with a row for each row of the matrix in process 0, and nil in others, from the
// blocks of all processes. Every process calls it.
func Gather[T Float](d *Division, b *Block[T]) *Block[T] {
	var wanted []RemoteRow
	if d.Rank() == 0 {
		for row := range d.Total {
			if !d.named.has(row) {
				wanted = append(wanted, d.owner(row))
			}
		}
	}
	e := d.NewExchange(d.Own, wanted)
	defer e.Close()
	own, arrived := make([]T, d.Own*b.Cols), make([]T, len(wanted)*b.Cols)
	for i := range d.Own {
		copy(own[i*b.Cols:], b.Row(i))
	}
	e.Begin(bytesOf(own), bytesOf(arrived), b.Cols*sizeOf[T]())
	e.End()
	if d.Rank() > 0 {
		return nil
	}
	whole := NewBlock[T](d.Total, b.Cols)
	at := 0
	for row := range d.Total {
		if d.named.has(row) {
			copy(whole.Row(row), b.Row(d.First+d.named.rank(row)))
			continue
		}
		copy(whole.Row(row), arrived[at*b.Cols:(at+1)*b.Cols])
		at++
	}
	return whole
}

// GatherAll is [Gather] for all processes, each of which gets the whole block.
func GatherAll[T Float](d *Division, b *Block[T]) *Block[T] {
	whole := Gather(d, b)
	if whole == nil {
		whole = NewBlock[T](d.Total, b.Cols)
	}
	d.Broadcast(0, bytesOf(whole.Data))
	return whole
}
