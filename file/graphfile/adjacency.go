package graphfile

// AdjacencyList is the text that networkx.write_adjlist writes: each line is a node and its
// neighbours, separated by blanks. An edge is listed at either end or at both. Files are
// recognized by their ending only, because such lines may be edges with weights too.
var AdjacencyList = &Format{Title: "adjacency list", Endings: []string{".adjlist"}, Text: true, Read: reading(readAdjacencyList)}

func readAdjacencyList(s *sink) (*Summary, error) {
	t := newScanner(s.Name, s.Text)
	var node []byte
	for {
		if c, ok := t.skipBlanks(); ok && c == '#' {
			t.skipRest()
		}
		word, err := t.word()
		if err != nil {
			return nil, err
		}
		node = append(node[:0], word...)
		for neighbours := 0; len(node) > 0; neighbours++ {
			if word, err = t.word(); err != nil {
				return nil, err
			}
			if len(word) == 0 || word[0] == '#' {
				t.skipRest()
				if neighbours == 0 {
					err = s.node(node)
				}
			} else {
				err = s.texts(node, word, 1)
			}
			if err != nil {
				return nil, err
			}
			if len(word) == 0 || word[0] == '#' {
				break
			}
		}
		if _, more := t.peek(); !more {
			return &Summary{Lines: t.line}, t.fail()
		}
		t.next()
	}
}
