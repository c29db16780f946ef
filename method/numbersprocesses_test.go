package method

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

func onProcesses(t *testing.T, size int, p *engine.Problem, methods []engine.Entry) (*sparse.Block[float64], *predictedNumbers) {
	t.Helper()
	var report *predictedNumbers
	values := contract.OnProcesses(t, size, p.Graph, p.Row, func(part *graph.Graph, local func(row int) int) (*sparse.Block[float64], error) {
		team := sparse.TeamOf(part.A)
		own := &engine.Problem{Graph: part, Value: p.Value}
		for _, row := range p.Row {
			own.Row = append(own.Row, local(row))
		}
		if p.Attributes != nil {
			own.Attributes = &sparse.Table{Rows: len(part.Degrees), Cols: p.Attributes.Cols}
			for i := range own.Attributes.Rows {
				if team.IsPadding(i) {
					continue
				}
				if _, values := p.Attributes.Reader().Row(team.Row(i)); values != nil {
					own.Attributes.Set(i, values)
				}
			}
		}
		out, err := predictNumbers(t.Context(), own, methods, &engine.Settings{RNGSeed: 3})
		if err != nil {
			return nil, err
		}
		if team.Rank() == 0 {
			report = out
		}
		b := sparse.NewBlock[float64](len(out.Value), 2)
		for i, v := range out.Value {
			if b.Row(i)[0] = v; out.Reached.Contains(uint32(i)) {
				b.Row(i)[1] = 1
			}
		}
		return b, nil
	})
	return values, report
}

func TestNumbersOnSeveralProcesses(t *testing.T) {
	p := randomNumbers(t, 4, 130)
	p.Attributes = &sparse.Table{Rows: 130, Cols: 2}
	for i := range 130 {
		if i%7 != 3 {
			p.Attributes.Set(i, []float32{float32(math.Cos(float64(i) / 9)), float32(i % 4)})
		}
	}
	for i, name := range []string{"harmonic", "hops", "diffusion:beta=2+rls", "spectral", "lgc", "harmonic,hops:lambda=0.1"} {
		methods, err := ParseList(name, engine.Numbers)
		if err != nil {
			t.Fatal(err)
		}
		want := runOne(t, p, name, &engine.Settings{RNGSeed: 3})
		values, got := onProcesses(t, 2+i%2, p, methods)
		if got.Method != want.Method || got.Parameters.String() != want.Parameters.String() {
			t.Errorf("%s: %s, %v, want %s, %v", name, got.Method, got.Parameters, want.Method, want.Parameters)
		}
		for _, e := range []struct{ got, want engine.Errors }{{got.Errors, want.Errors}, {got.Mean, want.Mean}, {got.Neighbours, want.Neighbours}} {
			if math.Abs(e.got.RMSE-e.want.RMSE) > 1e-4 || math.Abs(e.got.MAE-e.want.MAE) > 1e-4 {
				t.Errorf("%s: errors %v, want %v", name, e.got, e.want)
			}
		}
		for node, v := range want.Value {
			row := values.Row(node)
			if math.Abs(row[0]-v) > 1e-8*math.Abs(v) || (row[1] == 1) != want.Reached.Contains(uint32(node)) {
				t.Fatalf("%s: node %d has %v, want %v", name, node, row, v)
			}
		}
	}
}
