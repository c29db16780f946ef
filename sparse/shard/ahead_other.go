//go:build !linux

package shard

import "github.com/heatwalk/heatwalk/internal/durable"

// willNeed announces nothing: the system looks ahead by itself.
func willNeed(durable.File, int64, int64) {}
