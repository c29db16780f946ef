package graph

// Work counts sweeps over the graph.
type Work struct {
	Sweeps int `json:"sweeps"` // passes over all stored entries
}
