// Package compute has the subcommands that compute matrices: kernel, features, apply, eigen and merge; and bench, which
// measures products, walks and solves.
package compute
