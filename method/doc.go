// Package method turns a graph and a few labels into a score of every class for
// every node. A [Method] is known by its name, see [Parse].
//
// # Predicting
//
// A [Problem] is a graph with labels. A method does the whole job: on walks it chooses
// parameters by [CrossValidate], takes the walk features of the labelled nodes,
// trains a machine, and streams the scores of all nodes in a second walk.
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
// A node from which no label can be reached has nothing but the prior, which is its
// scores: it is given the likeliest class of that, the largest where no other is
// likelier, in trials as in predictions, and no machine learns from such a row. On graphs
// with many small components this is worth as much as the choice of the kernel.
//
// The method auto learns logistic regression on sums of unabsorbed walks from labels and on
// scores of kernels, honest ones at labelled nodes: without the label and, while models are
// compared, without its fold. Several models answer together, each as much as it makes the
// labels of other folds likely, and Poisson learning beside them where labels are few.
// Probabilities are shrunk to what labels say of them.
//
// The methods of [Parse] put other kernels in the place of walks and
// other learners behind them. A kernel method makes the values between labels,
// for regularised least squares with many labels not even these, and predicts
// by one application of the kernel to the dual coefficients. PageRank kernels
// take part in their symmetric form; a distance does not.
//
// Methods know no learner by name: what is to be known of one stands in its declaration, see
// [classify.Learner] and [classify.Path]. A method of another package implements [Method] and,
// to tell what it takes, [Extended].
//
// Nodes with several labels each have no [Method], but package multilabel.
//
// # Choosing
//
// A [Grid] is a set of [Parameters]. All its walks are columns of one sweep,
// every walk holds all shorter ones, and machines for increasing costs start
// from one another, so that a thousand settings take about a second on a graph
// of a few thousand nodes. Only kernels between labelled nodes are ever held;
// of many labels a stratified sample is tried, and all of them walk.
// Tune of walks on random splits is the protocol of Neumann, Garnett and Kersting's paper.
//
// Measured accuracies within one standard error of the highest differ by luck.
// Of those settings the one in the best neighbourhood of the grid is taken.
//
// # Determinism
//
// Every draw comes from a PCG generator with the caller's rng seed and a stream
// of its own. Results are the same to the bit for any number of workers and any
// memory limit. Settings are safe to share; nothing else here is used by two
// goroutines at a time.
package method
