// Package trees has the method trees: boosted trees, see [classify.Boosting], on columns of nodes.
//
// A node's columns are its attributes, their means over walks of one to three steps and their largest and smallest values
// among neighbours; logarithms of degrees and of the number of triangles, and the clustering coefficient; and means of the
// labels around the node, which never depend on the node's own label.
//
// There are five folds of labels, and a model without each. No column that a model sees depends on labels of its fold, so that
// it tells nothing about a held-out label. The prediction is the mean over models. The estimated accuracy is that of one model
// for each held-out label, with the mean of its columns without one more fold, plus the gain that is expected of several models.
package trees
