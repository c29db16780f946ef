// Package classify learns to separate classes from kernel values or explicit features. The caller provides the kernel values
// or features of items.
//
// # Items and classes
//
// Items are numbered 0 … n−1, classes 0 … k−1. A slice y of length n holds the class of every item, or −1 for an item that
// is not used. A class without a used item is never predicted.
//
// # Binary classifiers
//
// Several classes are separated by several binary classifiers, listed in [Pairs]: a classifier for every two classes i < j
// in increasing order (one-vs-one), or for every class against all other classes (one-vs-rest). A decision > 0 means the
// first class of the pair. [Pairs.Predict] predicts the class of an item from the decisions: by votes, or by the largest
// decision. Ties go to the lowest class. [SoftVotes] converts decisions to scores that sum to one.
//
// # Learners
//
// [Learners] lists all learners (svm, rls, gp, logistic, centroid, density) with their parameters. A [Learner] takes a
// [Gram] and the classes of its items and returns a [Model], which scores any item.
//
//	l := classify.Learners().Named("rls")
//	v, err := l.Resolve(param.Values{"lambda": param.Of(0.1)}, nil)
//	model, err := l.Fit(ctx, k, y, classes, v)
//	scores := model.ScoresTo(nil, row, own)       // row[i] = K(x, i), own = K(x, x)
//
// Package papers registers perceptron, and dkm on deep kernels. Package test/contract checks the contract of a learner.
//
// [Calibrate] converts the scores of any learner to probabilities.
//
// Some learners are also functions with all settings, for callers that fit many times or have features in single precision:
//
//   - On a kernel: [SVM.Fit] and [FitRLS], with stored kernel values ([DenseGram]) or inner products of features
//     ([LinearGram]).
//
//   - On features: [FitLinearRLS] returns a [LinearModel]; [LinearWeights] converts a kernel model.
//
//   - On columns of numbers and categories with missing values: [Boosting.Fit] returns [BoostedTrees].
//
//   - Along a path of several ridges or costs: [LogisticPath], [RidgePath] with targets of any numbers, and [PathFit].
//
// # Concurrency, errors, determinism
//
// Grams and models are safe for concurrent use, a [PathFit] is not. Wrong lengths panic.
// A fit that reaches its iteration limit returns its model together with [ErrIterationLimit]. Results are the same to the
// bit for any number of workers and any size of the cache.
package classify
