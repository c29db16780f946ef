package sparse

// Work counts the operations on a matrix and on blocks that take most of the time of a job. Most
// counts are typical, because the number of iterations depends on the data.
type Work struct {
	EntryColumns float64 // stored entries × columns, over all sweeps
	RowColumns   float64 // rows × columns that are computed otherwise, for example normalized or written
}

// Plus returns the work of two jobs.
func (w Work) Plus(o Work) Work {
	return Work{w.EntryColumns + o.EntryColumns, w.RowColumns + o.RowColumns}
}

// Times returns the work of a job that is repeated n times.
func (w Work) Times(n float64) Work { return Work{n * w.EntryColumns, n * w.RowColumns} }
