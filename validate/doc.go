// Package validate draws what predictions are measured on and measures them. It
// knows no graph: an item is a position in a list of classes.
//
// [RandomSplits], [PerClassSplits] and [GivenSplit] divide labelled items into
// training and test items, [Folds] deals them into folds. A [Confusion] counts
// predictions, [MeanStderr] and [PairedT] compare them.
//
// Every draw comes from a PCG generator with the caller's rng seed and a stream of
// its own, so that no draw depends on how many others were made.
package validate
