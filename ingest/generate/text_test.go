package generate

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/sched"
)

func TestPanicReachesTheCaller(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		value := func() (value any) {
			defer func() { value = recover() }()
			_ = inOrder(t.Context(), io.Discard, workers, 1000, func(text []byte, k int) []byte {
				if k == 5 {
					panic("block 5")
				}
				return append(text, 'x')
			})
			return nil
		}()
		if p, ok := value.(*sched.Panic); ok {
			value = p.Value
		}
		if value != "block 5" {
			t.Errorf("%d workers: panicked with %v", workers, value)
		}
	}
}

func TestBlocksAreWrittenInOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		var want, got strings.Builder
		for k := range 300 {
			want.WriteString(strconv.Itoa(k) + " ")
		}
		err := inOrder(t.Context(), &got, workers, 300, func(text []byte, k int) []byte {
			return append(strconv.AppendInt(text, int64(k), 10), ' ')
		})
		if err != nil || got.String() != want.String() {
			t.Errorf("%d workers: %v, %q", workers, err, got.String())
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = inOrder(ctx, io.Discard, workers, 1<<30, func(text []byte, k int) []byte {
			if k == 3 {
				cancel()
			}
			return text
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d workers, cancelled: %v", workers, err)
		}
	}
}

func BenchmarkRMAT(b *testing.B) {
	g := made(b, "rmat", given{"scale": 20, "edge-factor": 4}, 1)
	lines := g.Size().Lines
	for b.Loop() {
		if err := g.EdgesTo(b.Context(), io.Discard); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(lines), "ns/line")
}

type broken struct{ Graph }

func (broken) EdgesTo(context.Context, io.Writer) error { panic("no edge") }

func TestStream(t *testing.T) {
	g := made(t, "grid", given{"rows": 200, "columns": 200}, 0)
	var want strings.Builder
	if err := g.EdgesTo(t.Context(), &want); err != nil {
		t.Fatal(err)
	}
	edges, stop := Stream(t.Context(), g)
	if got, err := io.ReadAll(edges); err != nil || string(got) != want.String() {
		t.Errorf("%d bytes, want %d; %v", len(got), want.Len(), err)
	}
	stop()

	// The reader stops early, and the generator ends.
	edges, stop = Stream(t.Context(), made(t, "rmat", given{"scale": 30}, 0))
	if n, err := edges.Read(make([]byte, 100)); n == 0 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	stop()

	ctx, cancel := context.WithCancel(t.Context())
	edges, stop = Stream(ctx, made(t, "rmat", given{"scale": 30}, 0))
	cancel()
	if _, err := io.Copy(io.Discard, edges); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel: %v", err)
	}
	stop()

	edges, stop = Stream(t.Context(), broken{})
	if _, err := io.ReadAll(edges); !errors.Is(err, errStopped) {
		t.Errorf("after a panic: %v", err)
	}
	defer func() {
		if p, ok := recover().(*sched.Panic); !ok || p.Value != "no edge" {
			t.Error("the panic does not reach the caller of stop")
		}
	}()
	stop()
}

// Each edge may have to wait for a page.
func TestEdgesLookAtTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := newLines(ctx, io.Discard)
	cancel()
	for n := 0; out.edge(1, 2) == nil; n++ {
		if n == 100 {
			t.Fatal("100 edges after a cancel")
		}
	}
}
