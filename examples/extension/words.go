package main

import (
	"context"
	"math"
	"os"
	"strings"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// words are the words of a file, one a line, with a class behind a tab or none.
var words = &items.Kind{
	Name: "words", Noun: "word", Title: "Kernels between words, and their classes", Example: "spectrum:length=2",
	Kernels: func() []*param.Spec { return []*param.Spec{spectrum} },
	Commands: items.Standard("FILE", "word", spectrum.Name,
		items.Flag{Name: "lower", Switch: true, Usage: "capital letters count as small ones"}),
	Open: func(_ context.Context, in *items.Input) (*items.Collection, error) {
		path := in.Paths[0]
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var word, class []string
		for line := range strings.Lines(string(text)) {
			w, c, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if w == "" {
				return nil, &nodefile.ParseError{File: path, Line: int64(len(word) + 1), Msg: "no word", Fix: "write one on each line"}
			}
			word, class = append(word, w), append(class, c)
		}
		nodes, err := shard.StringNodes(tablefile.AxisOf(word).All())
		return &items.Collection{
			File: path, IDs: tablefile.AxisOf(word), Lookup: nodes, Labels: nodefile.LabelsOf(path, class), Bytes: int64(len(text)),
			Gram: func(_ context.Context, kernel *param.Spec, v param.Values, _ []int) (classify.Gram, param.Values, error) {
				complete, err := kernel.Resolve(v, nil)
				if err != nil {
					return nil, nil, err
				}
				return spectra(word, int(complete.Number("length")), in.Flags["lower"] == "true"), complete, nil
			},
		}, err
	},
}

// spectrum is the cosine of the numbers of each piece of letters in two words.
var spectrum = &param.Spec{
	Name: "spectrum", Title: "⟨φ(v), φ(w)⟩ of the pieces of two words, divided by their norms", Params: []param.Param{{
		Name: "length", Symbol: "k", Meaning: "letters of a piece", Kind: param.Whole,
		Range: param.Range{Least: 1, Most: 100}, Default: param.Of(2), Grid: param.Grid(1, 2, 3),
	}},
}

// spectra returns the kernel spectrum between words.
func spectra(word []string, length int, lower bool) classify.Gram {
	column := map[string]int{}
	count := make([]map[int]float64, len(word))
	for i, w := range word {
		if lower {
			w = strings.ToLower(w)
		}
		count[i] = map[int]float64{}
		for at := 0; at+length <= len(w); at++ {
			piece := w[at : at+length]
			if _, ok := column[piece]; !ok {
				column[piece] = len(column)
			}
			count[i][column[piece]]++
		}
	}
	features := sparse.NewBlock[float64](len(word), max(1, len(column)))
	for i, pieces := range count {
		squares := 0.0
		for _, n := range pieces {
			squares += n * n
		}
		for c, n := range pieces {
			features.Row(i)[c] = n / math.Sqrt(squares)
		}
	}
	return classify.LinearGram(features)
}
