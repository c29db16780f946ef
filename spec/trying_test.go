package spec

import "testing"

func TestTrying(t *testing.T) {
	s := heat.Trying(map[string][]Value{"beta": {Number(3), Number(5)}, "laplacian": {Word("combinatorial")}})
	grid, err := s.Param("beta").GridOn(Values{"laplacian": Word("combinatorial")}, path{})
	if err != nil || len(grid) != 2 || grid[0] != Number(3) || grid[1] != Number(5) {
		t.Errorf("%v, %v: listed values do not stand for themselves", grid, err)
	}
	if len(heat.Param("beta").Grid) != 2 || heat.Param("beta").Grid[0] != Number(1) {
		t.Error("the declaration itself has changed")
	}
	if r := ridge.Trying(map[string][]Value{"cost": {Number(1)}}); r.Param("lambda") != nil || r.Param("cost").Instead != "" {
		t.Errorf("λ stands beside the C that was listed: %v", r.Takes())
	}
	grid, err = heat.Defaults().Param("beta").GridOn(Values{"laplacian": Word("normalized")}, path{})
	if err != nil || len(grid) != 1 || grid[0] != Number(4) {
		t.Errorf("%v, %v: defaults have a grid", grid, err)
	}
}
