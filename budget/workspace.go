package budget

import "slices"

// Workspace declares the memory of a computation. A computation on many columns may process groups of columns, called slabs,
// one after another, so that it fits a limit. A declaration multiplies a few constants by dimensions of the problem.
type Workspace struct {
	Fixed    Size // bytes that are always in memory
	Column   Size // bytes of a column of a slab
	Columns  int  // columns of the widest slab
	Optional Size // further bytes that the data may need
	Reserved Size // part of Optional that slabs leave free

	others []Workspace // stages before and after
}

// Slabs returns the workspace of the given number of blocks with rows rows. Their columns are computed in slabs of at most the
// given number of columns.
func Slabs[T any](blocks, rows, columns int) Workspace {
	fixed := Block[T](rows, columns) - Times(rows, Row[T](columns)) // the start of huge pages
	if columns > 8 {
		fixed = AllOf(fixed, Times(rows, 32-4*Vector[T](1))) // padding to 32 bytes; Width counts steps of 4 columns
	}
	return Workspace{Fixed: Times(blocks, fixed), Column: Times(blocks, Vector[T](rows)), Columns: columns}
}

// Held returns the workspace of parts that are always in memory.
func Held(parts ...Size) Workspace { return Workspace{Fixed: AllOf(parts...)} }

// AndHeld returns w and parts that are in memory in all its stages.
func (w Workspace) AndHeld(parts ...Size) Workspace { return w.And(Held(parts...)) }

// stages returns the stages of w, of which only one is in memory at a time.
func (w Workspace) stages() []Workspace {
	first := w
	first.others = nil
	return append([]Workspace{first}, w.others...)
}

// And returns the workspace of the computations w and v, if they are in memory at the same time.
func (w Workspace) And(v Workspace) Workspace {
	var all []Workspace
	for _, a := range w.stages() {
		for _, b := range v.stages() {
			all = append(all, Workspace{Fixed: AllOf(a.Fixed, b.Fixed), Column: AllOf(a.Column, b.Column),
				Columns: max(a.Columns, b.Columns), Optional: AllOf(a.Optional, b.Optional), Reserved: AllOf(a.Reserved, b.Reserved)})
		}
	}
	all[0].others = all[1:]
	return all[0]
}

// Or returns the workspace of the computations w and v, if only one is in memory at a time.
func (w Workspace) Or(v Workspace) Workspace {
	w.others = append(slices.Clip(w.others), v.stages()...)
	return w
}

// fewColumns is the width up to which slabs leave no room for optional memory. A sweep over fewer columns costs as much.
const fewColumns = 4

// Width returns the number of columns of the slabs within a limit. It returns at least 1, or 0 if there are no columns. The
// workspace must have a single stage. A limit of 0 means no limit.
func (w Workspace) Width(limit Size) int {
	least := Widest(min(w.Columns, fewColumns), limit, w.bytes)
	return min(w.Columns, max(least, Widest(w.Columns, Subtract(limit, w.reserved()), w.bytes)))
}

// reserved returns the memory for which slabs leave room. If the optional memory is at most half of the widest slab, it is all
// optional memory. Otherwise it is w.Reserved.
func (w Workspace) reserved() Size {
	if w.Optional <= Times(w.Columns/2, w.Column) {
		return w.Optional
	}
	return w.Reserved
}

func (w Workspace) bytes(columns int) Size {
	if columns == 0 {
		return w.Fixed
	}
	return AllOf(w.Fixed, Times(w.Column, Row[float64](columns)/8))
}

// Required returns the bytes that are always in memory if slabs are as wide as the limit allows. If slabs of one column exceed
// the limit, Required returns more than the limit.
func (w Workspace) Required(limit Size) (bytes Size) {
	for _, stage := range w.stages() {
		bytes = max(bytes, stage.bytes(stage.Width(limit)))
	}
	return bytes
}

// Enough returns a limit that leaves room for all optional memory. Slabs may have to be narrow within this limit.
func (w Workspace) Enough() (bytes Size) {
	for _, stage := range w.stages() {
		columns := stage.Columns
		if stage.reserved() == stage.Optional {
			columns = min(columns, fewColumns)
		}
		bytes = max(bytes, AllOf(stage.bytes(columns), stage.Optional))
	}
	return bytes
}

// Most returns the largest memory within a limit, including optional memory. If Required exceeds the limit, Most returns
// Required.
func (w Workspace) Most(limit Size) (bytes Size) {
	for _, stage := range w.stages() {
		bytes = max(bytes, AllOf(stage.bytes(stage.Width(limit)), stage.Optional))
	}
	if limit > 0 {
		bytes = min(bytes, max(limit, w.Required(limit)))
	}
	return bytes
}
