package main

import (
	"encoding/csv"
	"os"
	"testing"

	"github.com/heatwalk/heatwalk"
)

// The two clusters of the karate club are the two sides of its conflict, but for at most two members.
func TestCluster(t *testing.T) {
	const karate = "../../testdata/golden/karate/"
	file, err := os.Open(karate + "labels.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := csv.NewReader(file)
	lines.Comma = '\t'
	list, err := lines.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	side := map[string]string{}
	for _, line := range list {
		side[line[0]] = line[1]
	}
	g, err := heatwalk.Open(t.Context(), karate+"edges.tsv", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	clusters, err := cluster(t.Context(), g, 2)
	if err != nil {
		t.Fatal(err)
	}
	ids := g.IDs()
	different := 0
	for i, id := range ids {
		if (clusters[i] == clusters[0]) != (side[id] == side[ids[0]]) {
			different++
		}
	}
	if len(side) != len(ids) || min(different, len(ids)-different) > 2 {
		t.Errorf("%d of %d members are in the other cluster", different, len(ids))
	}
	if clusters, err = cluster(t.Context(), g, len(ids)); err != nil || len(clusters) != len(ids) {
		t.Errorf("as many clusters as members: %v", err)
	}
}
