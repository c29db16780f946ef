// Package shift checks whether labels are a random sample of the nodes, because a cross-validated
// accuracy is that of a random sample. For example, labels of one region of a graph are near each
// other, so that held-out labels are easier to predict than other nodes: on a citation graph the
// accuracy was 79 % in cross-validation and 56 % at other nodes.
//
// Three differences between labelled and other nodes are tested:
//
//   - the hops to the nearest other label, by the test of Kolmogorov and Smirnov,
//   - the degree, by the same test, and
//   - the share of each class among labels, against its share of the predictions of other nodes.
//
// If one is larger than chance explains, [Check] predicts labels of one half of the graph from those
// of the other half. This gives the lower end of a range for the accuracy, and random folds its upper
// end. Milà et al., Nearest neighbour distance matching leave-one-out cross-validation for map
// validation (2022), choose folds by distances for the same reason.
//
// Limits are those of random samples of 14 to 1,000 labels of three graphs: at most 2 % of 500
// samples exceed one of them.
package shift
