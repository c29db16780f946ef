package shard

import (
	"fmt"
	"regexp"
	"sync"
)

const (
	manifestName = "manifest"
	tempName     = "manifest.tmp"
	lockName     = "heatwalk.lock"
)

// shardName returns the name of a shard. It contains the identity, so that two stores never share a file.
func shardName(identity uint64, shard int) string {
	return fmt.Sprintf("%016x-%04d.shard", identity, shard)
}

const (
	indexEnding      = ".index"
	degreesEnding    = ".degrees"
	nodesEnding      = ".nodes"
	orderEnding      = ".order"
	attributesEnding = ".npy"
)

func fileName(identity uint64, ending string) string {
	return fmt.Sprintf("%016x%s", identity, ending)
}

var identityPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-f]{16}(-[0-9]{4,10}\.shard|\.index|\.degrees|\.nodes|\.order|\.npy)$`)
})

// ownName reports whether name is the name of a file of a store. Files with other names are never removed.
func ownName(name string) bool {
	return name == tempName || name == lockName ||
		identityPattern().MatchString(name)
}
