// Package method turns a source of items and a few labels into a score of every class for every item. An [engine.Engine] is
// known by its name, see [Parse].
//
// # Predicting
//
// A [engine.Problem] is a graph with labels. A method on walks chooses
// parameters by cross-validation, computes the walk features of the labelled nodes,
// trains classifiers, and streams the scores of all nodes in a second walk.
//
//	p := &engine.Problem{Graph: g, Row: row, Class: class, Names: names}
//	methods, err := method.Parse("cwk")
//	if err != nil {
//		return err
//	}
//	out, err := methods[0].Method.Predict(ctx, p, nil, nil)
//	if err != nil {
//		return err
//	}
//	fmt.Println(names[out.Class[0]], out.Scores.Row(0), out.Accuracy)
//
// Predict first chooses weights of edges by the labels, see [engine.Engine.Weigh]: weights of kinds and times that are open in
// [problem.Problem.Edges], and w, 1 or log(1 + w). out.Problem is the problem with these weights.
//
// A node from which no label can be reached has its prior as scores, because nothing can be
// learned of it: its class is the likeliest of the prior, and the largest class if the prior is
// uniform. No classifier learns from such a row. On graphs with many small components this
// matters as much as the choice of the kernel.
//
// The method auto learns logistic regression on features from random walks that start at labelled
// nodes, on scores of kernels and on attributes. See the package comment of method/internal/auto
// for its stages.
//
// The other methods of [Parse] combine a kernel and a learner, for example diffusion+rls. A
// kernel method computes the values between labelled nodes, and predicts
// by one application of the kernel to the dual coefficients. PageRank kernels
// take part in their symmetric form; a distance does not.
//
// Methods know no learner by name: everything that they need is in its declaration, see
// [classify.Learner] and [classify.Path]. Kernels, learners and methods of other modules are added
// with [kernel.Register], [classify.Register], [propagate.Register] and [Register]. A method that
// allocates more than its scores declares a Workspace.
//
// # Choosing
//
// Parameters without a value are chosen from their grids: [engine.Settings].Given has fixed values, and [engine.Settings].Lists
// replaces grids. All walks are columns of one sweep, every walk contains all shorter ones, and classifiers for increasing
// costs start from one another, so that a thousand settings take about a second on a graph of a few thousand nodes. If there
// are many labels, settings are compared on a stratified sample, but all labels take part in the walks. Features of training
// rows take at most 1 GiB; otherwise a sample of the labels is learned from. The accuracy of a setting that a sample has chosen
// is measured on as many labels, each of which is predicted from all labels outside its fold. Tune of walks on random splits is
// the protocol of Neumann, Garnett and Kersting's paper.
//
// Package choose has the rule by which every method chooses.
//
// # Numbers
//
// An engine whose Target is [engine.Numbers] predicts the number of every node from the numbers of some, in
// [problem.Problem.Value]. With L the nodes with values y, U the other nodes, T = D⁻¹A, and K a kernel that is scaled so that
// its mean K(u, u) over L is 1:
//
//	harmonic     L_UU·f_U = A_UL·y: each other node has the mean value of its neighbours
//	KERNEL+rls   f = μ + K_·L·α, (K_LL + λI)·α = y − μ1, 1ᵀα = 0: kernel ridge regression
//	hops         ridge regression on means of values 1, 2 and 3 steps away, degree and attributes
//	spectral     ridge regression on eigenvectors, the model of several labels
//	lgc          f = ȳ + M(y − ȳ)/M1 for M = (I − αS)⁻¹, as any learner of package propagate that is such a sum
//
// The driver is the driver of classes: a choice by predictions of each value without its fold, and a model of all values.
// The share of right predictions is replaced by the share of the variance that is explained, the mean of 1 − (y − ŷ)²/σ².
// Of more than 1,000 values errors are measured on 1,000, on more than 20,000 nodes 400; a setting of a kernel is chosen by
// a sample and then measured by models of all other folds. [Best] compares several engines, see [ParseList], and draws the
// predictions of the best towards the mean, as far as held-out values do; engines of other modules are added with
// [Register]. No prediction is beyond the range of the known values.
//
// # Several processes
//
// The graph of a [engine.Problem] may be the part of a process, see [sparse.Team], if all labelled nodes are named. In all
// processes choices, accuracies and counts are about the whole graph, and predictions about the rows of the process. A
// learner that compares all nodes with each other returns [sparse.ErrDivided], as auto does on a graph with directions if
// [graph.Graph.In] is nil, see [engine.Engine.NeedsTranspose].
//
// # Determinism
//
// Every draw comes from a PCG generator with the caller's rng seed and a stream
// of its own. Results are the same to the bit for any number of workers and any
// memory limit. Settings are safe to share; nothing else here is safe for concurrent use.
package method
