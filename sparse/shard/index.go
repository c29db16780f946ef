package shard

import (
	"encoding/binary"

	"github.com/heatwalk/heatwalk/sparse"
)

// Magic words at the beginning of the files other than shards, before the identity of the store.
const (
	indexMagic   = "HWindex\x00"
	degreesMagic = "HWdegree"
	nodesMagic   = "HWnodes\x00"
	orderMagic   = "HWorder\x00"
	fileHead     = 16
)

// indexEntry is the number of bytes of a frame in the index: its shard, bytes with the header, rows, entries, piece and
// pieces as uint32.
const indexEntry = 24

// frame says where a frame is stored.
type frame struct {
	shard  int32
	offset int64 // byte in the shard
	bytes  int32 // length with the header
}

type direction struct {
	frames []frame
	ranges []sparse.Range
}

func appendFileHead(dst []byte, magic string, identity uint64) []byte {
	dst = append(dst, magic...)
	return binary.LittleEndian.AppendUint64(dst, identity)
}

func appendIndexEntry(dst []byte, f frame, r sparse.Range) []byte {
	for _, v := range []int{int(f.shard), int(f.bytes), r.Hi - r.Lo, r.Entries,
		r.Piece, r.Pieces} {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return dst
}

// parseIndex returns the frames of both directions. It checks that the frames fill the shards, and that the ranges of
// each direction cover all rows in order.
func parseIndex(path string, b []byte, m *Manifest) (dirs [2]direction, err error) {
	shards := m.shards()
	var end int64 // end of the frames seen in the current shard
	shard := -1
	limit := int64(len(b) / indexEntry)
	if m.Frames[0] > limit || m.Frames[1] > limit ||
		int64(len(b)) != (m.Frames[0]+m.Frames[1])*indexEntry {
		return dirs, newDamage(path, "%d bytes for %d frames", len(b),
			m.Frames[0]+m.Frames[1])
	}
	for d := range dirs {
		dir := &dirs[d]
		n := int(m.Frames[d])
		dir.frames, dir.ranges = make([]frame, n), make([]sparse.Range, n)
		var rows, entries int64
		for i := range n {
			field := func(k int) int { return int(binary.LittleEndian.Uint32(b[4*k:])) }
			s := field(0)
			bytes := field(1)
			r := sparse.Range{Lo: int(rows), Hi: int(rows) + field(2),
				Entries: field(3), Piece: field(4), Pieces: field(5)}
			b = b[indexEntry:]
			if s != shard {
				if s != shard+1 || s >= len(shards) ||
					shard >= 0 && end != shards[shard].Bytes {
					return dirs, newDamage(path,
						"frame %d lies in shard %d after %d bytes of shard %d", i,
						s, end, shard)
				}
				shard = s
				end = 0
			}
			if bytes < headerBytes ||
				bytes > headerBytes+maxPayload(r.Hi-r.Lo, r.Entries) {
				return dirs, newDamage(path, "frame %d has %d bytes", i, bytes)
			}
			dir.frames[i] = frame{shard: int32(s), offset: end, bytes: int32(bytes)}
			dir.ranges[i] = r
			end += int64(bytes)
			if !follows(dir.ranges[:i], r) {
				return dirs, newDamage(path,
					"frame %d: rows %d to %d, %d entries, piece %d of %d", i, r.Lo,
					r.Hi, r.Entries, r.Piece, r.Pieces)
			}
			entries += int64(r.Entries)
			if r.Piece == r.Pieces-1 {
				rows = int64(r.Hi)
			}
		}
		if (d == 0 || m.Directed) && (rows != m.Rows || entries != m.Entries) {
			return dirs, newDamage(path,
				"%d rows and %d entries, manifest says %d and %d", rows, entries,
				m.Rows, m.Entries)
		}
	}
	if shard != len(shards)-1 || shard >= 0 && end != shards[shard].Bytes {
		return dirs, newDamage(path, "frames end at byte %d of shard %d",
			end, shard)
	}
	return dirs, nil
}

func follows(ranges []sparse.Range, r sparse.Range) bool {
	n := r.Hi - r.Lo
	if n < 1 || n > sparse.MaxRange || r.Entries > sparse.MaxRange ||
		r.Pieces < 1 || r.Piece >= r.Pieces {
		return false
	}
	if r.Pieces > 1 && (n > 1 || r.Entries < 1 ||
		r.Piece < r.Pieces-1 && r.Entries < sparse.MaxRange) {
		return false
	}
	if len(ranges) > 0 {
		if last := ranges[len(ranges)-1]; last.Piece < last.Pieces-1 {
			return r.Piece == last.Piece+1 && r.Pieces == last.Pieces
		}
	}
	return r.Piece == 0
}
