// Package split draws training and test sets and folds. It knows no graph: an item is a
// position in a list of classes.
//
// [Draw] and [GivenSplit] divide labelled items into training and test items, [Folds]
// deals them into folds, and [Combinations] lists the combinations of the parameters of a declaration. Package
// method/choose chooses among these.
//
// Every draw comes from a PCG generator with the caller's rng seed and a stream of
// its own, so that no draw depends on how many others were made.
package split
