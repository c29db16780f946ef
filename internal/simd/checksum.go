package simd

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of data appended to bytes whose checksum is crc. The checksum of no
// bytes is 0.
func Checksum(sum uint32, data []byte) uint32 {
	return checksum(sum, data)
}

func plainChecksum(sum uint32, data []byte) uint32 {
	return crc32.Update(sum, castagnoli, data)
}
