package textio

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// CompressBytes bounds the memory of [Compress], where it is more than a little: that of
// zstd is its window, in blocks on their way.
func CompressBytes(path string) int64 {
	if strings.EqualFold(filepath.Ext(path), ".zst") {
		return 9 << 20
	}
	return 0
}

// Compress returns a writer to w that compresses as the ending of path says, and what
// finishes it. A window of 2 MiB packs lines as well as the usual 8 MiB do, as fast, and
// takes a fourth of the memory.
func Compress(w io.Writer, path string) (io.Writer, func() error, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".gz":
		z := gzip.NewWriter(w)
		return z, z.Close, nil
	case ".zst":
		z, err := zstd.NewWriter(w, zstd.WithWindowSize(2<<20), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return w, func() error { return nil }, nil
}
