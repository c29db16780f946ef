package simd

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func plainChecksum(sum uint32, data []byte) uint32 {
	return crc32.Update(sum, castagnoli, data)
}
