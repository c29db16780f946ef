// Package lines reads edge lists: it is the room of package ingest that finds out how the
// lines of a text are built, a [Layout], and turns chunks of them into the codes of their
// ids. Lines of the usual form are read by package parse.
//
//	layout, err := settings.LayoutOf(in, &sum)
//	p := &lines.Parser{Name: in.Name(), Layout: layout, Slabs: slabs, Dict: dict}
//	read, err := p.Read(chunk, false) // ErrText: some id is no small integer, see Read
package lines
