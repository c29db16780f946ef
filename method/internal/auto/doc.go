// Package auto predicts the nodes of a graph from labels on some of them. It chooses features, models and weights on
// held-out labels, in stages:
//
//  1. blockModel (blockmodel.go) fits beliefs of a block model to a graph of more than 50,000 nodes and at most 24 classes,
//     with one candidate and one fold. If their certainty agrees with the held-out labels, and the votes of labelled
//     neighbours are not more accurate, beliefs predict all nodes and nothing else is computed.
//  2. design (design.go) lists the features and candidates of a problem, by the sizes of the graph
//     and the labels, never by the memory limit. Stages that are omitted because of their cost are
//     in Prediction.Omitted.
//  3. features (features.go) are the columns of all nodes and of labelled nodes. The columns of a
//     labelled node are computed without its own label. They are filters of random walks from labels
//     (seeds.go, columns.go), steps along arcs (directions.go), and scores of ridge regressions
//     (ridgescores.go) on a diffusion kernel and on numbers of common neighbours (diffusion.go), on
//     eigenvectors (spectral.go), on attributes (attribute*.go), on numbers of neighbours that
//     attributes count (countscores.go), and on rows of links (links.go).
//  4. candidates (candidates.go) are multinomial logistic regressions on subsets of the columns.
//  5. heldOut (heldout.go) holds the probabilities that each candidate, Poisson learning and label
//     propagation predict for labels outside their training sets. The cross-validated accuracy
//     comes from them too. After the first fold, settings that are much less likely than the best setting are dropped.
//  6. A mixture of components (combine.go) has the weights with the highest held-out likelihood. It is multiplied by
//     beliefs of a block model if that makes held-out labels much likelier. If the mixture is not
//     better than the shares of the classes by a standard error, the shares get nearly all weight. With
//     at most 40 labels, ridges on eigenvectors and on the diffusion kernel, and beliefs, are components without a learned
//     weight, and the likelihood decides the weight of the shares.
//  7. calibration (calibrate.go) fits three parameters of the probabilities to held-out labels.
//  8. model (predict.go) is fitted to all learned labels and predicts every node.
//
// Rows of walks and of attributes are stored in temporary files if they exceed the memory limit (rowstore.go). The
// probabilities are then the only block of nodes × classes.
//
// bench/results/stages.md has the accuracy that each stage gains, and bench/results/gains.md what was tried in vain.
package auto
