package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

func orderOfKeys(t *testing.T, document []byte) (keys []string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(document))
	if _, err := d.Token(); err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	for d.More() {
		key, _ := d.Token()
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
	}
	return keys
}

func TestDocumentsEnd(t *testing.T) {
	t.Chdir(t.TempDir())
	edges, labels := "", ""
	for i := range 40 {
		edges += "v" + string(rune('A'+i%20)) + "\tv" + string(rune('A'+(i+1)%20)) + "\n"
	}
	for i := range 20 {
		labels += "v" + string(rune('A'+i)) + "\t" + []string{"x", "y"}[i/10] + "\n"
	}
	for name, text := range map[string]string{"e.tsv": edges, "l.tsv": labels, "s.ids": "vA\nvB\n", "v.tsv": "vA\t1\nvC\t2\nvF\t-4\n", "t.csv": "id,a,class\n1,x,p\n2,x,p\n3,y,q\n4,y,q\n5,x,\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for line, files := range map[string][]string{
		"ingest e.tsv -o g":                                                   {"g.run.json"},
		"info e.tsv --labels l.tsv":                                           nil,
		"classify e.tsv --labels l.tsv --method cwk -o p.tsv":                 {"p.tsv.run.json"},
		"regress e.tsv --values v.tsv --method harmonic -o n.tsv":             {"n.tsv.run.json"},
		"rank e.tsv --seeds s.ids -o k.tsv":                                   {"k.tsv.run.json"},
		"suggest e.tsv --labels l.tsv --method lp -o s.tsv":                   {"s.tsv.run.json"},
		"evaluate e.tsv --labels l.tsv --method lp --folds 2 --report r.json": {"r.json", "r.json.run.json"},
		"kernel e.tsv --kernel diffusion -o K.npy":                            {"K.npy.run.json"},
		"eigen e.tsv --matrix adjacency --which largest --k 2 -o E.npy":       {"E.npy.run.json"},
		"features e.tsv --labels l.tsv -o F.npy":                              {"F.npy.run.json"},
		"convert e.tsv -o e.mtx":                                              {"e.mtx.run.json"},
		"records classify t.csv -o c.tsv":                                     {"c.tsv.run.json"},
		"records evaluate t.csv --folds 2 --report t.json":                    {"t.json"},
		"kernel e.tsv --kernel diffusion -o L.npy --dry-run":                  nil,
		"methods": nil,
		"version": nil,
	} {
		var stdout, stderr bytes.Buffer
		if code := Main(append(strings.Fields(line), "--json"), nil, &stdout, &stderr); code != 0 {
			t.Errorf("%s: exit code %d: %s", line, code, stderr.String())
			continue
		}
		documents := [][]byte{stdout.Bytes()}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			documents = append(documents, text)
		}
		for i, text := range documents {
			keys := orderOfKeys(t, text)
			if n := len(keys); n > 0 && keys[n-1] == "warnings" {
				keys = keys[:n-1]
			}
			if n := len(keys); n < 2 || !slices.Equal(keys[n-2:], []string{"seconds", "peak_memory_bytes"}) {
				t.Errorf("%s, document %d ends with %v", line, i, keys)
			}
		}
		if strings.HasPrefix(line, "classify") {
			var d struct {
				Seconds float64
				Phases  map[string]float64 `json:"seconds_by_phase"`
			}
			if err := json.Unmarshal(stdout.Bytes(), &d); err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, seconds := range d.Phases {
				sum += seconds
			}
			if len(d.Phases) != 6 || sum > d.Seconds || sum <= 0 {
				t.Errorf("%s: phases %v of %v seconds", line, d.Phases, d.Seconds)
			}
		}
	}
}
