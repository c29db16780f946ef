// Package engine has what all methods share. An [Engine] predicts the nodes of a graph, or other items, from a few labels;
// its fields state its inputs and its steps. The engines are in the packages beside this one, and package method finds them
// by name.
//
//	source      →  evidence       →  choice      →  model        →  prediction
//	graph + walk   held-out labels   one setting    classifiers     classes, scores,
//	graph + kernel by fold           (package       on rows or      accuracy
//	records        (choose.Counts)   choose)        Gram values
//
// A [Job] is a choice or a prediction by an engine. A [GraphMethod] predicts all nodes at once; a learner on walks, kernels
// or Gram values fills in the stages of a job itself.
//
// Every random draw comes from a PCG generator with the caller's seed and its own stream.
package engine
