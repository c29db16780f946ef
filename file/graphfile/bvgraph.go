package graphfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// BVGraph is the compressed format of WebGraph (P. Boldi and S. Vigna, The WebGraph Framework I, WWW 2004): a stream
// of bits in x.graph, and counts and codes in x.properties. METIS files have the same ending; see [IsBVGraph].
var BVGraph = &Format{Title: "BVGraph", Endings: []string{".graph"},
	Read: readBatches(readBVGraph)}

// IsBVGraph reports whether a file has the properties of a BVGraph next to it.
func IsBVGraph(ctx context.Context, name string) bool {
	text, err := textio.ReadFile(ctx, propertiesOf(name), maxProperties)
	return err == nil && bytes.Contains(text, []byte("BVGraph"))
}

// MissingProperties returns the name of the .properties file that belongs to a file, if the first line of head is
// binary. For text it returns "".
func MissingProperties(name string, head []byte) string {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	isBinary := func(c rune) bool { return c < '\t' || c > '\r' && c < ' ' || c == utf8.RuneError }
	if !bytes.ContainsFunc(line, isBinary) || bytes.HasPrefix(line, []byte{'%'}) {
		return ""
	}
	return propertiesOf(name)
}

// maxProperties bounds a .properties file; WebGraph writes 1 KiB.
const maxProperties = 1 << 20

func propertiesOf(name string) string {
	return name[:strings.LastIndex(strings.ToLower(name), table.Extension(name))] +
		".properties"
}

// bvGraph reads a BVGraph. Successors of a node are copied from an earlier node, or given by intervals and gaps.
type bvGraph struct {
	out   *batchWriter
	in    bitReader
	nodes uint64
	arcs  uint64

	window      uint64 // successors may be copied from one of this many nodes before
	minInterval uint64 // least length of an interval; 0: none
	zeta        uint   // k of the code ζ_k

	degree, reference, blocks, block, residual func() uint64

	lists            [][]uint32 // successors of node x at x mod (window+1)
	extra            []uint32   // successors that are not copied
	intervals, gaps  []uint32   // the two kinds of extra successors
	copied           []uint32
	decoded          uint64 // arcs decoded so far
	allocatedEntries int
}

func readBVGraph(s *batchWriter) (*Summary, error) {
	g := &bvGraph{out: s}
	if err := g.configure(); err != nil {
		return nil, err
	}
	g.in = bitReader{in: bufio.NewReaderSize(s.Text, bufferBytes)}
	g.out.numbered = true
	g.lists = make([][]uint32, g.window+1)
	for x := range g.nodes {
		list := g.successors(x)
		if g.in.err != nil {
			return nil, g.at(x)
		}
		for _, v := range list {
			if err := g.out.numbers(x, uint64(v), 1); err != nil {
				return nil, err
			}
		}
		if err := g.out.hold(4 * int64(g.allocatedEntries)); err != nil {
			return nil, err
		}
	}
	if g.decoded != g.arcs {
		return nil, g.atByte("%s, where %s declares %d",
			words.Counted(g.decoded, "arc"), propertiesOf(g.out.Name), g.arcs)
	}
	if rest, _ := g.in.in.Peek(9); len(rest)+int(g.in.have/8) > 8 { // writers fill the last word
		return nil, g.atByte("more than 8 bytes follow the last node")
	}
	return &Summary{Direction: BySymmetry, Numbered: true, Nodes: g.nodes}, nil
}

func (g *bvGraph) at(x uint64) error {
	switch err := g.in.err; {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return g.atByte("the file ends in the successors of node %d of %d", x, g.nodes)
	case errors.Is(err, errBits):
		return g.atByte("the successors of node %d are damaged", x)
	default:
		return err
	}
}

func (g *bvGraph) atByte(format string, args ...any) error {
	e := g.out.fault(0, fetchAgain, format, args...)
	e.Byte = g.in.bytes - int64(g.in.have+7)/8
	e.AtByte = true
	return e
}

func (g *bvGraph) configure() error {
	name := propertiesOf(g.out.Name)
	text, err := textio.ReadFile(context.Background(), name, maxProperties)
	if err != nil {
		return err
	}
	values := map[string]string{"windowsize": "7", "minintervallength": "4",
		"zetak": "3", "version": "0"}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		key, value, isProperty := strings.Cut(line, "=")
		if !isProperty {
			return textio.Fault(name, int64(i+1), fetchAgain,
				"%s is not a property", words.Quoted(line))
		}
		values[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	refuse := func(fix, format string, args ...any) error { return textio.Fault(name, 0, fix, format, args...) }
	if class := values["graphclass"]; !strings.HasSuffix(class, "webgraph.BVGraph") {
		return refuse("it.unimi.dsi.webgraph.BVGraph writes one of any other class",
			"graphclass is %s, want it.unimi.dsi.webgraph.BVGraph",
			words.Quoted(class))
	}
	var k uint64
	for key, target := range map[string]*uint64{"nodes": &g.nodes, "arcs": &g.arcs,
		"windowsize": &g.window, "minintervallength": &g.minInterval, "zetak": &k} {
		if *target, err = strconv.ParseUint(values[key], 10, 63); err != nil {
			return refuse(fetchAgain, "%s is %s, want a number", key,
				words.Quoted(values[key]))
		}
	}
	switch {
	case values["version"] != "0":
		return refuse("", "version %s; version 0 is read",
			words.Quoted(values["version"]))
	case strings.EqualFold(values["endianness"], "little"):
		return refuse("write it with the bits in big-endian order",
			"bits in little-endian order are not read")
	case g.nodes > MaxNodes:
		return refuse("", "%d nodes; limit %d", g.nodes, uint64(MaxNodes))
	case g.window > 1<<10:
		return refuse(fetchAgain, "windowsize %d; limit 1,024", g.window)
	case k < 1 || k > 32:
		return refuse(fetchAgain, "zetak %d is out of range; 1 to 32", k)
	}
	g.zeta = uint(k)
	return g.choose(values["compressionflags"], refuse)
}

// choose sets the code of each kind of number from flags such as RESIDUALS_DELTA. Kinds without a flag have the
// default code. refuse makes the error.
func (g *bvGraph) choose(flags string,
	refuse func(fix, format string, args ...any) error) error {
	b := &g.in
	codes := map[string]func() uint64{
		"UNARY": b.unary, "GAMMA": b.gamma, "DELTA": b.delta, "ZETA": func() uint64 { return b.zeta(g.zeta) },
	}
	kinds := map[string]*func() uint64{"OUTDEGREES": &g.degree, "REFERENCES": &g.reference, "BLOCK_COUNT": &g.blocks, "BLOCKS": &g.block, "RESIDUALS": &g.residual, "OFFSETS": new(func() uint64)}
	g.degree = b.gamma
	g.reference = b.unary
	g.blocks = b.gamma
	g.block = b.gamma
	g.residual = codes["ZETA"]
	for flag := range strings.SplitSeq(flags, "|") {
		flag = strings.TrimSpace(flag)
		if flag == "" {
			continue
		}
		position := strings.LastIndex(flag, "_")
		kind := kinds[flag[:max(position, 0)]]
		code := codes[flag[position+1:]]
		if kind == nil || code == nil {
			return refuse("it.unimi.dsi.webgraph.BVGraph writes the graph again with the usual codes", "compressionflags has %s, which is not read", words.Quoted(flag))
		}
		*kind = code
	}
	return nil
}

// successors decodes the increasing successors of node x. The slice is valid until the successors of node x+window+1
// are decoded. An error is kept in g.in.err.
func (g *bvGraph) successors(x uint64) []uint32 {
	slot := &g.lists[x%(g.window+1)]
	list := (*slot)[:0]
	degree := g.degree()
	g.decoded += degree
	if degree > g.nodes || g.decoded > g.arcs {
		g.in.fail()
	}
	if degree == 0 || g.in.err != nil {
		*slot = list
		return list
	}
	copied := g.copyFrom(x, degree)
	extra := g.extraOf(x, degree-uint64(len(copied)))
	if g.in.err != nil {
		return nil
	}
	capacity := cap(list)
	list = merge(list, copied, extra)
	g.allocatedEntries += cap(list) - capacity
	*slot = list
	for i, v := range list {
		if uint64(v) >= g.nodes || i > 0 && v <= list[i-1] {
			g.in.fail()
			return nil
		}
	}
	return list
}

// copyFrom returns the successors that node x of the given degree copies from an earlier list. Copied and skipped
// blocks of that list alternate.
func (g *bvGraph) copyFrom(x, degree uint64) []uint32 {
	if g.window == 0 {
		return nil
	}
	back := g.reference()
	if back == 0 || g.in.err != nil {
		return nil
	}
	if back > g.window || back > x {
		g.in.fail()
		return nil
	}
	source := g.lists[(x-back)%(g.window+1)]
	count := g.blocks()
	if count > uint64(len(source))+1 {
		g.in.fail()
		return nil
	}
	copied := g.copied[:0]
	position := uint64(0)
	for i := range count {
		length := g.block()
		if i > 0 {
			length++
		}
		if length > uint64(len(source))-position {
			g.in.fail()
			return nil
		}
		if i%2 == 0 {
			copied = append(copied, source[position:position+length]...)
		}
		position += length
	}
	if count%2 == 0 { // the rest of the list is a copied block
		copied = append(copied, source[position:]...)
	}
	if uint64(len(copied)) > degree {
		g.in.fail()
	}
	g.copied = copied
	return copied
}

// extraOf returns the count successors of node x that are not copied.
func (g *bvGraph) extraOf(x, count uint64) []uint32 {
	if count == 0 || g.in.err != nil {
		return nil
	}
	intervals := g.intervals[:0]
	gaps := g.gaps[:0]
	if g.minInterval > 0 {
		node := uint64(0)
		for i := range g.in.gamma() {
			if i == 0 {
				node = x + decodeSigned(g.in.gamma())
			} else {
				node += g.in.gamma() + 1
			}
			length := g.in.gamma() + g.minInterval
			if length > count-uint64(len(intervals)) || node >= g.nodes ||
				length > g.nodes-node {
				g.in.fail()
				return nil
			}
			for range length {
				intervals = append(intervals, uint32(node))
				node++
			}
		}
	}
	node := x
	for i := range count - uint64(len(intervals)) {
		if i == 0 {
			node += decodeSigned(g.residual())
		} else {
			node += g.residual() + 1
		}
		if node >= g.nodes || g.in.err != nil {
			g.in.fail()
			return nil
		}
		gaps = append(gaps, uint32(node))
	}
	g.intervals = intervals
	g.gaps = gaps
	g.extra = merge(g.extra[:0], intervals, gaps)
	return g.extra
}

// decodeSigned maps 0, 1, 2, 3 … to 0, −1, 1, −2 …, modulo 2⁶⁴.
func decodeSigned(n uint64) uint64 {
	if n%2 == 0 {
		return n / 2
	}
	return ^(n / 2)
}

func merge(dst, a, b []uint32) []uint32 {
	dst = slices.Grow(dst, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			dst = append(dst, a[0])
			a = a[1:]
		} else {
			dst = append(dst, b[0])
			b = b[1:]
		}
	}
	return append(append(dst, a...), b...)
}
