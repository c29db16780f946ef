package featurefile_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/heatwalk/heatwalk/featurefile"
)

// Features of two items in the text of LIBSVM.
func ExampleRead() {
	ctx := context.Background()
	tmp, err := os.MkdirTemp("", "featurefile")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	path := filepath.Join(tmp, "items.svm")
	if err := os.WriteFile(path, []byte("+1 1:0.5 3:2\n-1 2:1\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	f, err := featurefile.Inspect(ctx, path, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Rows, "rows,", f.Cols, "columns")
	err = featurefile.Read(ctx, f, func(label []byte, row []float64) error {
		fmt.Println(string(label), row)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 2 rows, 3 columns
	// +1 [0.5 0 2]
	// -1 [0 1 0]
}
