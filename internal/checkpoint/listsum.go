package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// ListSum returns a hash of names, unless nil, and lists of numbers, by which runs compare their
// labels, rows and columns.
func ListSum(names []string, lists ...[]int) string {
	h := sha256.New() // its writes do not fail
	if names != nil {
		text, err := json.Marshal(names)
		if err != nil {
			panic(err) // strings can be written
		}
		h.Write(text)
	}
	text := make([]byte, 0, 8<<10)
	for _, list := range lists {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(list)))
		for chunk := range slices.Chunk(list, cap(text)/8-1) {
			for _, v := range chunk {
				text = binary.LittleEndian.AppendUint64(text, uint64(v))
			}
			h.Write(text)
			text = text[:0]
		}
	}
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil)[:16])
}
