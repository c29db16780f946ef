package sparse

// PartOf returns the rows of b that this process has in a division, with zero padding. b must have a row for each row
// of the matrix.
func PartOf[T Float](d *Division, b *Block[T]) *Block[T] {
	local := NewBlock[T](len(d.Team.Rows), b.Cols)
	for i, row := range d.Team.Rows {
		if !d.Team.IsPadding(i) {
			copy(local.Row(i), b.Row(int(row)))
		}
	}
	return local
}

// RowsOf returns the elements of v for the rows that this process has in a division, with zero padding. v must have an
// element for each row of the matrix.
func RowsOf[E any](d *Division, v []E) []E {
	local := make([]E, len(d.Team.Rows))
	for i, row := range d.Team.Rows {
		if !d.Team.IsPadding(i) {
			local[i] = v[row]
		}
	}
	return local
}

// Part returns the rows of t that this process has in a division.
func (t *Table) Part(d *Division) *Table {
	local := &Table{Rows: len(d.Team.Rows), Cols: t.Cols}
	dense := make([]float32, t.Cols)
	reader := t.Reader()
	for i, row := range d.Team.Rows {
		columns, values := reader.Row(int(row))
		if d.Team.IsPadding(i) || values == nil {
			continue
		}
		if columns == nil {
			local.Set(i, values)
			continue
		}
		clear(dense)
		for e, c := range columns {
			dense[c] = values[e]
		}
		local.Set(i, dense)
	}
	return local
}

// Gather returns the block with all rows of the matrix in process 0, and nil in other processes. Every process must
// call it.
func Gather[T Float](d *Division, b *Block[T]) *Block[T] {
	var requested []RemoteRow
	if d.Team.Rank() == 0 {
		for row := range d.Team.Total {
			if !d.named.has(row) {
				requested = append(requested, d.owner(row))
			}
		}
	}
	e := d.Team.NewExchange(d.Team.Own, requested)
	defer e.Close()
	sent := make([]T, d.Team.Own*b.Cols)
	arrived := make([]T, len(requested)*b.Cols)
	for i := range d.Team.Own {
		copy(sent[i*b.Cols:], b.Row(i))
	}
	e.Begin(bytesOf(sent), bytesOf(arrived), b.Cols*sizeOf[T]())
	e.End()
	if d.Team.Rank() > 0 {
		return nil
	}
	gathered := NewBlock[T](d.Team.Total, b.Cols)
	position := 0
	for row := range d.Team.Total {
		if d.named.has(row) {
			copy(gathered.Row(row), b.Row(d.Team.First+d.named.rank(row)))
			continue
		}
		copy(gathered.Row(row), arrived[position*b.Cols:(position+1)*b.Cols])
		position++
	}
	return gathered
}

// GatherAll is [Gather] with the whole block in every process.
func GatherAll[T Float](d *Division, b *Block[T]) *Block[T] {
	gathered := Gather(d, b)
	if gathered == nil {
		gathered = NewBlock[T](d.Team.Total, b.Cols)
	}
	d.Team.Broadcast(0, bytesOf(gathered.Data))
	return gathered
}
