//go:build ignore

// training_driver FEATURES.npy CLASSES.npy SCALE TOLERANCE COST FITS trains support vector
// machines on a kernel in memory, SCALE times the products of the features, by one thread,
// and prints JSON: user seconds and wall seconds of each fit, and the objective values of the
// machines.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/sparse"
)

func main() {
	x, n, d := read(os.Args[1])
	class, _, _ := read(os.Args[2])
	scale, tolerance, cost, fits := number(3), number(4), number(5), int(number(6))
	ctx := context.Background()
	k, err := classify.InnerProducts(ctx, sparse.BlockOf(n, d, x), 1)
	check(err)
	for i := range k.Data {
		k.Data[i] *= scale
	}
	y, classes := make([]int, n), 0
	for i, c := range class {
		y[i] = int(c)
		classes = max(classes, y[i]+1)
	}
	var report struct {
		User, Wall, Objectives []float64
		Iterations             int
	}
	set := classify.SVM{Cost: cost, Tolerance: tolerance, Workers: 1,
		CacheBytes: 2000 << 20}
	for range fits {
		user, start := userSeconds(), time.Now()
		m, err := set.Fit(ctx, classify.DenseGram(k), y, classes)
		check(err)
		report.User, report.Wall = append(report.User, userSeconds()-user),
			append(report.Wall, time.Since(start).Seconds())
		report.Objectives, report.Iterations = nil, 0
		for _, one := range m.Machines {
			report.Objectives = append(report.Objectives, one.Objective)
			report.Iterations += one.Iterations
		}
	}
	check(json.NewEncoder(os.Stdout).Encode(report))
}

// read returns the numbers of an array and its shape, a vector's as one column.
func read(path string) (values []float64, rows, cols int) {
	f, err := os.Open(path)
	check(err)
	defer f.Close()
	a, err := npy.Read(path, f)
	check(err)
	values = make([]float64, a.Len)
	check(a.Floats(values))
	return values, int(a.Shape[0]), len(values) / int(a.Shape[0])
}

func number(argument int) float64 {
	v, err := strconv.ParseFloat(os.Args[argument], 64)
	check(err)
	return v
}

// userSeconds returns the user seconds of this process.
func userSeconds() float64 {
	var r syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano()).Seconds()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
