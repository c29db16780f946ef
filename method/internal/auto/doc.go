// Package auto predicts the nodes of a graph from labels on some of them. It chooses features, models and weights on held-out
// labels. The stages of a prediction follow; each stage has a type that the next stage reads.
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
//     beliefs of a block model if that makes held-out labels much likelier. The shares of the classes
//     get nearly all weight unless the mixture predicts better by a standard error. With
//     at most 40 labels, ridges on eigenvectors and on the diffusion kernel, and beliefs, are components without a learned
//     weight, and the likelihood decides the weight of the shares.
//  7. calibration (calibrate.go) fits three parameters of the probabilities to held-out labels.
//  8. model (predict.go) is fitted to all learned labels and predicts every node.
//
// Rows of walks and of attributes are stored in temporary files if they exceed the memory limit (rowstore.go). The probabilities
// are then the only block of nodes × classes.
//
// # Gains
//
// Points of accuracy, from the measurements of November 2026 (bench/results/accuracy.md and its history; bench/results/stages.md
// has today's stages on each graph):
//
//   - Beliefs alone where they explain the graph: 0.4 on a block model of 100,000 nodes with 2 % of the
//     labels and 1.0 on a block model of a million nodes with 1 %, in a fifteenth and a tenth of the time. Comparing them
//     with the votes of neighbours: 5.9 and 4.3 on wordnet-2024 with 5 and 10 %.
//   - Beliefs as a factor of the mixture: 6.8 on six block models of 3,000 to 20,000 nodes.
//   - Walks of 40 steps: 10 steps lose 1.5 to 2 points on Cora, 20 lose 0.4, 80 gain nothing. Free
//     columns for graphs where neighbours differ: a prior that neighbours agree costs webkb-texas 5
//     points with 18 labels and 1.4 with 56. Sums of even and of odd steps, and of steps with a factor of 0.5, gained
//     nothing. Weights of one and two steps that all classes share: 0.5 on debian with 3,032 labels; with fewer
//     than 1,000 labels they lost accuracy.
//   - Eigenvectors, kernels at samples of labels and a choice of single components (since removed) together: 6.6, 9.0 and
//     10.9 on flickr-words with 30, 100 and 300 labels, 12.6, 3.5 and 5.3 on blogcatalog-words, −0.5, 1.7 and 0.2 on
//     last.fm, 0.1 on Cora, −0.5 on chameleon. Eigenvectors of S itself, as features of logistic regressions, gained 0.2 on
//     citation graphs.
//   - With 30 labels, ridges as components and learned weights in place of a mean of three models: 1.2 on github-social, 0.8 on
//     FOLDOC, 0.7 on roads, −1.2 on webkb-cornell and enron184, 0.05 in the mean of 18 graphs.
//   - Shares of the classes as a component with 6, 10 and 15 labels, four draws each: 14.6 on webkb-texas, 9.1 on
//     tolokers, 5.2 on webkb-cornell, −0.4 on twitch-engb, 3.0 in the mean of twelve graphs.
//   - Beliefs as a component with 30 labels: 6.1 on generated friendships of five years, 7.2 on a knowledge graph of eight
//     types, 3.5 on flickr-words. The choice between two sources of their ratios: 14.8 and 6.7 on friendships of twelve
//     dormitories with 300 labels.
//   - Diffusion scores and common neighbours together: 5.7 and 2.1 on football with 34 and 20 labels, 3.2 on
//     co-work of lawyers, 1.6 on texas, 0.6 and 0.3 on Cora with 5 and 10 %.
//   - Arcs: 21.6 where they lead from each of five classes to the next (60 labels), 3.1 on the pages
//     of texas, 0.1 on Cora's citations.
//   - Link rows: 2.2 on chameleon with 267 labels, where pages with the same neighbours are alike; 0.0 on Cora.
//     On graphs of more than 4,096 nodes where neighbours agree they gain nothing (−0.1 on PubMed, DBLP and
//     tolokers) and are omitted.
//   - Attributes on Cora's random splits of 20 labels a class: 81.6 with them, 74.4 without; of this
//     the view through personalised PageRank is 3.0. Means over neighbours gained nothing in addition. With more than 2,500
//     labels and attributes, logistic regression on words and means over neighbours (words.go) takes the place of ridges,
//     which learn from 2,500 labels: 0.9 on coauthor-cs with 60 % of the labels, in an eighth of the time. On Cora
//     with 60 % it gains nothing.
//   - Attributes that count the classes of neighbours: 8.9, 6.2 and 5.6 on three boards with mines of 1,600 to
//     10,000 nodes; two rounds of predictions gained 8.3, 7.2 and 7.0 with five times the code.
//   - Three folds and fewer steps with many labels of many classes: −0.2 on wordnet-2024 with 5 %, in 0.6 of the time, and 0.1
//     on debian.
//   - Labels of small classes seen as their nodes are: 9 on 500 classes of three nodes with 80 % of the labels, 0.6 on
//     openflights with 100, 2.1 and −0.4 on debian with 30 and 100, −1.2 on codex-m with 300, 0.1 in the mean of 20 graphs.
//   - Label propagation: 47 on the roads of Luxembourg with 60 labels and 5 with 5,000, none on the
//     other graphs.
package auto
