package ingest

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// shareMagic begins and ends a file of a share.
const shareMagic = "HWSHARE1"

// shareHead is the description at the end of the file of a share.
type shareHead struct {
	Share    int                 `json:"slab"`
	Of       int                 `json:"of"`
	Inputs   []string            `json:"inputs"` // of all shares
	Settings Config              `json:"settings"`
	Stated   graphfile.Direction `json:"stated"` // direction of edges that a file states
	StatedBy string              `json:"stated_by"`
	Report   *Report             `json:"report"`
	Text     bool                `json:"text"`  // codes are positions in the ids; otherwise they are the ids
	Index    block               `json:"index"` // a shareIndex as JSON
}

// shareIndex lists the records of the file of a share. It is read when the share is merged, because it
// takes some bytes for each chunk of text.
type shareIndex struct {
	IDs   []idRecord   `json:"ids"`   // in order of first appearance
	Lines []lineRecord `json:"lines"` // in the order of the inputs
}

// block is where bytes are in the file of a share.
type block struct {
	Offset int64  `json:"offset"`
	Length int    `json:"bytes"`
	Sum    uint32 `json:"crc32c"`
}

// idRecord is where ids are, each behind its length as a varint.
type idRecord struct {
	block
	Count int `json:"count"`
}

// lineRecord is where the lines of a part are in the file of a share.
type lineRecord struct {
	sort.Record
	File     int      `json:"file"`  // number of the file in the report
	First    int64    `json:"first"` // line
	Edges    int      `json:"edges"`
	Gaps     []uint32 `json:"gaps,omitempty"` // see part
	Weighted bool     `json:"weighted,omitempty"`
}

// WriteShare reads share index, from 0, of several shares of the inputs and writes its lines to w, for
// [Merge]. Share i of m inputs in s shares has the inputs ⌊m·i/s⌋ to ⌊m·(i+1)/s⌋−1, of which there must be
// at least one. Standard input, Nodes and Sources are errors that wrap [nodefile.ErrInput], and files that
// number their own nodes are refused. Other errors, the memory and temporary files are those of [Run] while
// it reads; TempDir must be set. The report counts lines; it has no edges and no store.
func WriteShare(ctx context.Context, w io.Writer, inputs []string, index, of int, c *Config) (report *Report, err error) {
	t, inputs, err := newTask(ctx, "", inputs, c)
	if err != nil {
		return nil, err
	}
	if err := t.c.checkShare(inputs, index, of); err != nil {
		return nil, err
	}
	mine := inputs[len(inputs)*index/of : len(inputs)*(index+1)/of]
	t.inputBytes = bytesOf(mine)
	lines := newLineStore(t)
	defer func() {
		if left := lines.endSpill(); left != nil && err == nil {
			t.warn(fmt.Errorf("the temporary file could not be removed: %v", left))
		}
	}()
	r := &reader{names: lines.names, several: true}
	r.beginNames()
	if err := r.readInputs(mine); err != nil {
		return nil, err
	}
	t.report.SecondsRead = time.Since(t.start).Seconds()
	s := &shareWriter{numberer: &numberer{names: lines.names, numbering: lines.numbering}, w: w}
	s.head = shareHead{Share: index, Of: of, Inputs: inputs, Settings: t.c, Stated: r.stated, StatedBy: r.statedBy, Report: t.report, Text: r.useDict.Load()}
	if err := s.write(); err != nil {
		return nil, err
	}
	t.report.Seconds = time.Since(t.start).Seconds()
	return t.report, nil
}

// checkShare refuses inputs and settings that shares cannot have.
func (c *Config) checkShare(inputs []string, index, of int) error {
	refuse := func(e nodefile.ParseError) error { e.Err = nodefile.ErrInput; return &e }
	switch {
	case index < 0 || index >= of || of > len(inputs):
		return refuse(nodefile.ParseError{Msg: fmt.Sprintf("share %d of %d of %d inputs", index, of, len(inputs)), Fix: "give at most as many shares as inputs"})
	case c.Nodes != "":
		return refuse(nodefile.ParseError{Option: "nodes", Msg: "has the first rows of the whole graph, and a share has some of its edges", Fix: "ingest all files on one machine"})
	case c.Sources != nil:
		return refuse(nodefile.ParseError{File: c.Sources[0].Name, Msg: "is computed and not read, so that it has no shares", Fix: "ingest all files on one machine"})
	case slices.Contains(inputs, "-"):
		return refuse(nodefile.ParseError{File: "-", Msg: "standard input has no shares", Fix: "name files"})
	}
	return nil
}

// shareWriter writes the file of a share: the magic bytes, lines, ids, the index and the description as
// JSON, and the length and the checksum of the description with the magic bytes again.
type shareWriter struct {
	*numberer
	head  shareHead
	index shareIndex
	w     io.Writer
	at    int64 // bytes written
}

func (s *shareWriter) write() error {
	if err := s.put([]byte(shareMagic)); err != nil {
		return err
	}
	var ids []uint32 // codes of the dictionary, in order of first appearance
	if s.head.Text {
		if err := s.moveNumbers(); err != nil {
			return err
		}
		if err := s.makeDictRoom(); err != nil {
			return err
		}
		integers := false
		if ids, _, integers = s.dict.InOrder(position(s.seq)); !integers {
			s.report.IDs = "text"
		}
		if err := s.mapCodes(s.dict.Numbers(ids).Replace); err != nil {
			return err
		}
	}
	if err := s.writeLines(); err != nil {
		return err
	}
	if err := s.writeIDs(ids); err != nil {
		return err
	}
	text, err := json.Marshal(s.index)
	if err != nil {
		return err
	}
	if s.head.Index, err = s.putBlock(text); err != nil {
		return err
	}
	s.report.Files = s.files
	if text, err = json.Marshal(s.head); err != nil {
		return err
	}
	tail := binary.LittleEndian.AppendUint64(text, uint64(len(text)))
	tail = binary.LittleEndian.AppendUint32(tail, simd.Checksum(0, text))
	return s.put(append(tail, shareMagic...))
}

// put writes bytes.
func (s *shareWriter) put(b []byte) error {
	_, err := s.w.Write(b)
	s.at += int64(len(b))
	return err
}

// putBlock writes bytes and returns their place.
func (s *shareWriter) putBlock(b []byte) (block, error) {
	place := block{s.at, len(b), simd.Checksum(0, b)}
	return place, s.put(b)
}

// writeLines writes the lines of all parts.
func (s *shareWriter) writeLines() error {
	var l sort.Lines
	done := 0
	for _, p := range s.parts {
		if err := context.Cause(s.ctx); err != nil {
			return err
		}
		if p.edges == 0 {
			continue
		}
		code, weight, err := s.load(0, p)
		if err != nil {
			return err
		}
		rec, err := l.WriteTo(s.w, s.at, code, weight)
		if err != nil {
			return err
		}
		s.at += int64(rec.Length)
		s.index.Lines = append(s.index.Lines, lineRecord{*rec, p.file, p.first, p.edges, p.gaps, p.weighted})
		done += p.edges
		s.progress(writingStage, int64(done), int64(s.count))
	}
	return nil
}

// recordIDs is the largest number of ids of a record.
const recordIDs = 1 << 15

// writeIDs writes the ids with these codes.
func (s *shareWriter) writeIDs(codes []uint32) error {
	var buf []byte
	for list := range slices.Chunk(codes, recordIDs) {
		buf = buf[:0]
		for _, code := range list {
			id := s.dict.Key(code)
			buf = append(binary.AppendUvarint(buf, uint64(len(id))), id...)
		}
		place, err := s.putBlock(buf)
		if err != nil {
			return cmp.Or(context.Cause(s.ctx), err)
		}
		s.index.IDs = append(s.index.IDs, idRecord{place, len(list)})
	}
	return nil
}
