package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// goldenLearners maps the names of golden files to the flags that make them from a kernel. A file has all
// columns, or the columns of the named classes.
var goldenLearners = []struct {
	pattern, flags string
	kernel         string // "": the kernel of most files
	column         string
	less           string // a golden file that is subtracted from the columns
	whole          bool   // columns are all nodes
	tolerance      float64
}{
	{pattern: `^svm_diffusion_C(.*)_decision$`, flags: "--learner svm:cost=$1", tolerance: 1e-6},
	{pattern: `^svm_cwk_C(.*)_decision$`, flags: "--learner svm:cost=$1", kernel: "--labels TRAIN --kernel cwk:alpha=0.5:steps=10", tolerance: 1e-6},
	{pattern: `^rls_C(.*)_scores$`, flags: "--learner rls:cost=$1"},
	{pattern: `^rls_C(.*)_scores$`, flags: "--learner rls:cost=$1", whole: true},
	{pattern: `^dkm_scores_all_l0$`, flags: "--learner density"},
	{pattern: `^dkm_scores_all_l0$`, flags: "--learner centroid", less: "centroid_offset"},
	{pattern: `^dkm_scores_(all|obs)_l(\d)$`, flags: "--learner dkm:bandwidth=$1:depth=$2", whole: true},
	{pattern: `^perceptron_c(\d)_(voted|averaged|last)$`, flags: "--learner perceptron:vote=$2:epochs=10", column: "$1"},
	{pattern: `^scores_(.*)$`, flags: "--learner $1"}, // scores_NAME_PARAMETER=VALUE_…, as docs/architecture.md says
	{pattern: `^gp_induction_latent$`, flags: "--learner gp:variance=4", kernel: inverseKernel, tolerance: 1e-8},
	{pattern: `^gp_induction_prob$`, flags: "--scores probability --learner gp:variance=4", kernel: inverseKernel, tolerance: 1e-8},
}

const inverseKernel = "--kernel regularized-laplacian:laplacian=combinatorial:alpha=1"

func TestGoldenLearners(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	seen := map[string]bool{}
	for _, graph := range []string{"karate", "wrand60", "sbm300"} {
		folder := goldenFolder(t, graph)
		named := numberByTraining(t, folder)
		store, train := ingested(t, named), filepath.Join(named, "train.tsv")
		kernels := map[string]string{} // maps flags to files
		kernelFile := func(flags string, whole bool) string {
			key := fmt.Sprint(flags, whole)
			if kernels[key] == "" {
				kernels[key] = filepath.Join(t.TempDir(), "K.npy")
				args := append([]string{"kernel", store, "--dtype", "float64", "--quiet", "-o", kernels[key]}, strings.Fields(strings.ReplaceAll(flags, "TRAIN", train))...)
				if !whole {
					args = append(args, "--cols", idsOf(t, train))
				}
				run(t, args...)
			}
			return kernels[key]
		}
		files, err := filepath.Glob(filepath.Join(folder, "*.npy"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			base := strings.TrimSuffix(filepath.Base(file), ".npy")
			for _, g := range goldenLearners {
				pattern := regexp.MustCompile(g.pattern)
				if !pattern.MatchString(base) {
					continue
				}
				kernel := "--kernel diffusion:laplacian=combinatorial:beta=0.5"
				if graph == "sbm300" {
					kernel = "--kernel diffusion:laplacian=normalized:beta=3"
				}
				if g.kernel != "" {
					kernel = g.kernel
				}
				flags := strings.Fields(strings.ReplaceAll(pattern.ReplaceAllString(base, g.flags), "_", ":"))
				learner := flags[slices.Index(flags, "--learner")+1]
				name, _, _ := strings.Cut(learner, ":")
				seen[name] = true
				t.Run(graph+"/"+base+" "+name, func(t *testing.T) {
					want := testgraph.Golden(t, graph+"/"+base+".npy")
					if g.less != "" {
						for c, v := range testgraph.Golden(t, graph+"/"+g.less+".npy").Data {
							for i := range want.Rows {
								want.Row(i)[c] -= v
							}
						}
					}
					out := filepath.Join(t.TempDir(), "OUT.npy")
					run(t, append([]string{"gram", "classify", kernelFile(kernel, g.whole), "--labels", train,
						"--dtype", "float64", "--quiet", "-o", out}, flags...)...)
					got := readByName(t, out, want.Rows)
					if g.column != "" {
						c, err := strconv.Atoi(pattern.ReplaceAllString(base, g.column))
						if err != nil {
							t.Fatal(err)
						}
						one := sparse.NewBlock[float64](got.Rows, 1)
						for i := range got.Rows {
							one.Row(i)[0] = got.Row(i)[c]
						}
						got = one
					}
					abs, rel := 1e-10, 1e-9
					if g.tolerance > 0 {
						abs, rel = g.tolerance, g.tolerance
					}
					testgraph.Close(t, got, want, abs, rel)
				})
			}
		}
	}
	without := []string{"logistic"} // golden files
	for _, l := range classify.Learners() {
		if !seen[l.Name] && !l.Whole && !slices.Contains(without, l.Name) {
			t.Errorf("no golden file for %s; docs/architecture.md says how one is made", l.Name)
		}
	}
}

// numberByTraining copies a golden graph, with ids in the order of train.tsv. The golden perceptrons saw the
// nodes in this order, and learners see labels in the order of the ids. Rows stay in the order of nodes.tsv.
func numberByTraining(t *testing.T, folder string) string {
	t.Helper()
	number := map[string]string{}
	copied := t.TempDir()
	for _, file := range []string{"train.tsv", "nodes.tsv", "edges.tsv"} {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for line := range strings.Lines(string(text)) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			ids := 1
			if file == "edges.tsv" {
				ids = 2
			}
			for i, id := range fields[:ids] {
				if number[id] == "" {
					number[id] = strconv.Itoa(len(number))
				}
				fields[i] = number[id]
			}
			out.WriteString(strings.Join(fields, "\t") + "\n")
		}
		if err := os.WriteFile(filepath.Join(copied, file), []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return copied
}

// readByName reads scores of classes, or decisions between two classes, with the columns in the order of
// names, as in golden files.
func readByName(t *testing.T, out string, rows int) *sparse.Block[float64] {
	t.Helper()
	text, err := os.ReadFile(strings.TrimSuffix(out, ".npy") + ".cols.ids")
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	columns := readNPY(t, out, rows, len(names))
	for c, name := range names {
		if first, second, pair := strings.Cut(name, " vs "); pair && first > second {
			names[c] = second + " vs " + first
			for i := range rows {
				columns.Row(i)[c] *= -1
			}
		}
	}
	sorted := sparse.NewBlock[float64](rows, len(names))
	for to, name := range slices.Sorted(slices.Values(names)) {
		from := slices.Index(names, name)
		for i := range rows {
			sorted.Row(i)[to] = columns.Row(i)[from]
		}
	}
	return sorted
}

func TestGoldenMethods(t *testing.T) {
	type made struct {
		file  string
		last  bool // the last of several stacked blocks
		flags string
	}
	lgc := func(alphas ...string) (list []made) {
		for _, a := range alphas {
			list = append(list, made{file: "lgc_a" + a, flags: "--method lgc:alpha=" + a})
		}
		return list
	}
	both := []made{
		{file: "lp_harmonic", flags: "--method lp"},
		{file: "lp_steps5", flags: "--method lp:steps=5"},
		{file: "lp_steps50", flags: "--method lp:alpha=1:steps=50"},
		{file: "rl_iterations", last: true, flags: "--method rl:gamma=0.3:walk=3:power-alpha=1.5:power-beta=2:rounds=5"},
		{file: "gp_transduction_b0.0_t", flags: "--method gp-transduction:laplacian=combinatorial:alpha=1:variance=4:balance=0"},
		{file: "gp_transduction_b0.1_t", flags: "--method gp-transduction:laplacian=combinatorial:alpha=1:variance=4:balance=0.1"},
	}
	for graph, list := range map[string][]made{
		"karate":  append(lgc("0.1", "0.5", "0.9", "0.99"), both...),
		"wrand60": append(lgc("0.1", "0.99"), both...),
		"sbm300":  append(lgc("0.5", "0.99"), both[0], made{file: "lp_steps10", flags: "--method lp:steps=10"}),
	} {
		if testing.Short() && graph != "karate" {
			continue
		}
		folder := goldenFolder(t, graph)
		store := ingested(t, folder)
		nodes := testgraph.Load(t, graph)
		for _, m := range list {
			want := testgraph.Golden(t, graph+"/"+m.file+".npy")
			if n := len(nodes.Degrees); m.last {
				want = &sparse.Block[float64]{Rows: n, Cols: want.Cols, Stride: want.Stride, Data: want.Data[(want.Rows-n)*want.Stride:]}
			}
			file := filepath.Join(t.TempDir(), "S.npy")
			args := []string{"classify", store, "--labels", filepath.Join(folder, "train.tsv"), "--scores", "raw", "--dtype", "float64", "-o", file, "--quiet"}
			run(t, append(args, strings.Fields(m.flags)...)...)
			abs, rel := 1e-10, 1e-9
			if strings.HasPrefix(m.file, "gp_") {
				abs, rel = 1e-8, 1e-8
			}
			testgraph.Close(t, readByName(t, file, want.Rows), want, abs, rel)
		}
	}
}

// Nodes that no label reaches have quotas too.
func TestGoldenShares(t *testing.T) {
	for _, graph := range []string{"karate", "wrand60"} {
		if testing.Short() && graph != "karate" {
			continue
		}
		folder, nodes := goldenFolder(t, graph), testgraph.Load(t, graph)
		labelled := map[int]bool{}
		for _, row := range nodes.Train {
			labelled[row] = true
		}
		for _, balance := range []string{"0.0", "0.1"} {
			file := filepath.Join(t.TempDir(), "out.tsv")
			run(t, "classify", ingested(t, folder), "--labels", filepath.Join(folder, "train.tsv"), "--method",
				"gp-transduction:laplacian=combinatorial:alpha=1:variance=4:assign=shares:balance="+balance, "--unreached", "prior", "--scores", "none", "-o", file, "--quiet")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := testgraph.Golden(t, graph+"/gp_transduction_b"+balance+"_quota.npy").Data
			for row, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
				if labelled[row] {
					continue
				}
				if fields := strings.Split(line, "\t"); fields[1] != nodes.Classes[int(want[0])] {
					t.Errorf("%s, balance %s: %q, want %s", graph, balance, line, nodes.Classes[int(want[0])])
				}
				want = want[1:]
			}
			if len(want) != 0 {
				t.Errorf("%s: %d nodes are missing", graph, len(want))
			}
		}
	}
}
