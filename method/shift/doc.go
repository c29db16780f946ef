// Package shift checks whether labels are a random sample of the nodes, because a cross-validated
// accuracy is that of a random sample. For example, labels of one region of a graph are near each
// other, so that held-out labels are easier to predict than other nodes: on a citation graph the
// accuracy was 79 % in cross-validation and 56 % at other nodes.
//
// Five differences between labelled and other nodes are tested:
//
//   - the hops to the nearest other label, by the test of Kolmogorov and Smirnov,
//   - the degree, by the same test,
//   - the mean probability of each class at held-out labels and at other nodes, by a χ² test; of methods whose
//     held-out probabilities are not known the share of each class among the nearest other labels, by a likelihood ratio,
//   - the mean row of eigenvectors, if the method computes these, by its squared distance, see compareSpectrum, and
//   - the number of labels in communities and unions of them, by the likelihood ratio to other nodes, see comparePart.
//
// If one is larger than chance explains, [Check] returns a range for the accuracy at other nodes. The accuracy of auto allows for
// the probabilities of other nodes, and its range is a margin on both sides, see setMargins. Saerens, Latinne and Decaestecker,
// Adjusting the outputs of a classifier to new a priori probabilities (2002), compare the same shares of predictions. For
// other methods Check predicts labels from other labels that are nearer or farther. The lower end is the accuracy by hops to
// the nearest visible label, weighted by the hops of other nodes, and the upper end the estimated accuracy and two standard
// errors. Both allow for the shares of a class that the labels do not exclude. Milà et al., Nearest neighbour distance
// matching leave-one-out cross-validation for map validation (2022), match folds by distances for the same reason.
//
// Too many labels of a class, or none, are noticed if the class is predicted much better than by chance, or if its nodes
// are near each other and a random sample has enough labels of them: see bench/results/accuracy.md.
//
// In a graph with two kinds of nodes, for example papers and authors, of which one kind has all labels, the other
// nodes are those of this kind.
package shift
