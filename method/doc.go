// Package method turns a source of items and a few labels into a score of every class for every item. [Parse] returns the
// [engine.Engine] with a name.
//
// # Predicting
//
// A [engine.Problem] is a graph with labels. A method on walks chooses parameters by cross-validation, computes the walk
// features of the labelled nodes, trains classifiers, and streams the scores of all nodes in a second walk.
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
// Predict first chooses edge weights by the labels, see [engine.Engine.Weigh]: the factors of kinds and times that are open
// in [problem.Problem.Edges], and one of the functions w, 1 and log(1 + w). out.Problem is the problem with these weights.
//
// If no label reaches a node, its scores are its prior. Its class is the likeliest class of the prior, or the largest class
// if the prior is uniform.
//
// The method auto learns logistic regression on features from random walks that start at labelled nodes, on scores of
// kernels and on attributes.
//
// The other methods of [Parse] combine a kernel and a learner, for example diffusion+rls. A method on a kernel predicts by
// one application of the kernel to the dual coefficients. PageRank kernels are used in their symmetric form; distances are
// not used.
//
// Other modules add kernels, learners and methods with [kernel.Register], [classify.Register], [propagate.Register] and
// [Register].
//
// # Choosing
//
// Parameters without a value are chosen from their grids: [engine.Settings].Given has fixed values, and
// [engine.Settings].Lists replaces grids. If there are many labels, settings are compared on a stratified sample, but all
// labels take part in the walks. If the features of training rows would take more than 1 GiB, classifiers learn from a
// sample of the labels. Package choose has the rule by which every method chooses.
//
// # Numbers
//
// An engine whose Target is [engine.Numbers] predicts a number for every node from the known numbers in
// [problem.Problem.Value]. With L the nodes with values y, U the other nodes, T = D⁻¹A, and K a kernel that is scaled so
// that its mean K(u, u) over L is 1:
//
//	harmonic     L_UU·f_U = A_UL·y: each other node has the mean value of its neighbours
//	KERNEL+rls   f = μ + K_·L·α, (K_LL + λI)·α = y − μ1, 1ᵀα = 0: kernel ridge regression
//	hops         ridge regression on means of values 1, 2 and 3 steps away, degree and attributes
//	ridge        ridge regression on the attributes of the node alone
//	trees        boosted trees on attributes, degrees, triangles and the values and attributes around the node
//	spectral     ridge regression on eigenvectors, the model of several labels
//	lgc          f = ȳ + M(y − ȳ)/M1 for M = (I − αS)⁻¹
//
// The steps are the steps for classes. The explained share of the variance, the mean of 1 − (y − ŷ)²/σ², replaces the share
// of right predictions. Settings are compared by at most 1,000 values, or 400 on graphs of more than 20,000 nodes, and errors are
// measured on up to about 5,000. [Best] compares several engines, see [ParseList], and moves the predictions of the best engine towards the mean as far as
// held-out values say. Predictions lie in the range of the known values. Engines learn z = (y − median)/2^k with a
// standard deviation from 1 to 2, and predictions are mapped back: the choices for a·y + b are those for y, and its
// predictions those of y, times a, plus b.
//
// # Several processes
//
// The graph of a [engine.Problem] may be the part of a process, see [sparse.Team], if all labelled nodes are named. In every
// process, choices, accuracies and counts are about the whole graph, and predictions are about the rows of the process. A
// learner that compares all nodes with each other returns [sparse.ErrDivided]; see also [engine.Engine.NeedsTranspose].
//
// # Determinism
//
// Every draw comes from a PCG generator with the caller's rng seed and a stream of its own. Results are the same to the bit
// for any number of workers and any memory limit. Settings are safe to share; nothing else here is safe for concurrent use.
package method
