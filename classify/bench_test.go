package classify

import (
	"context"
	"fmt"
	"math"
	"testing"
)

func BenchmarkSVM(b *testing.B) {
	ctx := context.Background()
	var costs []float64
	for e := -7; e <= 7; e++ {
		costs = append(costs, math.Exp2(float64(e)))
	}
	for _, n := range []int{135, 270, 1350} {
		p := clouds(1, n, 77, 7, 0.15)
		k := p.gram()
		for i := range k.Data {
			k.Data[i] /= 77
		}
		b.Run(fmt.Sprintf("fit/%d items", n), func(b *testing.B) {
			b.ReportAllocs()
			var s costSolver
			for b.Loop() {
				if _, err := solved(ctx, &s, k, p.y, p.classes); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("path of 15/%d items", n), func(b *testing.B) {
			b.ReportAllocs()
			var s costSolver
			for b.Loop() {
				if _, err := s.path(ctx, k, p.y, p.classes, costs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
