// Package shard is the store on disk.
package shard
