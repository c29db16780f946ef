// Command service answers over HTTP which nodes of a graph are nearest to a node: GET /nearest?node=ID.
// Queries that arrive while the graph is busy are computed together, because a sweep over the graph costs nearly the same
// for many columns as for one.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/method"
)

const (
	memory   = 800 << 20 // memory of the graph and all queries, in bytes
	batch    = 64        // most queries that are computed together
	top      = 10        // nodes of an answer
	deadline = 5 * time.Second
)

type query struct {
	node   string
	answer chan<- reply
}

type reply struct {
	nearest []string
	err     error
}

// serve answers queries until ctx ends. Many goroutines may call it with one graph.
func serve(ctx context.Context, g *heatwalk.Graph, queries <-chan query) {
	for {
		var list []query
		select {
		case <-ctx.Done():
			return
		case q := <-queries:
			list = append(list, q)
		}
		for len(list) < batch && len(queries) > 0 {
			select {
			case q := <-queries:
				list = append(list, q)
			default: // another goroutine took it
			}
		}
		compute(ctx, g, list)
	}
}

// compute answers a batch with one block of the kernel, a column for each node.
func compute(ctx context.Context, g *heatwalk.Graph, list []query) {
	var nodes []string
	for _, q := range list {
		nodes = append(nodes, q.node)
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	k, _, err := g.Kernel(ctx, "diffusion:beta=2", nil, nodes, 0)
	ids := g.IDs()
	for _, q := range list {
		if err != nil {
			q.answer <- reply{err: err}
			continue
		}
		column, _ := slices.BinarySearch(nodes, q.node)
		var nearest []string
		for _, i := range method.HighestNodes(mat.Col(nil, column, k), top) {
			nearest = append(nearest, ids[i])
		}
		q.answer <- reply{nearest: nearest}
	}
}

// handler passes requests to serve. Unknown nodes are refused here, so that they fail no batch.
func handler(g *heatwalk.Graph, queries chan<- query) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		node := r.FormValue("node")
		if _, isKnown := g.Nodes.Lookup(node); !isKnown {
			http.Error(w, "unknown node", http.StatusNotFound)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), deadline)
		defer cancel()
		answer := make(chan reply, 1) // the answer to a client that has left is dropped
		select {
		case queries <- query{node, answer}:
		case <-ctx.Done():
			http.Error(w, "too many queries", http.StatusServiceUnavailable)
			return
		}
		select {
		case a := <-answer:
			if a.err != nil {
				http.Error(w, a.err.Error(), http.StatusServiceUnavailable)
				return
			}
			_ = json.NewEncoder(w).Encode(a.nearest) // an error means that the client has left
		case <-ctx.Done():
			http.Error(w, "deadline exceeded", http.StatusServiceUnavailable)
		}
	}
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: service GRAPH ADDRESS")
	}
	ctx := context.Background()
	g, err := heatwalk.Open(ctx, os.Args[1], &heatwalk.Options{Memory: memory, Jobs: 2})
	if err != nil {
		log.Fatal(err)
	}
	queries := make(chan query, batch)
	for range 2 { // one batch is sorted while the next is computed
		go serve(ctx, g, queries)
	}
	http.Handle("/nearest", handler(g, queries))
	log.Fatal(http.ListenAndServe(os.Args[2], nil))
}
