package parts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/file/textio"
)

// matrixParts reads the parts of a matrix, in .npy files, as one matrix.
type matrixParts struct {
	parts []Part
	files []*os.File
	read  []*npy.Array
	row   []float64 // of a part
}

// Merge reads the parts of a matrix, in the order of [Read], as one matrix. It calls put with the ids of
// the rows and columns of the whole matrix, and with a function that stores row i, which put must call for
// all rows in order. The error is that of put, an [*Error], or that of reading.
func Merge(ctx context.Context, parts []Part,
	put func(rows, cols tablefile.Axis, row func(i int, dst []float64) error) error) error {
	m := &matrixParts{parts: parts}
	defer func() {
		for _, f := range m.files {
			_ = f.Close() // opened for reading only
		}
	}()
	if err := m.openAll(ctx); err != nil {
		return err
	}
	rows, cols, err := m.ids(ctx)
	if err != nil {
		return err
	}
	return put(rows, cols, m.rowTo)
}

// openAll opens the files and checks that their shapes match.
func (m *matrixParts) openAll(ctx context.Context) error {
	along := 0
	across := 0
	position := 0
	for i := range m.parts {
		item := &m.parts[i]
		p := item.Matrix
		r, err := m.open(ctx, item)
		if err != nil {
			return err
		}
		if p.Lo != position || p.Hi <= p.Lo || p.Hi > p.Whole {
			return &Error{Path: item.Path,
				What: fmt.Sprintf("holds %s %d to %d where %d comes next; make the part again", p.Axis, p.Lo, p.Hi, position)}
		}
		position = p.Hi
		shared := int(r.Shape[0])
		extent := int(r.Shape[1])
		if p.Axis == ByRows {
			shared, extent = extent, shared
		}
		if extent != (p.Hi-p.Lo)*p.Groups || i > 0 && shared != along {
			return &Error{Path: item.Path,
				What: fmt.Sprintf("is a matrix of %d × %d, which is not what its run file says; make the part again", r.Shape[0], r.Shape[1])}
		}
		along = shared
		across += extent
	}
	last := &m.parts[len(m.parts)-1]
	if p := last.Matrix; position != p.Whole {
		return &Error{Path: last.Path,
			What: fmt.Sprintf("ends with %d of %d %s; make the part again",
				position, p.Whole, p.Axis)}
	}
	m.row = make([]float64, max(along, across))
	return nil
}

// open opens the file of a part and checks its header.
func (m *matrixParts) open(ctx context.Context, p *Part) (*npy.Array, error) {
	f, err := textio.OpenFile(ctx, p.Path)
	if err != nil {
		return nil, err
	}
	m.files = append(m.files, f)
	r, err := npy.Read(p.Path, f)
	if wrong := new(textio.Error); errors.As(err, &wrong) {
		return nil, &Error{Path: p.Path, What: wrong.Msg + "; make the part again"}
	}
	if err != nil {
		return nil, err
	}
	m.read = append(m.read, r)
	if r.Kind != 'f' || fmt.Sprintf("float%d", 8*r.Width) != p.Matrix.Dtype ||
		len(r.Shape) != 2 || r.Fortran {
		return nil, &Error{Path: p.Path,
			What: fmt.Sprintf("is no matrix of %s by rows; make the part again",
				p.Matrix.Dtype)}
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if want := r.Start + r.Len*int64(r.Width); info.Size() != want {
		return nil, &Error{Path: p.Path,
			What: fmt.Sprintf("has %d bytes where its header says %d; make the part again", info.Size(), want)}
	}
	return r, nil
}

// rowTo stores row i of the whole matrix in dst.
func (m *matrixParts) rowTo(i int, dst []float64) error {
	for k := range m.parts {
		p := m.parts[k].Matrix
		if p.Axis == ByRows && (i < p.Lo || i >= p.Hi) {
			continue
		}
		values := m.row[:m.read[k].Shape[1]]
		if err := m.read[k].Floats(values); err != nil {
			return err
		}
		if p.Axis == ByRows {
			copy(dst, values)
			return nil
		}
		wide := p.Hi - p.Lo
		for g := range p.Groups {
			copy(dst[g*p.Whole+p.Lo:], values[g*wide:(g+1)*wide])
		}
	}
	return nil
}

// ids reads the ids of the rows and columns of the whole matrix from the id files of the parts.
func (m *matrixParts) ids(ctx context.Context) (rows, cols tablefile.Axis, err error) {
	var shared tablefile.Axis
	var joined []string
	for k := range m.parts {
		item := &m.parts[k]
		p := item.Matrix
		base := strings.TrimSuffix(item.Path, filepath.Ext(item.Path))
		first := base + ".cols.ids"
		second := base + ".rows.ids"
		along := m.read[k].Shape[0]
		if p.Axis == ByRows {
			first, second, along = second, first, m.read[k].Shape[1]
		}
		if k == 0 {
			if shared, err = tablefile.ReadAxis(ctx, second, int(along), nil); err != nil {
				return rows, cols, err
			}
			joined = make([]string, p.Whole*p.Groups)
		}
		wide := p.Hi - p.Lo
		names, err := tablefile.ReadAxis(ctx, first, wide*p.Groups, nil)
		if err != nil {
			return rows, cols, err
		}
		for i := range wide * p.Groups {
			joined[i/wide*p.Whole+p.Lo+i%wide] = names.ID(i)
		}
	}
	axis := tablefile.AxisOf(joined)
	if m.parts[0].Matrix.Axis == ByRows {
		return axis, shared, nil
	}
	return shared, axis, nil
}
