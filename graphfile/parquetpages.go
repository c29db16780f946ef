package graphfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// The library takes what a footer or page header declares. Both are looked at before
// it reads them.

// footerBytes returns about how much memory a footer takes when it is decoded, from
// the number of its records.
func footerBytes(footer []byte) (int64, error) {
	const copies, record, stringBytes = 3, 2 << 10, 16
	var protocol thrift.CompactProtocol
	c := &counter{r: protocol.NewReaderFromBytes(footer)}
	err := c.value(thrift.STRUCT, 0)
	return copies*int64(len(footer)) + record*c.records + stringBytes*c.strings, err
}

// counter counts records, and what else takes memory beside its bytes, in a message
// of thrift.
type counter struct {
	r                thrift.Reader
	records, strings int64
}

// errThrift is a message that cannot be read.
var errThrift = errors.New("records that cannot be read")

// thriftDepth bounds how deep records may lie in records.
const thriftDepth = 32

// value reads a value of a type.
func (c *counter) value(kind thrift.Type, depth int) (err error) {
	if depth > thriftDepth {
		return errThrift
	}
	switch kind {
	case thrift.TRUE, thrift.FALSE:
	case thrift.I8:
		_, err = c.r.ReadInt8()
	case thrift.I16:
		_, err = c.r.ReadInt16()
	case thrift.I32:
		_, err = c.r.ReadInt32()
	case thrift.I64:
		_, err = c.r.ReadInt64()
	case thrift.DOUBLE:
		_, err = c.r.ReadFloat64()
	case thrift.BINARY:
		c.strings++
		_, err = c.r.ReadBytes()
	case thrift.LIST, thrift.SET:
		list, err := c.r.ReadList()
		for i := int32(0); i < list.Size && err == nil; i++ {
			if list.Type == thrift.TRUE || list.Type == thrift.FALSE {
				_, err = c.r.ReadBool() // not in its header as that of a field
			} else {
				err = c.value(list.Type, depth+1)
			}
		}
		return err
	case thrift.STRUCT:
		c.records++
		for {
			field, err := c.r.ReadField()
			if err != nil || field.Type == thrift.STOP {
				return err
			}
			if err := c.value(field.Type, depth+1); err != nil {
				return err
			}
		}
	default:
		err = errThrift
	}
	return err
}

// pageHeader reads the header of the page that begins at offset, and returns how long
// it is: usually some dozen bytes, but it may hold the least and the largest value twice.
func (t *edgeTable) pageHeader(offset int64) (h *format.PageHeader, length int64, err error) {
	for _, most := range []int{1 << 10, 1 << 16, 4*maxWord + 1<<10} {
		b := make([]byte, most)
		n, readErr := t.content.ReadAt(b, offset)
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return nil, 0, readErr
		}
		var protocol thrift.CompactProtocol
		r := protocol.NewReaderFromBytes(b[:n])
		h = new(format.PageHeader)
		if err = thrift.NewDecoder(r).Decode(h); err == nil {
			return h, int64(r.BytesRead()), nil
		}
		if n < most {
			break
		}
	}
	return nil, 0, err
}

// chunkBytes looks at the pages of a column in one row group: none may become longer
// than its header declares. It returns how much memory they take at the most: the
// dictionary, and two pages of which one is made while the other is still there.
func (t *edgeTable) chunkBytes(name string, chunk *format.ColumnMetaData, rows int64) (int64, error) {
	at, end := chunk.DataPageOffset, int64(0)
	if chunk.DictionaryPageOffset != 0 {
		at = chunk.DictionaryPageOffset
	}
	end = min(at+chunk.TotalCompressedSize, t.size)
	var dictionary, page int64
	for values := int64(0); values < rows; {
		damaged := func(what string) error {
			e := t.fault(0, fetchAgain, "column %s: %s", name, what)
			e.Byte, e.AtByte = at, true
			return e
		}
		if at < 0 || at >= end {
			return 0, damaged("its pages end early")
		}
		h, length, err := t.pageHeader(at)
		if err != nil {
			return 0, damaged("no header of a page")
		}
		packed, plain := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
		if packed < 0 || plain < 0 || packed > end-at-length {
			return 0, damaged("a page that goes beyond its column")
		}
		n, levels, isPacked := shape(h)
		if n < 0 || levels < 0 || levels > min(packed, plain) {
			return 0, damaged("a header of a page with impossible numbers")
		}
		bytes := packed + plain + valueBytes(h)*n
		if err := t.hold(t.taken + dictionary + max(2*page, bytes)); err != nil {
			return 0, err
		}
		if isPacked && chunk.Codec != format.Uncompressed {
			data := make([]byte, packed)
			if _, err := t.content.ReadAt(data, at+length); err != nil && !errors.Is(err, io.EOF) {
				return 0, err
			}
			if !inflates(chunk.Codec, data[levels:], plain-levels) {
				return 0, damaged("a page that does not have the size that its header declares")
			}
		}
		if h.Type == format.DictionaryPage {
			dictionary = max(dictionary, bytes+plain)
		} else {
			values += n
			page = max(page, bytes)
		}
		at += length + packed
	}
	return dictionary + 2*page, nil
}

// valueBytes returns what a value takes beside the page: whether it is null, and a
// number of the dictionary or the end of a string, or what differences unfold to.
func valueBytes(h *format.PageHeader) int64 {
	encoding := h.DataPageHeader.V.Encoding
	if h.DataPageHeaderV2.Valid {
		encoding = h.DataPageHeaderV2.V.Encoding
	}
	switch encoding {
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray, format.DeltaByteArray:
		return 13
	}
	return 5
}

// shape returns how many values a page has, how many bytes of levels come before what
// is compressed, and whether it is.
func shape(h *format.PageHeader) (values, levels int64, isPacked bool) {
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		return int64(h.DataPageHeader.V.NumValues), 0, true
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		v := &h.DataPageHeaderV2.V
		return int64(v.NumValues), int64(v.RepetitionLevelsByteLength) + int64(v.DefinitionLevelsByteLength), !v.IsCompressed.Valid || v.IsCompressed.V
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		return int64(h.DictionaryPageHeader.V.NumValues), 0, true
	}
	return -1, 0, false
}

// inflates reports whether data is that of so many bytes. The library lets it become
// as long as it will.
func inflates(codec format.CompressionCodec, data []byte, size int64) bool {
	if len(data) == 0 {
		return size == 0
	}
	var in io.Reader
	var err error
	switch codec {
	case format.Snappy:
		n, length := binary.Uvarint(data)
		return length > 0 && n == uint64(size)
	case format.Lz4Raw:
		n, err := lz4.UncompressBlock(data, make([]byte, size))
		return err == nil && int64(n) == size
	case format.Gzip:
		in, err = gzip.NewReader(bytes.NewReader(data))
	case format.Zstd:
		var d *zstd.Decoder
		if d, err = zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true)); err == nil {
			defer d.Close()
			in = d
		}
	case format.Brotli:
		in = brotli.NewReader(bytes.NewReader(data))
	default:
		return true // which the library refuses
	}
	if err != nil {
		return false
	}
	n, err := io.Copy(io.Discard, io.LimitReader(in, size+1))
	return err == nil && n == size
}
