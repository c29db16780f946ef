// Package parts describes the slabs of a matrix that several machines compute, and joins them.
// The run file of each part identifies the matrix.
package parts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/method/sides"
)

// Part describes a file with one slab of a matrix; its run file contains this description. Parts of one
// matrix differ only in Share and in Lo and Hi of their shapes.
type Part struct {
	Command string `json:"command"` // command line of the run
	Share   int    `json:"slab"`
	Of      int    `json:"of"`

	Parameters json.RawMessage `json:"parameters"`
	Labels     string          `json:"labels,omitempty"` // hash of their names, rows and classes
	Nodes      string          `json:"nodes,omitempty"`  // hash of the rows and columns

	Matrix *Shape `json:"matrix"` // position of the part in the whole matrix

	Path string `json:"-"` // path of the file; "" before it is written
	Run  struct {
		Store      json.RawMessage `json:"store"`
		Origin     *sides.Origin   `json:"origin"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"-"` // further fields of the run file
}

// Error is an error about a file that is not a part of a matrix, or of another matrix than other parts.
type Error struct {
	Path string // "" if it is about several files
	What string
}

// Error implements error.
func (e *Error) Error() string {
	return strings.TrimPrefix(e.Path+": "+e.What, ": ")
}

// New returns p with its parameters and with hashes of the labels, which may be nil, and of the rows and
// columns of the matrix.
func New(p Part, parameters any, l *nodefile.Labels,
	rows, cols []int) (_ *Part, err error) {
	if p.Parameters, err = json.Marshal(parameters); err != nil {
		return nil, err
	}
	if l != nil {
		p.Labels = listSum(l.Names, l.Row, l.Class)
	}
	p.Nodes = listSum(nil, rows, cols)
	return &p, nil
}

// Shape is the position of a part in a matrix: the columns Lo ≤ j < Hi of each of Groups groups of Whole
// columns, or with Axis rows, the rows Lo ≤ i < Hi of Whole.
type Shape struct {
	Axis   string `json:"axis"`
	Lo     int    `json:"lo"`
	Hi     int    `json:"hi"`
	Whole  int    `json:"whole"`
	Groups int    `json:"groups"`
	Dtype  string `json:"dtype"`
}

// Values of Shape.Axis.
const (
	ByColumns = "columns"
	ByRows    = "rows"
)

// Read reads the run files of parts and checks that they are all parts of one matrix, each given once. It
// returns them in the order of their shares, as [Merge] requires. The error is an [*Error] or that of
// reading.
func Read(ctx context.Context, paths []string) ([]Part, error) {
	parts := make([]Part, len(paths))
	for i, path := range paths {
		var err error
		if parts[i], err = readPart(ctx, path); err != nil {
			return nil, err
		}
	}
	first := &parts[0]
	for i := range parts {
		if list := first.Run.Origin.Describe(parts[i].Run.Origin); list != "" {
			return nil, &Error{Path: parts[i].Path,
				What: fmt.Sprintf("is of other edges than %s: %s; make both by the same command but for the slab", first.Path, list)}
		}
		if parts[i].whole() != first.whole() {
			return nil, &Error{Path: parts[i].Path,
				What: fmt.Sprintf("is of another matrix than %s; make both by the same command but for the slab", first.Path)}
		}
	}
	slices.SortStableFunc(parts,
		func(a, b Part) int { return cmp.Compare(a.Share, b.Share) })
	has := map[int]string{} // path of each share
	for _, p := range parts {
		if path, isTwice := has[p.Share]; isTwice {
			return nil, &Error{Path: p.Path,
				What: fmt.Sprintf("is share %d, and so is %s; give each once",
					p.Share, path)}
		}
		has[p.Share] = p.Path
	}
	var missing []string
	for i := range first.Of {
		if has[i] == "" {
			missing = append(missing, strconv.Itoa(i))
		}
	}
	if missing != nil {
		return nil, &Error{What: fmt.Sprintf("shares %s of %d missing; make them with --slab I/%[2]d", strings.Join(missing, ","), first.Of)}
	}
	return parts, nil
}

// maxRunFile is the largest size of a run file, because it is read into memory. It lists the inputs of the
// store, like the manifest, which has at most 8 MiB.
const maxRunFile = 9 << 20

// readPart reads the run file of a part.
func readPart(ctx context.Context, path string) (Part, error) {
	p := Part{Path: path}
	if _, err := os.Stat(path); err != nil {
		return p, err
	}
	if u := textio.CheckFinished(path); u != nil {
		return p, &Error{Path: path, What: u.Msg + "; " + u.Fix}
	}
	name := path + ".run.json"
	b, err := textio.ReadFile(ctx, name, maxRunFile)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return p, &Error{Path: path,
				What: "has no " + filepath.Base(name) +
					" in the same folder, which describes it; keep them together"}
		}
		return p, err
	}
	var run struct {
		Part *Part `json:"part"`
	}
	if err := json.Unmarshal(b, &run); err != nil {
		return p, &Error{Path: name,
			What: fmt.Sprintf("is no run file (%v); make the part again", err)}
	}
	if run.Part == nil || run.Part.Matrix == nil || run.Part.Of < 1 ||
		run.Part.Share < 0 || run.Part.Share >= run.Part.Of {
		return p, &Error{Path: path,
			What: "is no part of anything; give files that were made with --slab I/M"}
	}
	p = *run.Part
	p.Path = path
	if err := json.Unmarshal(b, &p.Run); err != nil {
		return p, err
	}
	if p.Run.Origin == nil {
		return p, &Error{Path: path, What: "was made by an older heatwalk; make the part again"}
	}
	return p, nil
}

// whole describes the matrix of a part: all but its share.
func (p *Part) whole() string {
	q := *p
	shape := *p.Matrix
	q.Share = 0
	q.Matrix = &shape
	shape.Lo = 0
	shape.Hi = 0
	text, _ := json.Marshal(q) // which was read as JSON
	return string(text)
}

// listSum returns a hash of names, unless nil, and lists of numbers, by which runs compare their
// labels, rows and columns.
func listSum(names []string, lists ...[]int) string {
	h := sha256.New() // its writes do not fail
	if names != nil {
		text, err := json.Marshal(names)
		if err != nil {
			panic(err) // strings can be written
		}
		h.Write(text)
	}
	text := make([]byte, 0, 8<<10)
	for _, list := range lists {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(list)))
		for chunk := range slices.Chunk(list, cap(text)/8-1) {
			for _, v := range chunk {
				text = binary.LittleEndian.AppendUint64(text, uint64(v))
			}
			h.Write(text)
			text = text[:0]
		}
	}
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil)[:16])
}
