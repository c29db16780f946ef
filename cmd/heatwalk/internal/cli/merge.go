package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/internal/npy"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/tablefile"
)

// merged is the JSON document of merge.
type merged struct {
	Output  string `json:"output"`
	Command string `json:"command"` // that made the parts
	Parts   int    `json:"parts"`
	Rows    int    `json:"rows"`
	Cols    int    `json:"cols"`
	Dtype   string `json:"dtype"`
	Closing
}

func newMerge(in *invocation) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "merge PART... -o OUT",
		Short: "Put the parts that --slab made together",
		Long: `Checks that the parts belong together and that none is missing, and writes what
the command without --slab would have written, byte for byte. Beside every PART
stands its PART.run.json, which says what it is.

Parts of classify hold how well parameters do. merge chooses from all of them and
then labels the nodes; for this it reads the graph and the labels again.`,
		Example: "  heatwalk merge part-*.npy -o K.npy",
		Args:    in.arguments("PART", 1, -1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				in.problem("-o", "the output is missing; write -o OUT")
			} else {
				in.checkOutput("-o", out, args...)
			}
			if err := in.checked(); err != nil {
				return err
			}
			return in.merge(args, out)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "`FILE` of the whole")
	return cmd
}

// partFile is a part with what its run file says.
type partFile struct {
	path string
	part
	partShape
	run struct {
		Store      json.RawMessage `json:"store"`
		Parameters json.RawMessage `json:"parameters"`
		Arguments  []string        `json:"arguments"`
		Directory  string          `json:"directory"`
	}
}

func (in *invocation) merge(paths []string, out string) error {
	parts, err := readParts(paths)
	if err != nil {
		return err
	}
	if parts[0].Command == classifyCommand {
		return in.mergeTrials(parts, out)
	}
	if parts[0].Dtype == "float64" {
		return mergeMatrix[float64](in, parts, out)
	}
	return mergeMatrix[float32](in, parts, out)
}

// readParts reads what the run files of parts say and checks that they are all
// parts of one whole, each once. They come back in the order of their slabs.
func readParts(paths []string) ([]partFile, error) {
	parts := make([]partFile, len(paths))
	for i, path := range paths {
		var err error
		if parts[i], err = readPart(path); err != nil {
			return nil, err
		}
	}
	first := &parts[0]
	for i := range parts {
		if what := parts[i].differs(first); what != "" {
			return nil, &dataError{parts[i].path, fmt.Sprintf("is of another whole than %s: %s; make both with the same command but for --slab", first.path, what)}
		}
	}
	slices.SortStableFunc(parts, func(a, b partFile) int { return cmp.Compare(a.Slab, b.Slab) })
	for i := 1; i < len(parts); i++ {
		if parts[i].Slab == parts[i-1].Slab {
			return nil, &dataError{parts[i].path, fmt.Sprintf("is slab %d, and so is %s; give each once", parts[i].Slab, parts[i-1].path)}
		}
	}
	if missing := missingSlabs(parts); missing != "" {
		return nil, &dataError{"merge", fmt.Sprintf("%s of %d missing; run the command with --slab I/%d for them", missing, first.Of, first.Of)}
	}
	return parts, nil
}

// missingSlabs names the slabs that there is no part for, "" if there is one
// for each.
func missingSlabs(parts []partFile) string {
	var ranges []string
	count := 0
	for at, next := 0, 0; next < parts[0].Of; next++ {
		if at < len(parts) && parts[at].Slab == next {
			at++
			continue
		}
		end := parts[0].Of // of the gap
		if at < len(parts) {
			end = parts[at].Slab
		}
		text := strconv.Itoa(next)
		if end > next+1 {
			text += "-" + strconv.Itoa(end-1)
		}
		ranges = append(ranges, text)
		count += end - next
		next = end - 1
	}
	switch count {
	case 0:
		return ""
	case 1:
		return "slab " + ranges[0]
	}
	return "slabs " + strings.Join(ranges, ",")
}

// readPart reads what the run file of a part says.
func readPart(path string) (partFile, error) {
	p := partFile{path: path}
	if _, err := os.Stat(path); err != nil {
		return p, err
	}
	if u := textio.Unfinished(path); u != nil {
		return p, &dataError{path, u.What + "; " + u.Fix}
	}
	name := path + ".run.json"
	b, err := os.ReadFile(name)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return p, &dataError{path, "has no " + filepath.Base(name) + " beside it, which says what it is; keep them together"}
		}
		return p, err
	}
	var run struct {
		Part *part `json:"part"`
	}
	if err := json.Unmarshal(b, &run); err != nil {
		return p, &dataError{name, fmt.Sprintf("is no run file (%v); make the part again", err)}
	}
	if run.Part == nil || run.Part.Of < 1 || run.Part.Slab < 0 || run.Part.Slab >= run.Part.Of ||
		(run.Part.Matrix == nil) != (run.Part.Command == classifyCommand) {
		return p, &dataError{path, "is no part of anything; give files that --slab made"}
	}
	p.part = *run.Part
	if p.Matrix != nil {
		p.partShape = *p.Matrix
	}
	return p, json.Unmarshal(b, &p.run)
}

// whole says what the part is of, but for its type.
func (s *partShape) whole() string { return fmt.Sprint(s.Axis, s.Whole, s.Groups) }

// differs says in what two parts are not of one whole, "" if they are.
func (p *partFile) differs(q *partFile) string {
	say := func(what, a, b string) string {
		if a == b {
			return ""
		}
		return fmt.Sprintf("%s %s, not %s", what, a, b)
	}
	var a, b bytes.Buffer
	for _, c := range []struct {
		to   *bytes.Buffer
		from json.RawMessage
	}{{&a, p.part.Parameters}, {&b, q.part.Parameters}} {
		if json.Compact(c.to, c.from) != nil {
			c.to.Write(c.from)
		}
	}
	hidden := func(what, a, b string) string {
		if a == b {
			return ""
		}
		return "other " + what
	}
	return cmp.Or(
		say("made by", p.Command, q.Command),
		say("one of", strconv.Itoa(p.Of), strconv.Itoa(q.Of)),
		say("store", p.Store, q.Store),
		say("parameters", a.String(), b.String()),
		say("type", p.Dtype, q.Dtype),
		hidden("labels", p.Labels, q.Labels),
		hidden("rows or columns", p.Nodes, q.Nodes),
		hidden("shape", p.whole(), q.whole()),
	)
}

// mergeMatrix puts the parts of a matrix together.
func mergeMatrix[T sparse.Float](in *invocation, parts []partFile, out string) error {
	if formatOf(out, denseFormats) != ".npy" {
		return usageOf("-o", "%s is not in the form of its parts; give a file with the ending .npy", out)
	}
	in.keeps(out)
	m := &matrixMerge[T]{in: in, parts: parts}
	defer m.close()
	if err := m.open(); err != nil {
		return err
	}
	files := &outputs{in: in}
	defer files.abort()
	d, err := files.beginDense(out)
	if err != nil {
		return err
	}
	size := d.bytes(axis{n: m.rows}, axis{n: m.cols}, bytesOf[T]())
	shape := fmt.Sprintf("%s × %s %s", formatCount(int64(m.rows)), formatCount(int64(m.cols)), parts[0].Dtype)
	if err := checkSpace(out, size, shape, "choose another disk"); err != nil {
		return err
	}
	rowIDs, colIDs, err := m.ids()
	if err != nil {
		return err
	}
	file, err := newDenseFile[T](d, rowIDs, colIDs, lines{})
	if err != nil {
		return err
	}
	if err := m.copyRows(file); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := in.writeRun(d.run, parts[0].run.Store, parts[0].run.Parameters); err != nil {
		return err
	}
	if err := files.commit(); err != nil {
		return err
	}
	r := &merged{Output: out, Command: parts[0].Command, Parts: len(parts), Rows: m.rows, Cols: m.cols, Dtype: parts[0].Dtype}
	if in.json {
		r.Closing = in.closing()
		return in.document(r)
	}
	fmt.Fprintf(in.summary(out), "%s of %s · %s\n%s · %s\n", counted(int64(r.Parts), "part"), r.Command, shape, in.cost(), out)
	return in.stdout.err
}

// matrixMerge reads the parts of a matrix.
type matrixMerge[T sparse.Float] struct {
	in         *invocation
	parts      []partFile
	rows, cols int // of the whole
	files      []*os.File
	read       []*npy.Array
	row        []float64 // of a part
}

// open opens the parts and checks that their shapes fit together.
func (m *matrixMerge[T]) open() error {
	rows, cols, at := 0, 0, 0
	for i := range m.parts {
		p := &m.parts[i]
		f, err := os.Open(p.path)
		if err != nil {
			return err
		}
		m.files = append(m.files, f)
		r, err := npy.Read(p.path, f)
		if wrong := new(npy.Error); errors.As(err, &wrong) {
			return &dataError{p.path, wrong.What + "; make the part again"}
		}
		if err != nil {
			return err
		}
		m.read = append(m.read, r)
		if r.Kind != 'f' || r.Width != bytesOf[T]() || len(r.Shape) != 2 || r.Fortran {
			return &dataError{p.path, fmt.Sprintf("is no matrix of %s by rows; make the part again", p.Dtype)}
		}
		if info, err := f.Stat(); err != nil {
			return err
		} else if want := r.Start + r.Len*int64(r.Width); info.Size() != want {
			return &dataError{p.path, fmt.Sprintf("has %d bytes where its header says %d; make the part again", info.Size(), want)}
		}
		if p.Lo != at || p.Hi <= p.Lo || p.Hi > p.Whole {
			return &dataError{p.path, fmt.Sprintf("holds %s %d to %d where %d comes next; make the part again", p.Axis, p.Lo, p.Hi, at)}
		}
		at = p.Hi
		along, across := int(r.Shape[0]), int(r.Shape[1])
		if p.Axis == byRows {
			along, across = across, along
		}
		if across != (p.Hi-p.Lo)*p.Groups || i > 0 && along != rows {
			return &dataError{p.path, fmt.Sprintf("is a matrix of %d × %d, which is not what its run file says; make the part again", r.Shape[0], r.Shape[1])}
		}
		rows = along
		cols += across
	}
	last := &m.parts[len(m.parts)-1]
	if at != last.Whole {
		return &dataError{last.path, fmt.Sprintf("ends with %d of %d %s; make the part again", at, last.Whole, last.Axis)}
	}
	m.rows, m.cols = rows, cols
	if last.Axis == byRows {
		m.rows, m.cols = cols, rows
	}
	m.row = make([]float64, m.cols)
	return nil
}

func (m *matrixMerge[T]) close() {
	for _, f := range m.files {
		_ = f.Close() // it was only read
	}
}

// copyRows writes the rows of the whole.
func (m *matrixMerge[T]) copyRows(file *tablefile.Writer[T]) error {
	stage := m.in.progress.begin("merging", int64(m.rows), "row")
	row := make([]T, m.cols)
	for i := range m.rows {
		if m.in.ctx.Err() != nil {
			return context.Cause(m.in.ctx)
		}
		if err := m.rowTo(row, i); err != nil {
			return err
		}
		if err := file.Row(row); err != nil {
			return err
		}
		stage.set(int64(i+1), int64(m.rows))
	}
	return nil
}

// rowTo stores row i of the whole in dst.
func (m *matrixMerge[T]) rowTo(dst []T, i int) error {
	for k := range m.parts {
		p := &m.parts[k]
		if p.Axis == byRows && (i < p.Lo || i >= p.Hi) {
			continue
		}
		values := m.row[:m.read[k].Shape[1]]
		if err := m.read[k].Floats(values); err != nil {
			return err
		}
		if p.Axis == byRows {
			return narrowTo(dst, values)
		}
		wide := p.Hi - p.Lo
		for g := range p.Groups {
			if err := narrowTo(dst[g*p.Whole+p.Lo:], values[g*wide:(g+1)*wide]); err != nil {
				return err
			}
		}
	}
	return nil
}

// ids reads the names of the rows and columns of the whole.
func (m *matrixMerge[T]) ids() (rows, cols axis, err error) {
	var shared axis
	var joined []string
	for k := range m.parts {
		p := &m.parts[k]
		base := strings.TrimSuffix(p.path, filepath.Ext(p.path))
		own, other := base+".cols.ids", base+".rows.ids"
		along := m.read[k].Shape[0]
		if p.Axis == byRows {
			own, other, along = other, own, m.read[k].Shape[1]
		}
		if k == 0 {
			if shared, err = m.in.readIDFile(other, int(along)); err != nil {
				return rows, cols, err
			}
			joined = make([]string, p.Whole*p.Groups)
		}
		wide := p.Hi - p.Lo
		list, err := m.in.readIDFile(own, wide*p.Groups)
		if err != nil {
			return rows, cols, err
		}
		for i := range list.n {
			joined[i/wide*p.Whole+p.Lo+i%wide] = list.id(i)
		}
	}
	if m.parts[0].Axis == byRows {
		return axisOf(joined), shared, nil
	}
	return shared, axisOf(joined), nil
}

func axisOf(names []string) axis {
	return axis{len(names), func(i int) string { return names[i] }}
}

// readIDFile reads n ids, one a line.
func (in *invocation) readIDFile(path string, n int) (axis, error) {
	names, err := nodefile.ReadNames(in.ctx, path, n, in.stdin)
	if err != nil {
		return axis{}, err
	}
	if names.Len() != n {
		return axis{}, &dataError{path, fmt.Sprintf("%s, want %s; list the id of each once, in order", counted(int64(names.Len()), "id"), formatCount(int64(n)))}
	}
	return axis{n, names.Name}, nil
}
