package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/andybalholm/brotli"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// The library takes what a footer, a page header or a list of differences declares. They
// are looked at before it reads them.

// maxWord bounds the bytes of one value.
const maxWord = 1 << 20

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
func (t *Reader) pageHeader(offset int64) (h *format.PageHeader, length int64, err error) {
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
func (t *Reader) chunkBytes(name string, chunk *format.ColumnMetaData, rows int64, optional bool) (int64, error) {
	at, end := chunk.DataPageOffset, int64(0)
	if chunk.DictionaryPageOffset != 0 {
		at = chunk.DictionaryPageOffset
	}
	end = min(at+chunk.TotalCompressedSize, t.size)
	var dictionary, page int64
	for values := int64(0); values < rows; {
		damaged := func(what string) error {
			return &textio.Error{File: t.name, Msg: "column " + name + ": " + what, Fix: fetchAgain, Byte: at, AtByte: true}
		}
		if at < 0 || at >= end {
			return 0, damaged("its pages end early")
		}
		h, length, err := t.pageHeader(at)
		if err != nil {
			return 0, damaged("no header of a page")
		}
		compressed, plain := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
		if compressed < 0 || plain < 0 || compressed > end-at-length {
			return 0, damaged("a page that goes beyond its column")
		}
		n, levels, isPacked := shape(h)
		if n < 0 || levels < 0 || levels > min(compressed, plain) {
			return 0, damaged("a header of a page with impossible numbers")
		}
		taken := compressed + plain + valueBytes(h)*n
		if err := t.hold(t.taken + dictionary + max(2*page, taken)); err != nil {
			return 0, err
		}
		codec, differences := chunk.Codec, isDelta(encodingOf(h))
		if !isPacked {
			codec = format.Uncompressed
		}
		if codec != format.Uncompressed || differences {
			data := make([]byte, compressed)
			if _, err := t.content.ReadAt(data, at+length); err != nil && !errors.Is(err, io.EOF) {
				return 0, err
			}
			text := io.Discard
			var whole bytes.Buffer
			if differences {
				text = &whole
			}
			if !inflates(text, codec, data[levels:], plain-levels) {
				return 0, damaged("a page that does not have the size that its header declares")
			}
			if differences {
				unfolded, ok := unfoldedBytes(h, whole.Bytes(), n, optional)
				if !ok {
					return 0, damaged("a page of differences with impossible numbers")
				}
				taken += unfolded
				if err := t.hold(t.taken + dictionary + max(2*page, taken)); err != nil {
					return 0, err
				}
			}
		}
		if h.Type == format.DictionaryPage {
			dictionary = max(dictionary, taken+plain)
		} else {
			values += n
			page = max(page, taken)
		}
		at += length + compressed
	}
	return dictionary + 2*page, nil
}

// encodingOf returns how the values of a page are written.
func encodingOf(h *format.PageHeader) format.Encoding {
	switch {
	case h.Type == format.DictionaryPage:
		return h.DictionaryPageHeader.V.Encoding
	case h.DataPageHeaderV2.Valid:
		return h.DataPageHeaderV2.V.Encoding
	}
	return h.DataPageHeader.V.Encoding
}

// isDelta reports whether values are written as differences, whose number and sums the
// library believes.
func isDelta(e format.Encoding) bool {
	return e == format.DeltaBinaryPacked || e == format.DeltaLengthByteArray || e == format.DeltaByteArray
}

// valueBytes returns what a value takes beside the page: whether it is null, and a
// number of the dictionary or the end of a string, or what differences unfold to.
func valueBytes(h *format.PageHeader) int64 {
	if isDelta(encodingOf(h)) {
		return 13
	}
	return 5
}

// unfoldedBytes returns what the values of a page of differences take beyond its own
// bytes: what strings share with those before them. Of v1 the page begins with the
// levels of an optional column.
func unfoldedBytes(h *format.PageHeader, page []byte, values int64, optional bool) (sum int64, ok bool) {
	if h.Type == format.DictionaryPage {
		return 0, false
	}
	if h.Type == format.DataPage && optional {
		if len(page) < 4 {
			return 0, false
		}
		length := int64(binary.LittleEndian.Uint32(page))
		if length > int64(len(page)-4) {
			return 0, false
		}
		page = page[4+length:]
	}
	if encodingOf(h) != format.DeltaByteArray {
		head, _, ok := deltaHead(page)
		return 0, ok && head[2] <= values
	}
	sum, rest, ok := deltaSum(page, values)
	if !ok {
		return 0, false
	}
	_, _, ok = deltaSum(rest, values)
	return sum, ok
}

// deltaHead returns what a list of DELTA_BINARY_PACKED declares, values of a block, parts
// of a block and values, and what follows; an empty page has none.
func deltaHead(page []byte) (head [3]int64, rest []byte, ok bool) {
	for i := 0; i < len(head) && (i > 0 || len(page) > 0); i++ {
		v, n := binary.Uvarint(page)
		if n <= 0 || v > math.MaxInt32 {
			return head, nil, false
		}
		head[i], page = int64(v), page[n:]
	}
	return head, page, true
}

// deltaSum adds up the lengths in a list of DELTA_BINARY_PACKED, of which there may be so
// many, none of them longer than a value may be, and returns what follows the list.
func deltaSum(page []byte, most int64) (sum int64, rest []byte, ok bool) {
	if len(page) == 0 {
		return 0, nil, true
	}
	head, rest, ok := deltaHead(page)
	_, n := binary.Varint(rest) // the first length
	block, parts, left := head[0], head[1], head[2]-1
	if !ok || n <= 0 || left >= most || parts == 0 {
		return 0, nil, false
	}
	for rest = rest[n:]; left > 0; left -= block {
		_, n := binary.Varint(rest)
		if n <= 0 || int64(len(rest)-n) < parts {
			return 0, nil, false
		}
		widths := rest[n : n+int(parts)]
		rest = rest[n+int(parts):]
		for i, width := range widths {
			if int64(i)*(block/parts) >= left {
				break // later parts are not there
			}
			size := block / parts * int64(width) / 8
			if width > 32 || size > int64(len(rest)) {
				return 0, nil, false
			}
			rest = rest[size:]
		}
	}
	lengths, err := parquet.DeltaBinaryPacked.DecodeInt32(nil, page)
	for _, length := range lengths {
		if sum += int64(length); length < 0 || length > maxWord {
			return 0, nil, false
		}
	}
	return sum, rest, err == nil
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

// inflates writes to w what data unpacks to, and reports whether that is so many bytes.
// The library lets it become as long as it will.
func inflates(w io.Writer, codec format.CompressionCodec, data []byte, size int64) bool {
	if len(data) == 0 {
		return size == 0
	}
	var in io.Reader
	var err error
	switch codec {
	case format.Uncompressed:
		in = bytes.NewReader(data)
	case format.Snappy:
		if n, length := binary.Uvarint(data); length <= 0 || n != uint64(size) {
			return false
		}
		if w == io.Discard {
			return true // the length is what the library believes, and checks
		}
		text, err := snappy.Decode(nil, data)
		if err != nil {
			return false
		}
		in = bytes.NewReader(text)
	case format.Lz4Raw:
		text := make([]byte, size)
		n, err := lz4.UncompressBlock(data, text)
		if err != nil || int64(n) != size {
			return false
		}
		in = bytes.NewReader(text)
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
	n, err := io.Copy(w, io.LimitReader(in, size+1))
	return err == nil && n == size
}
