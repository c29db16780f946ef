package test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/multi"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/npy"
	_ "github.com/heatwalk/heatwalk/file/parquetfile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// TestMain makes tests not wait for a disk. The collector runs less often, because graphs are short-lived.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	durable.OS = durabletest.Unsynced(durable.OS)
	os.Exit(m.Run())
}

type line struct {
	u, v       int
	weight     float64
	kind, date string
}

type drawn struct {
	seed                                uint64
	ids                                 []string
	lines                               []line
	directed, weighted, signed, numeric bool
	kinds, dates                        bool
	repeated                            bool // some edge has several lines
}

// All lines of an undirected edge name its ends in the same order, because otherwise a matrix would not be symmetric.
func draw(seed uint64) *drawn {
	rng := rand.New(rand.NewPCG(seed, 76))
	isDrawn := func(p float64) bool { return rng.Float64() < p }
	d := &drawn{seed: seed, directed: isDrawn(0.5), weighted: isDrawn(0.75), numeric: isDrawn(0.6), kinds: isDrawn(0.3), dates: isDrawn(0.2)}
	d.signed = d.weighted && isDrawn(0.25)
	n := 2 + rng.IntN(9)
	taken := map[string]bool{}
	for len(d.ids) < n {
		id := []string{"ann", "bob", "cid d", "e&f", "<g>", "Häge", "x.1", "n0", "n1", "y:2", "z-3", `q"r`}[rng.IntN(12)]
		if d.numeric {
			id = strconv.Itoa(rng.IntN(30))
			if isDrawn(0.1) {
				id = strconv.Itoa(rng.IntN(1<<40) - 1<<30)
			}
		}
		if !taken[id] {
			taken[id] = true
			d.ids = append(d.ids, id)
		}
	}
	if d.numeric { // the order of nodes
		slices.SortFunc(d.ids, func(a, b string) int {
			x, _ := strconv.Atoi(a)
			y, _ := strconv.Atoi(b)
			return x - y
		})
	}
	seen, loops := map[[2]int]bool{}, isDrawn(0.5)
	for range 1 + rng.IntN(3*n) {
		l := line{u: rng.IntN(n), v: rng.IntN(n), weight: 1, kind: []string{"pays", "calls", "likes"}[rng.IntN(3)], date: fmt.Sprintf("2024-01-0%d", 1+rng.IntN(3))}
		if len(d.lines) > 0 && isDrawn(0.3) {
			earlier := d.lines[rng.IntN(len(d.lines))]
			l.u, l.v = earlier.u, earlier.v
		}
		if l.u == l.v && !loops || !d.directed && seen[[2]int{l.v, l.u}] && l.u != l.v {
			continue
		}
		switch {
		case d.signed: // sums are exact, so that some are 0
			l.weight = float64(rng.IntN(9) - 4)
		case d.weighted && isDrawn(0.3):
			l.weight = float64(rng.IntN(5))
		case d.weighted:
			l.weight = math.Pow(10, 12*rng.Float64()-6)
		}
		d.repeated = d.repeated || seen[[2]int{l.u, l.v}]
		seen[[2]int{l.u, l.v}] = true
		d.lines = append(d.lines, l)
	}
	return d
}

// cell is an entry of A: its ends by id, its kind and its date.
type cell struct{ u, v, kind, date string }

// Weights of an edge are added; lines without weights are one edge.
func (d *drawn) entries(kinds, dates, loops bool) map[cell]float64 {
	a := map[cell]float64{}
	for _, l := range d.lines {
		if l.u == l.v && !loops {
			continue
		}
		c := cell{u: d.ids[l.u], v: d.ids[l.v]}
		if kinds {
			c.kind = l.kind
		}
		if dates {
			c.date = l.date
		}
		ends := []cell{c}
		if !d.directed && l.u != l.v {
			ends = append(ends, cell{c.v, c.u, c.kind, c.date})
		}
		for _, c := range ends {
			if a[c] += l.weight; !d.weighted {
				a[c] = 1
			}
		}
	}
	maps.DeleteFunc(a, func(_ cell, w float64) bool { return w == 0 })
	return a
}

func entriesOf(t *testing.T, g *heatwalk.Graph) map[cell]float64 {
	t.Helper()
	a := map[cell]float64{}
	matrix := g.A
	if g.Store != nil {
		matrix = g.Store.Store // the store has an entry for each kind and date of a pair
	}
	err := shard.EachCodedRow(t.Context(), matrix, func(row int, col []uint32, val []float64, codes []uint32) error {
		for e, j := range col {
			c := cell{u: g.Nodes.ID(row), v: g.Nodes.ID(int(j))}
			if codes != nil && g.Store.Manifest.Kinds != nil {
				c.kind = g.Store.Manifest.Kinds[shard.KindOf(codes[e])].Name
			}
			if codes != nil && g.Store.Manifest.Times != nil {
				c.date = g.Store.Manifest.Times.Text(shard.TimeOf(codes[e]))
			}
			a[c] += val[e]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// way writes a drawn graph, or converts it.
type way struct {
	name  string
	write func(d *drawn) []byte
	takes func(d *drawn) bool // nil: every graph

	states, lists, numbered, kinds, dates bool // the file has directions, all nodes, its own numbers, and it may have kinds and dates
}

var ways = []way{
	{name: "e.tsv", write: func(d *drawn) []byte { return d.table("\t", false) }, takes: func(d *drawn) bool { return !slices.Contains(d.ids, `q"r`) }},
	{name: "e.csv", write: func(d *drawn) []byte { return d.table(",", true) }, kinds: true, dates: true},
	{name: "e.edgelist", write: (*drawn).dictionaries, takes: func(d *drawn) bool { return d.numeric }},
	{name: "e.parquet", write: (*drawn).parquet, kinds: true},
	{name: "e.graphml", write: (*drawn).graphML, states: true, lists: true, kinds: true},
	{name: "e.json", write: (*drawn).jsonLines, lists: true, kinds: true},
	{name: "e.mtx", write: (*drawn).market, numbered: true},
	{name: "coo.npz", write: func(d *drawn) []byte { return d.npz("coo") }, numbered: true},
	{name: "csr.npz", write: func(d *drawn) []byte { return d.npz("csr") }, numbered: true},
	{name: "csc.npz", write: func(d *drawn) []byte { return d.npz("csc") }, numbered: true},
}

// All ways must have the same nodes, entries and direction, also after they are converted to another format and read
// again.
func TestWaysIn(t *testing.T) {
	first, _ := strconv.ParseUint(os.Getenv("HEATWALK_SEED"), 10, 64)
	count := uint64(6)
	if testgraph.Hunt {
		count = 300
	}
	dir := t.TempDir()
	failed := 0
	for seed := first; seed < first+count && failed < 5; seed++ {
		if d := draw(seed); len(d.lines) > 0 && !d.agrees(t, dir) {
			failed++
		}
	}
}

func (d *drawn) agrees(t *testing.T, dir string) bool {
	ok := true
	fail := func(way string, format string, args ...any) {
		ok = false
		t.Errorf("seed %d, %s: %s\n%+v", d.seed, way, fmt.Sprintf(format, args...), *d)
	}
	nodes := filepath.Join(dir, "all.ids")
	file, err := os.Create(nodes)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range d.ids {
		fmt.Fprintln(file, field(id, "\t"))
	}
	file.Close()
	var store *heatwalk.Graph
	for i, way := range ways {
		if way.takes != nil && !way.takes(d) {
			continue
		}
		c := &ingest.Config{KeepLoops: d.seed%3 != 0, Signed: d.signed, Directed: d.directed && !way.states, Undirected: !d.directed && !way.states && d.seed%2 == 0}
		if way.name == "e.tsv" { // n0 and n1 are titles too
			c.Header = nodefile.NoHeader
		}
		if way.kinds && d.kinds {
			c.Kind = "kind"
		}
		if way.dates && d.dates {
			c.Time = "date"
		}
		if !way.lists {
			c.Nodes = nodes
		}
		path := filepath.Join(dir, way.name)
		if err := os.WriteFile(path, way.write(d), 0o666); err != nil {
			t.Fatal(err)
		}
		g, err := heatwalk.Open(t.Context(), path, &heatwalk.Options{Reading: c, Stream: c.Kind != "" || c.Time != "", Workers: []int{1, 2, 7}[i%3]}) // codes are on disk alone
		want := d.entries(c.Kind != "", c.Time != "", c.KeepLoops)
		if err != nil {
			fail(way.name, "%v\n%s", err, way.write(d))
			continue
		}
		if fault := d.compare(t, g, want); fault != "" {
			fail(way.name, "%s\n%s", fault, way.write(d))
		}
		if store == nil && g.Store != nil && c.Kind == "" && c.Time == "" {
			store = g
			d.convert(t, dir, g, want, fail)
		}
		g.Close()
	}
	if d.repeated && !d.weighted {
		return ok // the lines add in memory
	}
	o := &heatwalk.Options{Reading: &ingest.Config{Signed: d.signed}}
	want := d.entries(false, false, true)
	g, err := heatwalk.FromMat(t.Context(), d.matrix(), o)
	if err != nil {
		fail("FromMat", "%v", err)
		return ok
	}
	byPosition := map[cell]float64{}
	for c, w := range want {
		byPosition[cell{u: strconv.Itoa(slices.Index(d.ids, c.u)), v: strconv.Itoa(slices.Index(d.ids, c.v))}] = w
	}
	if fault := differ(entriesOf(t, g), byPosition); fault != "" || d.directed && !g.Directed && !isSymmetric(byPosition) || !d.directed && g.Directed {
		fail("FromMat", "%s, directed %v", fault, g.Directed)
	}
	if !d.numeric {
		return ok
	}
	for name, graph := range d.graphs() {
		g, err := heatwalk.FromGraph(t.Context(), graph, o)
		if err != nil {
			fail(name, "%v", err)
			continue
		}
		graphWant := want
		if strings.HasPrefix(name, "simple") { // simple graphs have no self loops
			graphWant = d.entries(false, false, false)
		}
		if fault := d.compare(t, g, graphWant); fault != "" {
			fail(name, "%s", fault)
		}
	}
	return ok
}

func (d *drawn) compare(t *testing.T, g *heatwalk.Graph, want map[cell]float64) string {
	t.Helper()
	if ids := g.IDs(); !slices.Equal(ids, d.ids) {
		return fmt.Sprintf("nodes %q, want %q", ids, d.ids)
	}
	if len(want) > 0 && g.Directed != d.directed {
		return fmt.Sprintf("directed %v", g.Directed)
	}
	return differ(entriesOf(t, g), want)
}

// Sums are rounded, and weights of kinds are float32.
func differ(got, want map[cell]float64) string {
	for _, c := range slices.SortedFunc(maps.Keys(want), func(a, b cell) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
		tolerance := 1e-14
		if c.kind != "" || c.date != "" {
			tolerance = 1e-6
		}
		if w, isThere := got[c]; !isThere || math.Abs(w-want[c]) > tolerance*math.Abs(want[c]) {
			return fmt.Sprintf("entry %+v is %v, want %v", c, w, want[c])
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d entries, want %d: %v, want %v", len(got), len(want), got, want)
	}
	return ""
}

func isSymmetric(a map[cell]float64) bool {
	for c, w := range a {
		if math.Abs(a[cell{u: c.v, v: c.u}]-w) > 1e-9*math.Abs(w) {
			return false
		}
	}
	return true
}

func (d *drawn) convert(t *testing.T, dir string, g *heatwalk.Graph, want map[cell]float64, fail func(way string, format string, args ...any)) {
	for _, format := range graphfile.Formats {
		if format.Name == "" {
			continue
		}
		var file bytes.Buffer
		_, err := graphfile.Write(context.Background(), format, &file, g.Store.Store, nil)
		if err != nil { // XML lacks characters
			fail("convert to "+format.Name, "%v", err)
			continue
		}
		path := filepath.Join(dir, "again"+format.Endings[0])
		if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		numbered := format == graphfile.SciPy || format == graphfile.MatrixMarket
		c := &ingest.Config{KeepLoops: true, Signed: d.signed, Directed: d.directed && format != graphfile.GraphML}
		if format == graphfile.EdgeList {
			c.Header = nodefile.NoHeader
		}
		if numbered || format.EdgesOnly {
			c.Nodes = filepath.Join(dir, "all.ids")
		}
		again, err := heatwalk.Open(t.Context(), path, &heatwalk.Options{Reading: c})
		if err != nil {
			if len(want) > 0 {
				fail("convert to "+format.Name, "%v\n%s", err, file.String())
			}
			continue
		}
		if fault := d.compare(t, again, want); fault != "" {
			fail("convert to "+format.Name, "%s\n%s", fault, file.String())
		}
		again.Close()
	}
}

func number(w float64) string { return strconv.FormatFloat(w, 'g', -1, 64) }

func field(id, separator string) string {
	if strings.ContainsAny(id, `"`+separator) && separator != "\t" {
		return `"` + strings.ReplaceAll(id, `"`, `""`) + `"`
	}
	return id
}

func (d *drawn) table(separator string, header bool) []byte {
	var b strings.Builder
	titles := []string{"source", "target"}
	if d.weighted {
		titles = append(titles, "weight")
	}
	if header {
		if d.kinds {
			titles = append(titles, "kind")
		}
		if d.dates {
			titles = append(titles, "date")
		}
		fmt.Fprintln(&b, strings.Join(titles, separator))
	}
	for _, l := range d.lines {
		cells := []string{field(d.ids[l.u], separator), field(d.ids[l.v], separator)}
		for _, title := range titles[2:] {
			cells = append(cells, map[string]string{"weight": number(l.weight), "kind": l.kind, "date": l.date}[title])
		}
		fmt.Fprintln(&b, strings.Join(cells, separator))
	}
	return []byte(b.String())
}

func (d *drawn) dictionaries() []byte {
	var b strings.Builder
	for _, l := range d.lines {
		attributes := "{}"
		if d.weighted {
			attributes = "{'weight': " + number(l.weight) + "}"
		}
		fmt.Fprintln(&b, d.ids[l.u], d.ids[l.v], attributes)
	}
	return []byte(b.String())
}

func (d *drawn) parquet() []byte {
	var b bytes.Buffer
	ids := table.ParquetStrings
	if d.numeric {
		ids = table.ParquetIntegers
	}
	columns := []table.ParquetColumn{{Name: "source", Kind: ids}, {Name: "target", Kind: ids}}
	if d.weighted {
		columns = append(columns, table.ParquetColumn{Name: "weight", Kind: table.ParquetDoubles})
	}
	if d.kinds {
		columns = append(columns, table.ParquetColumn{Name: "kind", Kind: table.ParquetStrings})
	}
	w, err := table.CreateParquet(&b, "edges", columns, 7)
	if err != nil {
		panic(err)
	}
	for _, l := range d.lines {
		for _, end := range []int{l.u, l.v} {
			if number, err := strconv.ParseInt(d.ids[end], 10, 64); d.numeric && err == nil {
				w.Integer(number)
			} else {
				w.String([]byte(d.ids[end]))
			}
		}
		if d.weighted {
			w.Double(l.weight)
		}
		if d.kinds {
			w.String([]byte(l.kind))
		}
		if err := w.EndRow(); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func (d *drawn) direction() string {
	if d.directed {
		return "directed"
	}
	return "undirected"
}

func (d *drawn) graphML() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<graphml><key id="w" for="edge" attr.name="weight" attr.type="double"/><key id="k" for="edge" attr.name="kind" attr.type="string"/><graph edgedefault="%s">`+"\n", d.direction())
	for _, id := range d.ids {
		fmt.Fprintf(&b, "<node id=\"%s\"/>\n", html.EscapeString(id))
	}
	for _, l := range d.lines {
		fmt.Fprintf(&b, `<edge source="%s" target="%s"><data key="k">%s</data>`, html.EscapeString(d.ids[l.u]), html.EscapeString(d.ids[l.v]), l.kind)
		if d.weighted {
			fmt.Fprintf(&b, `<data key="w">%s</data>`, number(l.weight))
		}
		fmt.Fprintln(&b, "</edge>")
	}
	return []byte(b.String() + "</graph></graphml>\n")
}

func (d *drawn) jsonLines() []byte {
	id := func(i int) any {
		if number, err := strconv.ParseInt(d.ids[i], 10, 64); d.numeric && err == nil {
			return number
		}
		return d.ids[i]
	}
	var objects []map[string]any
	for i := range d.ids {
		objects = append(objects, map[string]any{"type": "node", "id": id(i)})
	}
	for _, l := range d.lines {
		object := map[string]any{"type": "relationship", "start": map[string]any{"id": id(l.u)}, "end": map[string]any{"id": id(l.v)}, "kind": l.kind}
		if d.weighted {
			object["properties"] = map[string]any{"weight": l.weight}
		}
		objects = append(objects, object)
	}
	text, err := json.Marshal(objects)
	if err != nil {
		panic(err)
	}
	return text
}

func (d *drawn) market() []byte {
	values, symmetry := "pattern", "symmetric"
	if d.weighted {
		values = "real"
	}
	if d.directed {
		symmetry = "general"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%%%%MatrixMarket matrix coordinate %s %s\n%d %d %d\n", values, symmetry, len(d.ids), len(d.ids), len(d.lines))
	for _, l := range d.lines {
		row, column := l.u, l.v
		if !d.directed {
			row, column = max(row, column), min(row, column)
		}
		fmt.Fprint(&b, row+1, " ", column+1)
		if d.weighted {
			fmt.Fprint(&b, " ", number(l.weight))
		}
		fmt.Fprintln(&b)
	}
	return []byte(b.String())
}

func (d *drawn) both() (list []line) {
	for _, l := range d.lines {
		list = append(list, l)
		if !d.directed && l.u != l.v {
			l.u, l.v = l.v, l.u
			list = append(list, l)
		}
	}
	return list
}

// The entries may occur several times, in coo format in no order.
func (d *drawn) npz(format string) []byte {
	list := d.both()
	if format == "csc" {
		slices.SortStableFunc(list, func(a, b line) int { return a.v - b.v })
	} else if format == "csr" {
		slices.SortStableFunc(list, func(a, b line) int { return a.u - b.u })
	}
	rows, cols, pointers := make([]int64, len(list)), make([]int64, len(list)), make([]int64, len(d.ids)+1)
	values, flags := make([]float64, len(list)), make([]bool, len(list))
	for i, l := range list {
		rows[i], cols[i], values[i], flags[i] = int64(l.u), int64(l.v), l.weight, true
		end := l.u
		if format == "csc" {
			end, cols[i] = l.v, int64(l.u)
		}
		pointers[end+1]++
	}
	for i := range d.ids {
		pointers[i+1] += pointers[i]
	}
	var b bytes.Buffer
	z := npy.NewArchive(&b)
	add := func(name, descr string, data any, shape ...int) {
		w, err := z.Member(name)
		if err != nil {
			panic(err)
		}
		if _, err := w.Write(npy.Header(descr, shape...)); err != nil {
			panic(err)
		}
		if text, isText := data.(string); isText {
			_, err = io.WriteString(w, text)
		} else {
			err = binary.Write(w, binary.LittleEndian, data)
		}
		if err != nil {
			panic(err)
		}
	}
	add("format", "|S3", format)
	add("shape", "<i8", []int64{int64(len(d.ids)), int64(len(d.ids))}, 2)
	if format == "coo" {
		add("row", "<i8", rows, len(list))
		add("col", "<i8", cols, len(list))
	} else {
		add("indptr", "<i8", pointers, len(pointers))
		add("indices", "<i8", cols, len(list))
	}
	if d.weighted {
		add("data", "<f8", values, len(list))
	} else {
		add("data", "|b1", flags, len(list))
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

type entry struct {
	row, column int
	value       float64
}

// entries visits some entries several times.
type entries struct {
	n    int
	list []entry
}

func (e entries) Dims() (r, c int)    { return e.n, e.n }
func (e entries) At(i, j int) float64 { panic("read element by element") }
func (e entries) T() mat.Matrix       { return mat.Transpose{Matrix: e} }
func (e entries) DoNonZero(f func(i, j int, v float64)) {
	for _, x := range e.list {
		f(x.row, x.column, x.value)
	}
}

func (d *drawn) matrix() mat.Matrix {
	e := entries{n: len(d.ids)}
	for _, l := range d.both() {
		e.list = append(e.list, entry{l.u, l.v, l.weight})
	}
	return e
}

func (d *drawn) graphs() map[string]gonum.Graph {
	number := func(i int) multi.Node {
		n, _ := strconv.ParseInt(d.ids[i], 10, 64)
		return multi.Node(n)
	}
	list := map[string]gonum.Graph{}
	type builder interface {
		gonum.Graph
		AddNode(n gonum.Node)
	}
	build := func(name string, g builder, add func(u, v gonum.Node, w float64)) {
		for i := range d.ids {
			g.AddNode(number(i))
		}
		for _, l := range d.lines {
			if l.u != l.v || !strings.HasPrefix(name, "simple") {
				add(number(l.u), number(l.v), l.weight)
			}
		}
		list[name] = g
	}
	switch {
	case d.weighted && d.directed:
		g := multi.NewWeightedDirectedGraph()
		build("multi.WeightedDirectedGraph", g, func(u, v gonum.Node, w float64) { g.SetWeightedLine(g.NewWeightedLine(u, v, w)) })
	case d.weighted:
		g := multi.NewWeightedUndirectedGraph()
		build("multi.WeightedUndirectedGraph", g, func(u, v gonum.Node, w float64) { g.SetWeightedLine(g.NewWeightedLine(u, v, w)) })
	case d.directed:
		g := multi.NewDirectedGraph()
		build("multi.DirectedGraph", g, func(u, v gonum.Node, _ float64) { g.SetLine(g.NewLine(u, v)) })
	default:
		g := multi.NewUndirectedGraph()
		build("multi.UndirectedGraph", g, func(u, v gonum.Node, _ float64) { g.SetLine(g.NewLine(u, v)) })
	}
	if d.repeated {
		return list
	}
	switch {
	case d.weighted && d.directed:
		g := simple.NewWeightedDirectedGraph(0, math.Inf(1))
		build("simple.WeightedDirectedGraph", g, func(u, v gonum.Node, w float64) { g.SetWeightedEdge(g.NewWeightedEdge(u, v, w)) })
	case d.weighted:
		g := simple.NewWeightedUndirectedGraph(0, math.Inf(1))
		build("simple.WeightedUndirectedGraph", g, func(u, v gonum.Node, w float64) { g.SetWeightedEdge(g.NewWeightedEdge(u, v, w)) })
	case d.directed:
		g := simple.NewDirectedGraph()
		build("simple.DirectedGraph", g, func(u, v gonum.Node, _ float64) { g.SetEdge(g.NewEdge(u, v)) })
	default:
		g := simple.NewUndirectedGraph()
		build("simple.UndirectedGraph", g, func(u, v gonum.Node, _ float64) { g.SetEdge(g.NewEdge(u, v)) })
	}
	return list
}
