// Package cwk computes partially absorbing random walks on a graph with a few labelled nodes. From these walks it
// computes the coinciding walk kernel of Neumann, Garnett and Kersting (2013).
//
// # The walk
//
// T = D⁻¹A is the random walk of the graph. A labelled node is a seed. Row i of the n×k matrix P_t is the
// distribution over the k classes in which a walk of t steps from node i ends. A walk starts in the class of a seed,
// and in the prior at any other node. At every step a seed absorbs with probability α:
//
//	P_0[i]     = onehot(y_i)                             at seeds
//	P_0[i]     = prior[i]                                elsewhere
//	P_{t+1}[i] = (1 − α)·(T·P_t)[i] + α·onehot(y_i)      at seeds
//	P_{t+1}[i] = (T·P_t)[i]                              elsewhere
//
// These are eq. (3), (5) and (6) of the paper without the k auxiliary nodes. α = 1 is label propagation, α = 0
// forgets the labels after P_0. A node without out-links keeps its distribution (T_ii = 1). On a directed graph,
// whose rows hold the out-links, a node learns from the nodes that it points to.
//
// # Variants
//
// A sweep over the graph costs nearly the same for one column as for eight. Therefore a [Walk] carries many variants
// side by side: other values of α, and walks that hide some seeds, for example the seeds of a fold of a
// cross-validation. Column g·k + c of the walk's block is class c in variant g.
//
// # Features and kernel
//
// The kernel is the probability that two walks meet the same class at the same time, eq. (4). It is an inner product
// of explicit features:
//
//	K       = 1/(T+1) · Σ_{t=0…T} P_t·P_tᵀ = F·Fᵀ
//	F[i, (t−from)·k + c] = P_t[i, c] / √(T−from+1),   from ≤ t ≤ T
//
// with from = 0 in the paper. Up to the scale, the features of a shorter walk are a prefix of the features of a
// longer walk, so that [Walk.Collect] computes all lengths at once.
//
// Plain features of a seed contain its own label. Honest features take the row of each seed from a variant that hides
// the fold of the seed, see [FoldVariants] and [Picks].
//
// [Walk.Gram] streams panels of a kernel block to a sink, and [Walk.Scores] applies learned weights during a second
// walk, so that the n×k(T+1) features of all nodes need not be stored.
//
// # Memory and determinism
//
// A walk needs two blocks. With a limit in Walk.Memory it walks slabs of columns one after another. The results have
// the same bits for any limit, any number of workers, and from memory or from disk. If several processes share the
// rows of the graph, every process has the features of the picked rows, all values of a kernel block, and the scores
// of its own rows.
package cwk
