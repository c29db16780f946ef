// Package validate draws what predictions are measured on, and chooses parameters by
// such measurements. It knows no graph: an item is a position in a list of classes.
//
// [Draw] and [GivenSplit] divide labelled items into training and test items, [Folds]
// deals them into folds, [Choose] tries the settings of anything that has a [spec.Spec].
//
// Every draw comes from a PCG generator with the caller's rng seed and a stream of
// its own, so that no draw depends on how many others were made.
package validate
