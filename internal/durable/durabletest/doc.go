// Package durabletest has file systems for tests of durability: [Mem],
// which is in memory and can crash, [Failing], whose i-th operation fails,
// and [Flipping], which reads one byte wrongly.
package durabletest
