package budget

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A job whose context ends leaves no trace.
func TestPoolOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(100, 0)
		if err := p.Enter(t.Context(), 20, 50); err != nil {
			t.Fatal(err)
		}
		cause := errors.New("enough")
		canceled, cancel := context.WithCancelCause(t.Context())
		var mu sync.Mutex
		var order []int
		for i, bytes := range []int64{70, 80, 15, 70} {
			go func() {
				ctx := t.Context()
				if i == 1 {
					ctx = canceled
				}
				err := p.Enter(ctx, 20, bytes)
				if i == 1 {
					if !errors.Is(err, cause) {
						t.Errorf("canceled: %v", err)
					}
					return
				}
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(time.Second)
				p.Leave(bytes)
			}()
			synctest.Wait()
		}
		if p.running != 1 {
			t.Errorf("%d jobs entered before the first job, which waits for room", p.running-1)
		}
		cancel(cause)
		p.Leave(50)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(order, []int{0, 2, 3}) || p.used != 0 || p.running != 0 {
			t.Errorf("order %v; %d bytes of %d jobs remain", order, p.used, p.running)
		}
		var over *Error
		if err := p.Enter(t.Context(), 20, 81); !errors.As(err, &over) || over.Need != 101 || !errors.Is(err, ErrMemory) {
			t.Errorf("a job above the limit: %v", err)
		}
	})
}

func TestPoolLimits(t *testing.T) {
	const limit, data, most = 1000, 100, 7
	for _, jobs := range []int{0, most} {
		p := NewPool(limit, jobs)
		var bytes, running atomic.Int64
		var group sync.WaitGroup
		for i := range 64 {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			group.Go(func() {
				for range 50 {
					need := 1 + rng.Int64N(limit-data)
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(1000))*time.Microsecond)
					if err := p.Enter(ctx, data, need); err == nil {
						if sum := bytes.Add(need); sum > limit-data {
							t.Errorf("%d bytes", sum)
						}
						if count := running.Add(1); jobs > 0 && count > most {
							t.Errorf("%d jobs", count)
						}
						time.Sleep(time.Duration(rng.IntN(50)) * time.Microsecond)
						running.Add(-1)
						bytes.Add(-need)
						p.Leave(need)
					} else if !errors.Is(err, context.DeadlineExceeded) {
						t.Error(err)
					}
					cancel()
				}
			})
		}
		group.Wait()
		if p.used != 0 || p.running != 0 || len(p.queue) != 0 {
			t.Errorf("%d bytes of %d jobs remain, %d wait", p.used, p.running, len(p.queue))
		}
	}
	p := NewPool(0, 1)
	if err := p.Enter(t.Context(), 0, 1); err != nil {
		t.Fatal(err)
	}
	closed := errors.New("closed")
	time.AfterFunc(time.Millisecond, func() { p.Close(closed) })
	if err := p.Enter(t.Context(), 0, 1); !errors.Is(err, closed) {
		t.Errorf("a pool that is closed: %v", err)
	}
}
