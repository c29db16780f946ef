package graphfile

import (
	"errors"
	"io"
)

// memoryFile is content in pieces of pieceBytes, so that growing copies nothing.
type memoryFile struct {
	pieces [][]byte
	size   int64
}

const pieceBytes = 1 << 20

// keep reads in to its end, but at most limit bytes, into memory. It calls hold before each allocation.
func (s *batchWriter) keep(in io.Reader) (*memoryFile, error) {
	k := &memoryFile{}
	for {
		if err := s.hold(int64(len(k.pieces)+1) * pieceBytes); err != nil {
			return nil, err
		}
		piece := make([]byte, pieceBytes)
		n, err := io.ReadFull(in, piece)
		k.pieces = append(k.pieces, piece[:n])
		k.size += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return k, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (k *memoryFile) ReadAt(p []byte, offset int64) (n int, err error) {
	for n < len(p) {
		if offset >= k.size {
			return n, io.EOF
		}
		m := copy(p[n:], k.pieces[offset/pieceBytes][offset%pieceBytes:])
		n += m
		offset += int64(m)
	}
	return n, nil
}
