// Package walks has the learners on walk features. Every label is a seed of absorbing walks, and the features of a node are
// the distributions of labels after each step.
package walks
