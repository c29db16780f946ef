// Package auto predicts the nodes of a graph from labels on some of them. It chooses features, models and weights on
// held-out labels, in stages:
//
//  1. blockModel fits beliefs of a block model to a graph without attributes, of more than 50,000 nodes and at most 24 classes.
//     If their certainty agrees with the held-out labels, and the votes of labelled neighbours are not more accurate, beliefs
//     predict all nodes.
//  2. design lists the features and candidates of a problem by the sizes of the graph and the labels.
//  3. features are the columns of all nodes and of labelled nodes, the latter without their own label: filters of random
//     walks from labels, steps along arcs, and scores of ridge regressions on kernels, on eigenvectors, on attributes, on
//     numbers of neighbours that attributes count, and on rows of links.
//  4. candidates are multinomial logistic regressions on subsets of the columns.
//  5. heldOut holds the probabilities that each candidate, boosted trees, Poisson learning and label propagation predict for
//     labels outside their training sets. The estimated accuracy comes from them too.
//  6. A mixture of components has the weights with the highest held-out likelihood. Components that use attributes are left
//     out if they do not make held-out labels likelier. Beliefs multiply the mixture if that makes held-out labels much likelier. If the mixture is not better than the shares of the classes by a standard error, the shares get
//     nearly all weight. With at most 40 labels, its components are ridges and beliefs without a learned weight.
//  7. calibration fits three parameters of the probabilities to held-out labels.
//  8. model is fitted to all learned labels and predicts every node.
//
// Rows of walks and of attributes are stored in temporary files if they exceed the memory limit.
//
// bench/results/stages.md has the accuracy that each stage gains, and bench/results/gains.md what was tried in vain.
package auto
