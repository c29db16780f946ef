// Package lines reads edge lists for package ingest. It determines the form of the lines of a text, a
// [Layout], and turns chunks of lines into codes of their ids. A fast loop reads lines of numbers that follow
// a [Template]; [IDRanks] numbers these ids. Other ids are text in a [Dict].
//
//	layout, err := settings.LayoutOf(in, &sum)
//	p := &lines.Parser{Name: in.Name(), Layout: layout, Slabs: slabs, Dict: dict}
//	read, err := p.Read(chunk, false) // ErrText: an id is not a small integer, see Read
package lines
