// Package lint tests rules of the repository: imports point downwards, exported signatures can be named, and names and
// links in the documentation exist.
package lint
