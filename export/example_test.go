package export_test

import (
	"log"
	"os"

	"github.com/heatwalk/heatwalk/export"
)

// Predictions with the scores of both classes.
func ExampleTSV() {
	w := export.TSV(os.Stdout, export.Columns{Classes: []string{"red", "blue"}})
	for _, p := range []export.Prediction{
		{Node: "ann", Label: "red", Reached: true, Scores: []float64{0.75, 0.25}},
		{Node: "di", Label: "blue", Reached: true, Scores: []float64{0.125, 0.875}},
	} {
		if err := w.Write(&p); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// node	label	reached	red	blue
	// ann	red	true	0.75	0.25
	// di	blue	true	0.125	0.875
}
