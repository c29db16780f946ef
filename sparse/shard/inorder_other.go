//go:build !linux

package shard

import "github.com/heatwalk/heatwalk/internal/durable"

// readInOrder says nothing: the system looks ahead by itself.
func readInOrder(durable.File) {}

// dropCached does nothing: what is read may come from memory.
func dropCached(durable.File, int64, int64) {}
