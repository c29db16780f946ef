package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/system"
)

// writePage writes a page about a graph: its title names the graph, and its first facts are
// the command, the version, the date, the machine and the cost of the run.
func writePage(run *session, w io.Writer, p *report.Page, graph string) error {
	b, closing := thisBuild(), closingOfRun(run)
	version := "heatwalk " + b.Version
	if b.Commit != "" {
		version += ", commit " + b.Commit
	}
	machine := fmt.Sprintf("%s, %s, %s of memory", b.System, words.Counted(runtime.NumCPU(), "processor"), words.Bytes(system.Memory()))
	p.Title += ": " + filepath.Base(graph)
	p.Facts = append([]report.Fact{
		{Name: "Graph", Value: graph},
		{Name: "Command", Value: commandLine(run.args)},
		{Name: "Version", Value: version},
		{Name: "Date", Value: time.Now().UTC().Format("2006-01-02 15:04 UTC")},
		{Name: "Machine", Value: machine},
		{Name: "Cost", Value: fmt.Sprintf("%s, peak %s", words.Seconds(time.Since(run.started)), words.Bytes(closing.PeakMemoryBytes))},
	}, p.Facts...)
	for _, text := range closing.Warnings {
		p.Facts = append(p.Facts, report.Fact{Name: "Warning", Value: text})
	}
	return p.WriteHTML(w)
}

// pageFormats are the endings of a page.
var pageFormats = []string{".html"}

// checkPage records problems of the flag --report of a command that writes a page in addition to the output
// called out, which may be "".
func checkPage(run *session, path, out string) {
	switch {
	case isStream(path):
		run.problem("--report", "the page is a second output; name a file")
	case path != "" && filepath.Clean(path) == filepath.Clean(out):
		run.problem("--report", "%s is the output too; name another file", path)
	}
}
