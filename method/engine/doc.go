// Package engine has what all methods share. An [Engine] predicts the nodes of a graph, or other items, from a few labels;
// its fields state its inputs and its steps. The engines are in the packages beside this one, and package method finds them
// by name.
//
//	source      →  evidence       →  choice      →  model        →  prediction
//	graph + walk   held-out labels   one setting    classifiers     classes, scores,
//	graph + kernel by fold           (package       on rows or      accuracy
//	records        (choose.Counts)   choose)        Gram values
//
// A [Job] is a choice or a prediction by an engine. A [GraphMethod] predicts all nodes at once. A learner on kernels or Gram
// values has a [Comparison], which predicts the held-out labels of a [choose.Task]; this package draws the tasks, chooses, fits
// the power of the votes and keeps the held-out predictions. Walks choose by themselves, because one walk serves the choice,
// the training rows and the measurement.
//
// Every random draw comes from a PCG generator with the caller's seed and its own stream.
package engine
