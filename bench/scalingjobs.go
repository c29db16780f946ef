package bench

import "cmp"

type scalingJob struct {
	command string // template of [Cell.words]; the last word is the output
	check   string // call that returns the checksum of the output; "": the checksum is of the bytes of the output
	axes    string // names of [scalingAxis], separated by blanks; with processes, several processes can share the graph
	sources string // accepted values of --source, separated by commas; "": no choice
	width   int    // columns of each sweep; 0: columns of the cell
	bytes   int    // bytes of a number in a sweep; 0: sweeps of unknown width
	sweeps  int    // sweeps of peers, 0: not known
}

var scalingJobs = map[string]*scalingJob{
	"decode":   {command: "bench decode {store} --repeat=5", axes: "threads", width: 1, bytes: 4, sweeps: 1},
	"spmm":     {command: "bench spmm {store} --repeat=5 --columns={columns} --source={source}", axes: "columns threads", sources: "memory,disk", bytes: 4, sweeps: 1},
	"walk":     {command: "bench walk {store} --repeat=3 --source={source}", axes: "threads", sources: "memory,disk", width: walkClasses, bytes: 4, sweeps: walkSteps},
	"solve":    {command: "kernel {store} --kernel=pseudo-inverse --dtype=float64 --cols={store}.{columns}.ids -o {output}.npy", axes: "columns threads processes", bytes: 8},
	"exp":      {command: "kernel {store} --kernel=diffusion:beta=10 --dtype=float64 --cols={store}.{columns}.ids -o {output}.npy", axes: "columns threads processes", bytes: 8},
	"eigen":    {command: "eigen {store} --matrix=normalized-adjacency --which=largest --k={columns} -o {output}.npy", axes: "columns threads processes"},
	"ingest":   {command: "ingest {graph} --order=degree --force -o {output}", check: "bench decode {output} --repeat=1", axes: "threads", width: 1},
	"classify": {command: "classify {store} --labels={store}.labels.tsv -o {output}.tsv", axes: "labels classes attributes threads processes", width: 1},
	"kernel":   {command: "kernel {store} --kernel=regularized-laplacian --dtype=float64 --rows={store}.300.ids --cols={store}.{columns}.ids -o {output}.npy", axes: "columns threads processes"},
}

// ScalingJobs lists the names of the jobs of [Scaling].
var ScalingJobs = []string{"decode", "spmm", "walk", "solve", "exp", "eigen", "ingest", "classify", "kernel"}

// row returns the number of columns of a sweep and the size of a row in bytes, for a cell with the
// given columns.
func (j *scalingJob) row(columns int) (width, bytes int) {
	width = cmp.Or(j.width, columns)
	return width, width * j.bytes
}
