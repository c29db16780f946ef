// Package shift tests whether labels are a random sample of the nodes, because a cross-validated accuracy is the accuracy of
// a random sample. For example, labels of one region of a graph are near each other, so that held-out labels are easier to
// predict than other nodes: on a citation graph the accuracy was 79 % in cross-validation and 56 % at other nodes.
//
// [Check] compares the hops to the nearest other label and the degrees of labelled nodes with the hops and degrees of the
// other nodes, by the test of Kolmogorov and Smirnov. It finds too many labels of a class only if the nodes of the class
// have other degrees or are near each other.
//
// A graph may have two kinds of nodes, for example papers and authors, and labels on one kind alone. Then labelled nodes are
// compared with the other nodes of this kind.
package shift
