package shard

import (
	"fmt"
	"regexp"
	"sync"
)

// Files of a store. Those of one identity carry it in their names.
const (
	manifestName = "manifest"
	tempName     = "manifest.tmp"
	lockName     = "heatwalk.lock"
)

func shardName(identity uint64, shard int) string {
	return fmt.Sprintf("%016x-%04d.shard", identity, shard)
}

func indexName(identity uint64) string {
	return fmt.Sprintf("%016x.index", identity)
}

func degreesName(identity uint64) string {
	return fmt.Sprintf("%016x.degrees", identity)
}

func nodesName(identity uint64) string {
	return fmt.Sprintf("%016x.nodes", identity)
}

func orderName(identity uint64) string {
	return fmt.Sprintf("%016x.order", identity)
}

func attributesName(identity uint64) string {
	return fmt.Sprintf("%016x.npy", identity)
}

var identityPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-f]{16}(-[0-9]{4,10}\.shard|\.index|\.degrees|\.nodes|\.order|\.npy)$`)
})

// ownName reports whether a file name follows the pattern of a store's files.
// Nothing else is ever removed.
func ownName(name string) bool {
	return name == tempName || name == lockName ||
		identityPattern().MatchString(name)
}
