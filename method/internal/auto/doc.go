// Package auto is multinomial logistic regression on what unabsorbed walks from labels say
// of a node, see [Predict]; [Reckon] tells beforehand what it takes.
//
// Walks (walk.go) become columns (columns.go), with eigenvectors (spectral.go) and scores
// of a diffusion kernel (kernel.go) and of common neighbours (links.go) beside them where
// they pay. Attributes of nodes become
// numbers to learn from (attributescale.go), are seen through the graph (attributesweep.go,
// attributeunits.go) and give the scores of ridges (attributeridge.go). Which columns take
// part is chosen on held-out labels (choice.go, attributechoice.go), or the choices answer
// together (weights.go) with probabilities that the labels bear out (calibration.go).
package auto
