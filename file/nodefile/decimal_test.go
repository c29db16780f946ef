package nodefile

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/heatwalk/heatwalk/file/table"
)

func TestDecimals(t *testing.T) {
	type row struct {
		Short int32    `parquet:"short,decimal(2:9)"`
		Long  int64    `parquet:"long,decimal(3:18)"`
		Fixed [16]byte `parquet:"fixed,decimal(4:38)"`
		Whole int64    `parquet:"whole,decimal(0:18)"`
	}
	fixed := func(text string) (b [16]byte) {
		n, _ := new(big.Int).SetString(text, 10)
		if n.Sign() < 0 {
			n.Add(n, new(big.Int).Lsh(big.NewInt(1), 128))
		}
		n.FillBytes(b[:])
		return b
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []row{
		{150, 2250, fixed("15000"), 7},
		{-5, -1, fixed("-12345678901234567890123"), -7},
		{0, 100000, fixed("-1"), 0},
	}); err != nil {
		t.Fatal(err)
	}
	file, err := table.OpenParquet("e.parquet", bytes.NewReader(b.Bytes()), int64(b.Len()), 0, func(int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"1.5", "2.25", "1.5", "7"}, {"-0.05", "-0.001", "-1234567890123456789.0123", "-7"}, {"0", "100", "-0.0001", "0"}}
	columns := []int{0, 1, 2, 3}
	err = file.Each(columns, func(at int64, row table.ParquetRow) error {
		for i, leaf := range file.Leaves() {
			if got := string(row.AppendText(nil, i)); !leaf.IsText || got != want[at][i] {
				t.Errorf("row %d, %s: %q, want %q", at, leaf.Title, got, want[at][i])
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
