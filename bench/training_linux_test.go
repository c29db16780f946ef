package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/sparse"
)

// BenchmarkTraining trains support vector machines with one thread on a kernel in memory: HEATWALK_SCALE times the
// products of the features in HEATWALK_FEATURES. It prints as JSON user and wall seconds of each fit and the
// objective values. peers/training_table.py runs it.
func BenchmarkTraining(b *testing.B) {
	features := os.Getenv("HEATWALK_FEATURES")
	if features == "" {
		b.Skip("HEATWALK_FEATURES names no file")
	}
	number := func(name string) float64 {
		v, err := strconv.ParseFloat(os.Getenv(name), 64)
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
	x, rows := readArray(b, features)
	class, _ := readArray(b, os.Getenv("HEATWALK_CLASSES"))
	k, err := classify.InnerProducts(b.Context(), sparse.BlockOf(rows, len(x)/rows, x))
	if err != nil {
		b.Fatal(err)
	}
	for i := range k.Data {
		k.Data[i] *= number("HEATWALK_SCALE")
	}
	y := make([]int, len(class))
	classes := 0
	for i, c := range class {
		y[i] = int(c)
		classes = max(classes, y[i]+1)
	}
	var report struct {
		User, Wall, Objectives []float64
		Iterations             int
	}
	set := classify.SVM{Cost: number("HEATWALK_COST"), Tolerance: number("HEATWALK_TOLERANCE"), Workers: 1, CacheBytes: 2000 << 20}
	for b.Loop() {
		user := userSeconds(b)
		start := time.Now()
		m, err := set.Fit(b.Context(), classify.DenseGram(k), y, classes)
		if err != nil {
			b.Fatal(err)
		}
		report.User = append(report.User, userSeconds(b)-user)
		report.Wall = append(report.Wall, time.Since(start).Seconds())
		report.Objectives = nil
		report.Iterations = 0
		for _, one := range m.Machines {
			report.Objectives = append(report.Objectives, one.Objective)
			report.Iterations += one.Iterations
		}
	}
	text, err := json.Marshal(report)
	if err != nil {
		b.Fatal(err)
	}
	fmt.Printf("\n%s\n", text)
}

func readArray(b *testing.B, path string) (values []float64, rows int) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	a, err := npy.Read(path, f)
	if err != nil {
		b.Fatal(err)
	}
	values = make([]float64, a.Len)
	if err := a.Floats(values); err != nil {
		b.Fatal(err)
	}
	return values, int(a.Shape[0])
}

func userSeconds(b *testing.B) float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano()).Seconds()
}
