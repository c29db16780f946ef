// Package regression has the engines that fit ridge or logistic regression to features of nodes: eigenvectors, attributes,
// mean values some steps away, and kernels. They predict numbers, classes, or several labels of a node.
package regression
