package cli

import (
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/report"
)

// writePage writes a page about a graph to the output: its title names the graph, and its first facts are
// the command, the version, the date, the machine and the cost of the run.
func writePage(o *outputs, p *report.Page, graph string) error {
	b, closing := thisBuild(), o.run.closingOfRun()
	version := "heatwalk " + b.Version
	if b.Commit != "" {
		version += ", commit " + b.Commit
	}
	machine := fmt.Sprintf("%s, %s, %s of memory", b.System, words.Counted(runtime.NumCPU(), "processor"), words.Bytes(system.Memory()))
	p.Title += ": " + filepath.Base(graph)
	p.Facts = append([]report.Fact{
		{Name: "Graph", Value: graph},
		{Name: "Command", Value: commandLine(o.run.args)},
		{Name: "Version", Value: version},
		{Name: "Date", Value: time.Now().UTC().Format("2006-01-02 15:04 UTC")},
		{Name: "Machine", Value: machine},
		{Name: "Cost", Value: fmt.Sprintf("%s, peak %s", words.Seconds(time.Since(o.run.started)), words.Bytes(closing.PeakMemoryBytes))},
	}, p.Facts...)
	for _, text := range closing.Warnings {
		p.Facts = append(p.Facts, report.Fact{Name: "Warning", Value: text})
	}
	return p.WriteHTML(o.w)
}
