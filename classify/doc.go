// Package classify learns to tell classes apart from kernel values or explicit
// features. It knows no graph: what an item is, and where its numbers come
// from, is the caller's business.
//
// # Items and classes
//
// Items are numbered 0 … n−1, classes 0 … k−1. A slice y of length n holds the
// class of every item, or −1 for an item that is not used. Only classes that
// have an item take part; a class without one is never predicted.
//
// # Machines
//
// Several classes are told apart by several binary machines, listed in
// [Pairs]: one for every two classes i < j in increasing order, or one for
// every class against all others. A decision > 0 speaks for the first class of the
// pair. [Pairs.Predict] turns the decisions on an
// item into a class: by votes, or by the largest decision. Ties go to the
// lowest class. [SoftVotes] makes scores of them that sum to one.
//
// # Learners
//
// [Learners] lists them all by name with their parameters ([Learner]): each takes a
// [Gram] and the classes of its items and returns a [Model], which scores any item.
//
//	l := classify.Learners().Named("rls")
//	v, err := l.Resolve(spec.Values{"lambda": spec.Of(0.1)}, nil)
//	model, err := l.Fit(ctx, k, y, classes, v)
//	scores := model.ScoresTo(nil, row, own)       // row[i] = K(x, i), own = K(x, x)
//
// [Calibrate] makes probabilities of the scores of any of them.
//
// Some of them can be had with all their settings too, for what is fitted many times
// or to features of single precision. They have one shape: what is learned from, the
// class of each item (−1: not used), the number of classes.
//
//   - On a kernel: [SVM.Fit] and [FitRLS]. Its values are materialised ([DenseGram]) or
//     inner products of features ([LinearGram]).
//
//   - On features: [FitLinearSVM] and [FitLinearRLS] return linear functions.
//     [LinearWeights] makes such of a kernel machine whose kernel is the inner product.
//
//   - Along a path of several ridges or costs: [LogisticPath], and what Fit of a [Path] returns,
//     which keeps its memory for thousands of small fits.
//
// A machine and its class for an item x:
//
//	k := classify.DenseGram(values) // n×n
//	svm := &classify.SVM{Cost: 10}
//	model, err := svm.Fit(ctx, k, y, classes) // y[i] = −1: not used
//	if err != nil {
//		return err
//	}
//	decisions := model.ScoresTo(nil, row, 0) // row[i] = K(x, i), all n items
//	class := model.Pairs.Predict(decisions)
//
// # Concurrency, errors, determinism
//
// Grams and models are safe for concurrent use, a [PathFit] is not. Wrong
// lengths are the caller's mistakes and panic. Settings are checked before a fit. One
// that reaches its iteration limit returns its model together with [ErrIterationLimit].
// Results are the same to the bit for any number of workers and any size of the cache.
package classify
