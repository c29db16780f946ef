package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/heatwalk/heatwalk"
)

func TestService(t *testing.T) {
	g, err := heatwalk.Open(t.Context(), "../../testdata/golden/karate/edges.tsv", &heatwalk.Options{Memory: memory, Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	queries := make(chan query, batch)
	var team sync.WaitGroup
	defer team.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 2 {
		team.Go(func() { serve(ctx, g, queries) })
	}
	h := handler(g, queries)
	var clients sync.WaitGroup
	for _, node := range append(g.IDs(), "nowhere") {
		clients.Go(func() {
			w := httptest.NewRecorder()
			h(w, httptest.NewRequest(http.MethodGet, "/nearest?node="+node, nil))
			if node == "nowhere" {
				if w.Code != http.StatusNotFound {
					t.Errorf("%s: status %d", node, w.Code)
				}
				return
			}
			var nearest []string
			if err := json.Unmarshal(w.Body.Bytes(), &nearest); err != nil || len(nearest) != top {
				t.Errorf("%s: %v, %s", node, err, w.Body)
				return
			}
			r, err := g.Rank(t.Context(), []string{node}, "diffusion:beta=2", 0)
			if err != nil {
				t.Error(err)
				return
			}
			for _, row := range r.Order[:3] {
				if id := g.Nodes.ID(row); id != node && !slices.Contains(nearest, id) {
					t.Errorf("%s: %v lacks %s", node, nearest, id)
				}
			}
		})
	}
	clients.Wait()
}
