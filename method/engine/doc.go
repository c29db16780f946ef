// Package engine has what every method has in common. An [Engine] predicts the nodes of a graph, or other items, from a few
// labels; its fields state the inputs that it takes and the steps that it has. The engines of this project are in the packages
// beside this one, and package method finds them by their names.
//
//	source      →  evidence       →  choice      →  model        →  prediction
//	graph + walk   held-out labels   one setting    classifiers     classes, scores,
//	graph + kernel by fold           (package       on rows or      accuracy
//	records        (choose.Counts)   choose)        Gram values
//
// A [Job] is a choice or a prediction by an engine. The driver is the same for every target: a choice by predictions of each
// label without its fold, a model of all labels, and the estimate of its accuracy. A [GraphMethod] predicts all nodes at once; a
// learner on walks, kernels or Gram values fills in the stages of a job itself.
//
// Every draw comes from a PCG generator with the caller's rng seed and a stream of its own.
package engine
