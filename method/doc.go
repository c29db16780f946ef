// Package method turns a graph and a few labels into a score of every class for
// every node. A [Method] is known by its name, see [Parse].
//
// # Predicting
//
// A [Problem] is a graph with labels. A method does the whole job: on walks it chooses
// parameters by [CrossValidate], computes the walk features of the labelled nodes,
// trains classifiers, and streams the scores of all nodes in a second walk.
//
//	p := &method.Problem{Graph: g, Row: row, Class: class, Names: names}
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
// allocates more than its scores implements [Sizer].
//
// Package multilabel predicts several labels a node.
//
// # Choosing
//
// A [Grid] is a set of [Parameters]. All its walks are columns of one sweep,
// every walk contains all shorter ones, and classifiers for increasing costs start
// from one another, so that a thousand settings take about a second on a graph
// of a few thousand nodes. Only kernels between labelled nodes are kept in memory;
// of many labels a stratified sample is used to compare settings, and all of them take part in
// the walks. Tune of walks on random splits is the protocol of Neumann, Garnett and Kersting's
// paper.
//
// Package choose has the rule by which every method chooses.
//
// # Several processes
//
// The graph of a [Problem] may be the part of a process, see [sparse.Team], if all labelled nodes are named.
// Choices, accuracies and counts are those of the whole graph in all processes, and predictions are those of
// the rows of the process. A learner that compares all nodes with each other returns [sparse.ErrDivided], as
// auto does on a graph with directions if [graph.Graph.In] is nil, see [NeedsTranspose].
//
// # Determinism
//
// Every draw comes from a PCG generator with the caller's rng seed and a stream
// of its own. Results are the same to the bit for any number of workers and any
// memory limit. Settings are safe to share; nothing else here is safe for concurrent use.
package method
