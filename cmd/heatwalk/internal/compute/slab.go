package compute

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/parts"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/words"
)

// shareFlag is the share of --slab: number index, from 0, of several of equal size. The zero
// value is the whole.
type shareFlag struct{ index, count int }

func (s *shareFlag) declare(flags *shell.FlagSet, of string) {
	flags.AddValue("slab", "I/M", "", "do only share I, from 0, of M shares of "+of+"; heatwalk merge puts them together", func(text string) error {
		const most = 1 << 20
		index, of, _ := strings.Cut(text, "/")
		i, err := strconv.Atoi(index)
		m, wrong := strconv.Atoi(of)
		switch {
		case err != nil || wrong != nil || m < 1 || m > most:
			return fmt.Errorf("%q is no share; give I/M, as in 0/8 for the first of eight", text)
		case i < 0 || i >= m:
			return fmt.Errorf("%q is no share; shares of %d are numbered 0 to %d",
				text, m, m-1)
		}
		*s = shareFlag{i, m}
		return nil
	})
	flags.AddCheck(func(line *shell.CommandLine, args []string) {
		out := flags.Lookup("output").Value.String()
		if s.count > 0 && len(args) > 0 && !ingest.IsStore(args[0]) {
			line.Problem("--slab",
				"%s is not a store, and all shares are to read the same one; run heatwalk ingest first", args[0])
		}
		if s.count > 0 && out != "" &&
			(out == "-" || shell.FormatOf(out, tablefile.MatrixEndings) != ".npy") {
			line.Problem("--slab",
				"a part is a file in the form .npy; write -o PART.npy")
		}
	})
}

// bounds returns the part lo ≤ i < hi of n items that belongs to the share; noun names an item in errors,
// for example "column".
func (s shareFlag) bounds(n int, noun string) (lo, hi int, err error) {
	if s.count == 0 {
		return 0, n, nil
	}
	if s.count > n {
		return 0, 0, fault.Usage("--slab",
			"there are only %s; give at most %d shares", words.Counted(n, noun), n)
	}
	edge := func(i int) int { return int(int64(n) * int64(i) / int64(s.count)) }
	return edge(s.index), edge(s.index + 1), nil
}

// part returns the rows and the columns of a share of a block, and its position.
func (s shareFlag) part(rows, cols []int,
	dtype string) (_, _ []int, shape parts.Shape, err error) {
	shape = parts.Shape{Axis: parts.ByColumns, Groups: 1, Dtype: dtype}
	noun := "column"
	nodes := &cols
	if len(rows) < len(cols) {
		shape.Axis = parts.ByRows
		noun = "row"
		nodes = &rows
	}
	shape.Whole = len(*nodes)
	if s.count > 0 {
		shape.Lo, shape.Hi, err = s.bounds(shape.Whole, noun)
		*nodes = (*nodes)[shape.Lo:shape.Hi]
	}
	return rows, cols, shape, err
}

// describePart describes the output in its run file, if it is a slab of a matrix.
func describePart(d *shell.GraphRun, command string, s shareFlag, shape parts.Shape,
	parameters any) (err error) {
	if s.count > 0 {
		part := parts.Part{Command: command, Share: s.index, Of: s.count, Matrix: &shape}
		d.Out.Share, err = parts.New(part, parameters, d.Labels, d.Rows, d.Cols)
	}
	return err
}
