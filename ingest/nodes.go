package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/heatwalk/heatwalk/internal/textio"
)

// readNodes fills the dictionary with the list of nodes.
func (r *run) readNodes() error {
	in, err := r.open(r.c.Nodes, "node list")
	if err != nil {
		return err
	}
	var lines int64
	defer func() { r.close(in, lines) }()
	r.useDict.Store(true)
	head, err := in.Head()
	if err != nil && !errors.Is(err, io.EOF) {
		return translate(r.c.Nodes, err)
	}
	skip := err == nil && r.nodesHeader(in.Name(), head)
	var b batch
	list := &table{path: r.c.Nodes, columns: 1}
	repeated := 0
	flush := func() error {
		before := r.dict.len()
		code := make([]uint32, len(b.tokens))
		if err := r.dict.codes(code, nil, &b, position(r.seq, 0)); err != nil {
			return r.tooMany()
		}
		repeated += len(b.tokens) - (r.dict.len() - before)
		r.seq++
		b.reset()
		return nil
	}
	for row, err := range list.rows(in) {
		if err != nil {
			return err
		}
		lines = row.line
		if skip {
			skip = false
			continue
		}
		b.addCopy(r.dict, 0, row.id())
		if len(b.tokens) == 1<<15 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if repeated > 0 {
		r.warn(fmt.Sprintf("%s: ids are listed more than once, %d times in all", in.Name(), repeated))
	}
	r.listedParts = r.seq
	return nil
}

// nodesHeader reports whether the list of nodes that begins with this chunk
// has a header: a first line that is no integer while the next ones are.
func (r *run) nodesHeader(name string, chunk *textio.Chunk) bool {
	if r.c.Header != AutoHeader {
		return r.c.Header == HasHeader
	}
	list := &table{path: r.c.Nodes, columns: 1, name: name}
	first := int64(0)
	lines, number := 0, chunk.First
	for rest := chunk.Data; len(rest) > 0 && lines < sample; number++ {
		end := bytes.IndexByte(rest, '\n')
		line := rest[:end]
		rest = rest[end+1:]
		if isComment(line) {
			continue
		}
		row, bad := list.split(textio.Line{Number: number, Text: line})
		if bad != nil || canonical(row.id()) == (first == 0) {
			return false
		}
		if first == 0 {
			first = number
		}
		lines++
	}
	if lines > 1 {
		r.warn(fmt.Sprintf("%s:%d: taken as a header; --header=no if it is a node", name, first))
	}
	return lines > 1
}
