package tablefile

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/heatwalk/heatwalk/nodefile"
)

// ReadFeatures reads what is known of nodes, a row for each of them: a matrix that
// [Inspect] knows, whose rows the lines of the file ids name, or for "" what [File.Axis]
// says; or a table with the ids in a column ([nodefile.ReadFeatures]), beside which there
// is no such file. A matrix without ids is an error that wraps [ErrNoIDs], one that can
// be read once [ErrStream]. At most an eighth of the memory of c is for reading.
func ReadFeatures(ctx context.Context, path, ids string, nodes nodefile.Lookup, c *nodefile.FeatureConfig, stdin io.Reader) (*nodefile.Features, error) {
	if Detect(ctx, path) == Other {
		if ids != "" {
			return nil, fmt.Errorf("%w, and so none are read from %s", ErrTable, ids)
		}
		return nodefile.ReadFeatures(ctx, path, nodes, c)
	}
	if c == nil {
		c = new(nodefile.FeatureConfig)
	}
	f, err := Inspect(ctx, path, &Options{Memory: c.Memory / 8})
	if err != nil {
		return nil, err
	}
	var rows Axis
	if ids != "" {
		rows, err = ReadAxis(ctx, ids, f.Rows, stdin)
	} else {
		rows, err = f.Axis(ctx, "rows")
	}
	if err != nil {
		return nil, err
	}
	return nodefile.CollectFeatures(path, nodes, f.Cols, c, func(add func(int64, string, []float32) error) error {
		i := 0
		return Read(ctx, f, func(_ []byte, row []float32) error {
			i++
			return add(0, rows.ID(i-1), row)
		})
	})
}

// ErrTable is wrapped by what [ReadFeatures] returns where ids are named for a table.
var ErrTable = errors.New("tablefile: the ids of a table stand in a column")
