package shard

import (
	"testing"

	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
)

// The identity does not depend on names of files, shards and workers.
func TestContentFollowsFromTheGraph(t *testing.T) {
	seen := map[string]string{}
	for _, f := range allFixtures() {
		if f.name == "v1/content" { // the graphs of others
			continue
		}
		content := ""
		for _, o := range []WriteOptions{{}, {ShardBytes: 1}, {Workers: 3, Options: map[string]string{"fields": "1,2"}}} {
			o.fs = durabletest.NewMem()
			o.Directed = f.o.Directed
			o.Attributes = f.o.Attributes
			f.write(t, "g", o)
			m := must(readManifest(o.fs, "g"))
			if content == "" {
				content = m.Content()
			}
			if m.Content() != content || m.Content() == m.Identity {
				t.Errorf("%s with %+v: content %s, want %s", f.name, o, m.Content(), content)
			}
		}
		if other := seen[content]; other != "" {
			t.Errorf("%s and %s have the same content", f.name, other)
		}
		seen[content] = f.name
	}
}
