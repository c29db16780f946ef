package shard

import (
	"fmt"
	"regexp"
	"sync"
)

// Files of a store. The names of files with an identity contain it.
const (
	manifestName = "manifest"
	tempName     = "manifest.tmp"
	lockName     = "heatwalk.lock"
)

// shardName returns the name of a shard. The identity in the name prevents that two stores share a file.
func shardName(identity uint64, shard int) string {
	return fmt.Sprintf("%016x-%04d.shard", identity, shard)
}

// Endings of the names of files of which a store has one.
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

// ownName reports whether a name belongs to a store; no other file is ever removed.
func ownName(name string) bool {
	return name == tempName || name == lockName ||
		identityPattern().MatchString(name)
}
