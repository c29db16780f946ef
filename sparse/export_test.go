package sparse

// LowerPackedColumns lowers what [FindPacking] looks at; the function that it
// returns undoes it.
func LowerPackedColumns(n int) (undo func()) {
	before := packedColumns
	packedColumns = n
	return func() { packedColumns = before }
}
