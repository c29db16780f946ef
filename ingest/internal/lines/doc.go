// Package lines reads edge lists for package ingest: it finds out how the lines of a text are built, a [Layout], and
// turns chunks of lines into codes of their ids. Lines of numbers in the usual form, a [Template], are read in a fast
// loop; small integers are bits of a bitmap, whose [IDRanks] are their numbers. Other ids are text in a [Dict], which
// several goroutines fill at once, and are numbered in order of first appearance or, if all are integers, by value.
//
//	layout, err := settings.LayoutOf(in, &sum)
//	p := &lines.Parser{Name: in.Name(), Layout: layout, Slabs: slabs, Dict: dict}
//	read, err := p.Read(chunk, false) // ErrText: some id is no small integer, see Read
package lines
