// Package beliefs predicts classes by mean field in a degree-corrected block model.
//
// The model has, for each pair of classes, a probability that an edge joins them, so that edges may join equal or different
// classes. With F the n×C beliefs, A the adjacency matrix with weights divided by their mean, d = A·1, b the logarithms of
// the class shares, R the C×C ratios P(c, c′) / (P(c) P(c′)) of the classes at the ends of an edge, and f = dᵀF / Σd, one
// round is
//
//	F ← 0.7 softmax(b + t [A log(F R) − d log(f R)]) + 0.3 F
//
// with the rows of labelled nodes fixed. The term −d log(f R), the field, is the effect of pairs without an edge: without it
// a frequent class would spread over the graph. The old beliefs keep a weight of 0.3 to avoid cycles of two rounds on graphs
// whose edges join unlike classes.
//
// R comes from pairs of labels that are joined by walks of one to three steps, from homophily of a given strength, or twice
// from the beliefs of a run with homophily. [Fit] runs several candidates on labels without each fold. The labels of the
// folds choose the candidate and one temperature.
//
//	model, err := beliefs.Fit(ctx, g, seeds, fold, nil)
//	probabilities, err := model.Predict(ctx)
//
// A round is one sweep. A run holds three n×C blocks of float32: F, A log(F R), and log(F R). With more than 64 classes a
// round sweeps groups of 64 columns, and the third block holds one group.
//
// With more than 24 classes all candidates are homophily. An estimated R has C(C+1)/2 free numbers, half a million for 1,000
// classes, and F R takes C² products for each node, where homophily takes C.
//
// Sources: Karrer and Newman 2011 (degree correction); Decelle, Krzakala, Moore and Zdeborová 2011 (the field); Kumar,
// Langton and Gatterbauer 2020 (compatibilities from walks that do not turn back).
package beliefs
