package sparse

// LowerPackedColumns lowers what [FindPacking] looks at; the function that it
// returns undoes it.
func LowerPackedColumns(n int) (undo func()) {
	before := packedColumns
	packedColumns = n
	return func() { packedColumns = before }
}

// LowerJoinedPanels lowers how many panels are left when ranges are joined; the
// function that it returns undoes it.
func LowerJoinedPanels(n int) (undo func()) {
	before := joinedPanels
	joinedPanels = n
	return func() { joinedPanels = before }
}

// LowerTiledEntries lowers what [FindTiling] looks at; the function that it returns
// undoes it.
func LowerTiledEntries(n int64) (undo func()) {
	before := tiledEntries
	tiledEntries = n
	return func() { tiledEntries = before }
}
