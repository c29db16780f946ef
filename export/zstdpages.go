package export

import (
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// zstdPages compresses the pages of a Parquet file by one encoder, whose window
// is a little more than a page. Those of parquet.Zstd have room for 8 MiB twice
// and are made anew after each garbage collection.
type zstdPages struct {
	compress.Codec
	encoder *zstd.Encoder
}

func newZstdPages() zstdPages {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20),
		zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // of the options
	}
	return zstdPages{&parquet.Zstd, encoder}
}

// Encode implements [compress.Codec].
func (z zstdPages) Encode(dst, page []byte) ([]byte, error) {
	return z.encoder.EncodeAll(page, dst[:0]), nil
}
