// Package walks has the learners on walk features: every label is a seed of absorbing walks, and a node has the distribution of
// labels after each step.
package walks
