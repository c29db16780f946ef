// Package rank orders the nodes of a graph by their similarity to some seeds, the known members of a
// class of which no counterexamples are known.
//
//	k, err := kernel.New(ctx, g, "diffusion", nil)
//	r, err := rank.Run(ctx, &rank.Problem{Kernel: k, Degrees: g.Degrees, Nodes: nodes, Seeds: seeds}, nil)
//	fmt.Println(r.Order[0], r.AUC)
//
// # Scores
//
// The score of a node v for the seeds S is its mean kernel value Σ_{s∈S} K_vs/|S|, or that with weights of the seeds. The score of a seed
// is that for the seeds outside its fold, so that its similarity to itself does not count. With ten
// seeds or fewer each is a fold of its own; a single seed keeps its own similarity. AUC is the share of pairs of a seed and another node in
// which the seed has the higher score, where both scores are those for the seeds outside the fold.
//
// A kernel of T = D⁻¹A is not symmetric: K_vs is for walks from v to s. The scores are those of walks from
// the seeds, Σ K_sv/|S|, which for PageRank is the personalized PageRank vector that restarts at the seeds. That of a
// graph with directions is a function of all seeds, PersonalizedPageRank of package kernel/function.
//
// # Determinism
//
// Folds depend on the rng seed alone. Results have the same bits for any number of workers, any
// memory limit, and a matrix in memory or on disk.
package rank
