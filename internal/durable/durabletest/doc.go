// Package durabletest has file systems for tests of durability: [Mem] is in memory and can crash, the i-th operation of
// [Failing] fails, and [Flipping] reads one byte wrongly.
package durabletest
