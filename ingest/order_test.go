package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func stored(t *testing.T, c *Config, paths ...string) *shard.Store {
	t.Helper()
	dir, _, err := ingestInto(t, c, paths...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := shard.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestOrderIsTheOneOfPartition(t *testing.T) {
	path := filepath.Join("..", "testdata", "cora", "edges.tsv.gz")
	open := func(order Order) *shard.Store { return stored(t, &Config{Order: order}, path) }
	plain := open(DefaultOrder)
	if plain.Nodes.Order != nil || plain.Manifest.Order != "" {
		t.Errorf("without an order: %q %v", plain.Manifest.Order, plain.Nodes.Order)
	}
	a, err := sparse.Load(t.Context(), plain, 1)
	if err != nil {
		t.Fatal(err)
	}
	lengths := make([]uint32, len(plain.Degrees))
	for i, d := range plain.Degrees {
		lengths[i] = uint32(d)
	}
	want := map[Order][]uint32{DegreeOrder: byCount(lengths)}
	for order, f := range map[Order]func(context.Context, *sparse.CSR, func(int)) ([]uint32, error){
		LocalityOrder: partition.Locality,
	} {
		if want[order], err = f(t.Context(), a, nil); err != nil {
			t.Fatal(err)
		}
	}
	for order, position := range want {
		s := open(order)
		if !slices.Equal(s.Nodes.Order, position) || s.Manifest.Order != orderNames[order] {
			t.Errorf("%v: the rows of the store %q have another order", order, s.Manifest.Order)
		}
		for row, p := range position {
			if s.Degrees[row] != plain.Degrees[p] {
				t.Fatalf("%v: degree of row %d is %v, want %v", order, row, s.Degrees[row], plain.Degrees[p])
			}
		}
	}
}

func TestAutoOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 30 MB of lines")
	}
	const nodes, hubs, lines = 200_000, 200_000 / 16, 800_000
	rng := rand.New(rand.NewPCG(1, 2))
	skewed := func(hub func(int) int) (edges [][2]int) { // each node has a hub, and hubs have most edges
		for i := range lines {
			edges = append(edges, [2]int{hub(rng.IntN(hubs)), hub(rng.IntN(hubs))})
			if i < nodes {
				edges[i][0] = i
			}
		}
		return edges
	}
	scattered := skewed(func(i int) int { return i * nodes / hubs })
	near := make([][2]int, lines)
	for i := range near {
		near[i] = [2]int{i % nodes, (i%nodes + 1 + i/nodes) % nodes}
	}
	for _, test := range testgraph.Sample(t, 3, []struct {
		name  string
		edges [][2]int
		apart int // ids are its multiples plus 1
		c     Config
		want  Order
	}{
		{name: "scattered", edges: scattered, apart: 1, want: DegreeOrder},
		{name: "scattered, little memory", edges: scattered, apart: 1, c: Config{Workers: 7, Memory: 40 << 20}, want: DegreeOrder},
		{name: "scattered, directed, ids far apart", edges: scattered, apart: 100, c: Config{Directed: true}, want: DegreeOrder},
		{name: "scattered, odd ids", edges: scattered, apart: 2, want: DegreeOrder},
		{name: "scattered, odd ids, little memory", edges: scattered, apart: 2, c: Config{Memory: 24 << 20}, want: DegreeOrder},
		{name: "scattered, with few of the edges", edges: scattered[:lines/6], apart: 1, want: DefaultOrder},
		{name: "hubs first", edges: skewed(func(i int) int { return i }), apart: 1, want: DefaultOrder},
		{name: "near", edges: near, apart: 1, want: DefaultOrder},
		{name: "near, odd ids", edges: near, apart: 2, want: DefaultOrder},
	}) {
		t.Run(test.name, func(t *testing.T) {
			text := make([]byte, 0, 18*len(test.edges))
			mentions, named := make([]uint32, nodes), make([]bool, nodes)
			for _, e := range test.edges {
				for i, end := range e {
					text = append(strconv.AppendInt(text, int64(1+end*test.apart), 10), " \n"[i])
					named[end] = true
					if e[0] != e[1] {
						mentions[end]++
					}
				}
			}
			c := test.c
			c.Order = AutoOrder
			paths := write(t, file{"e.txt", string(text)})
			open := func(c *Config) (*shard.Store, []uint32) {
				s := stored(t, c, paths...)
				var col []uint32
				err := sparse.Sweep(t.Context(), s, 1, func(_ int, p sparse.Panel) error {
					col = append(col, p.Col...)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				return s, col
			}
			s, col := open(&c)
			if got := cmp.Or(s.Manifest.Order, orderNames[DefaultOrder]); got != orderNames[test.want] {
				t.Fatalf("order %s, want %v", got, test.want)
			}
			c.Order = test.want
			if same, its := open(&c); !slices.Equal(col, its) || !slices.Equal(s.Degrees, same.Degrees) {
				t.Errorf("another graph than with Config.Order %v", test.want)
			}
			if test.want == DefaultOrder {
				return
			}
			var counts []uint32
			for i, n := range mentions {
				if named[i] {
					counts = append(counts, n)
				}
			}
			if !slices.Equal(s.Nodes.Order, byCount(counts)) {
				t.Error("the rows do not lie by falling counts")
			}
		})
	}
}

func byCount(count []uint32) []uint32 {
	order := make([]uint32, len(count))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(i, j uint32) int { return cmp.Compare(count[j], count[i]) })
	return order
}

func TestMentions(t *testing.T) {
	text := "a b 1\na b 2\nb a 3\nc d 1\nd d 9\nd d 9\nd d 9\nd d 9\nx c 0\nx c 0\nx c 0\n"
	s := stored(t, &Config{Order: DegreeOrder, Duplicates: SumDuplicates, KeepLoops: true}, write(t, file{"e.txt", text})...)
	var rows []string
	for row := range s.Nodes.Len() {
		rows = append(rows, s.Nodes.ID(row))
	}
	if want := []string{"a", "b", "c", "d", "x"}; !slices.Equal(rows, want) { // with 3, 3, 1, 1 and 0 mentions
		t.Errorf("rows %q, want %q", rows, want)
	}
}

func TestMessagesWithOrder(t *testing.T) {
	for order := range Order(len(orderNames)) {
		_, _, err := ingestInto(t, &Config{Order: order}, write(t, file{"e.txt", "x y 1\na b 1\nb c 1\nb d 1\nc b 2\n"})...)
		if err == nil || !strings.Contains(err.Error(), "e.txt:5: c–b has weight 2, and the opposite direction b–c has 1 (line 3)") {
			t.Errorf("%v: %v", order, err)
		}
	}
}

func TestOrderMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	paths := write(t, file{"e.txt", edgeText(200_000, func(i int) string { return fmt.Sprintf("%d %d", i%5000, i*7919%10_007) })})
	const enough = workerBytes + pageBytes + 2<<20 // the sort needs memory for several rounds
	const entries = 400_000
	for _, test := range []struct {
		order Order
		limit int64
		fits  bool
	}{
		{DegreeOrder, enough, true},
		{LocalityOrder, enough + 4*entries, false},
		{LocalityOrder, enough + 12*entries, true},
	} {
		_, _, err := ingestInto(t, &Config{Memory: test.limit, Order: test.order, Workers: 1}, paths...)
		var over *LimitError
		if test.fits && err != nil || !test.fits && (!errors.As(err, &over) || over.Limit != test.limit || over.Need <= test.limit) {
			t.Errorf("%v: error %v with %d bytes", test.order, err, test.limit)
		}
		if over != nil {
			if test.limit > enough && !over.Unordered {
				t.Errorf("%v: %v, and it would not fit without an order", test.order, err)
			}
			if way := "or keep rows in the order of the ids"; strings.Contains(err.Error(), way) != over.Unordered {
				t.Errorf("%v: %v; it fits without an order: %v", test.order, err, over.Unordered)
			}
			if _, _, err := ingestInto(t, &Config{Memory: over.Need, Order: test.order, Workers: 1}, paths...); err != nil {
				t.Errorf("%v: %v with the %d bytes that were asked for", test.order, err, over.Need)
			}
		}
	}
}

// The order takes about 8 bytes for each node of the dictionary.
func TestDegreeOrderMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const nodes = 100_000
	paths := write(t, file{"e.txt", edgeText(nodes, func(i int) string { return fmt.Sprintf("%d %d", 2*i, (i+1)%nodes*2) })})
	least := func(order Order) int {
		const step = 1 << 14 // a sixth of a byte for a node
		return step * sort.Search(32<<20/step, func(limit int) bool {
			_, _, err := ingestInto(t, &Config{Memory: step*int64(limit) + 1, Order: order, Workers: 1}, paths...)
			return err == nil
		})
	}
	if more := least(DegreeOrder) - least(DefaultOrder); more >= 10*nodes {
		t.Errorf("%.1f bytes a node more", float64(more)/nodes)
	}
}

func TestProgressOfAnOrder(t *testing.T) {
	var text strings.Builder
	const nodes = 70_000
	for i := range nodes {
		fmt.Fprintf(&text, "%d\t%d\n", i, (i*7+1)%nodes)
	}
	paths := write(t, file{"e.tsv", text.String()})
	for order := DegreeOrder; order <= LocalityOrder; order++ {
		var told []int64
		c := &Config{Order: order, Progress: func(stage string, done, total int64) {
			if stage == orderingStage {
				if total != nodes {
					t.Errorf("%v: %d rows", order, total)
				}
				told = append(told, done)
			}
		}}
		if _, err := Run(t.Context(), filepath.Join(t.TempDir(), "g"), paths, c); err != nil {
			t.Fatal(err)
		}
		between := slices.ContainsFunc(told, func(done int64) bool { return done > 0 && done < nodes })
		if len(told) < 2 || told[0] != 0 || !slices.IsSorted(told) || told[len(told)-1] > nodes || !between && told[len(told)-1] == 0 {
			t.Errorf("%v: %v", order, told)
		}
	}
}

func TestCancelOfAnOrder(t *testing.T) {
	paths := write(t, file{"e.tsv", toy})
	for order := DegreeOrder; order <= LocalityOrder; order++ {
		ctx, cancel := context.WithCancel(context.Background())
		c := &Config{Order: order, Progress: func(stage string, _, _ int64) {
			if stage == orderingStage {
				cancel()
			}
		}}
		if _, err := Run(ctx, filepath.Join(t.TempDir(), "g"), paths, c); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", order, err)
		}
		cancel()
	}
}
