package shell

import (
	"os"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
)

// HeldOutFlags are the flags about which labels are held out together.
type HeldOutFlags struct {
	Groups string // column of groups, or table of them; "": none
	Times  string // column of times, or table of them; "": none
}

// HeldOut has the groups or the times of labelled nodes.
type HeldOut struct {
	group map[int]int     // group of each row; nil: none
	time  map[int]float64 // time of each row; nil: none
}

// Declare declares the flags.
func (f *HeldOutFlags) Declare(flags *FlagSet) {
	flags.AddText(&f.Groups, "groups", "`COLUMN` of the labels or numbers, or table of node and group: labels of a group are held out together")
	flags.AddText(&f.Times, "split-time", "`COLUMN` of the labels or numbers, or table of node and time: held-out labels are newer than those learned from")
	MarkReading(flags.Lookup("groups"))
	MarkReading(flags.Lookup("split-time"))
	flags.AddCheck(func(line *CommandLine, _ []string) {
		line.Refuse(f.Groups != "" && f.Times != "", "split-time", "labels are held out by groups or by times; leave out one of the two")
	})
}

// Read reads the groups or times of the nodes that have a label or number. path is the file of the labels.
func (f *HeldOutFlags) Read(run *Session, r *GraphInputs, g *OpenGraph, path string, l *nodefile.Labels) (*HeldOut, error) {
	h := new(HeldOut)
	if f.Groups != "" {
		list, err := run.readBeside(r, g, "--groups", f.Groups, path, l)
		if err != nil {
			return nil, err
		}
		h.group = map[int]int{}
		for i, row := range list.Row {
			h.group[row] = list.Class[i]
		}
	}
	if f.Times == "" {
		return h, nil
	}
	h.time = map[int]float64{}
	file := f.Times
	if strings.HasSuffix(file, ".npy") {
		values, err := nodefile.ReadValues(run.Context, file, g.Nodes, run.Console.NodeLabels(r, g))
		if err != nil {
			return nil, err
		}
		for i, row := range values.Row {
			h.time[row] = values.Value[i]
		}
	} else {
		list, err := run.readBeside(r, g, "--split-time", file, path, l)
		if err != nil {
			return nil, err
		}
		times, err := parseTimes(list, &r.Tables)
		if err != nil {
			return nil, err
		}
		file = list.File
		for i, row := range list.Row {
			h.time[row] = times[list.Class[i]]
		}
	}
	for _, row := range l.Row {
		if _, isKnown := h.time[row]; !isKnown {
			return nil, DataError(file, "node %s has a label and no time; write its time, or leave out its label", words.Quoted(g.Nodes.ID(row)))
		}
	}
	return h, nil
}

// readBeside reads a column of the table of labels l in the file path, or if there is a file called name, the table in this
// file. Classes of the result are the texts of the column.
func (run *Session) readBeside(r *GraphInputs, g *OpenGraph, flag, name, path string, l *nodefile.Labels) (*nodefile.Labels, error) {
	c := run.Console.NodeLabels(r, g)
	c.SkipUnknown = true
	c.Several = false
	c.Separator = ""
	c.Like = nil
	c.Fields = nil
	c.Option = strings.TrimPrefix(flag, "--")
	c.Warn = nil
	if _, err := os.Stat(name); err == nil {
		path = name
	} else if textio.IsStream(path) {
		return nil, UsageError(flag, "labels from stdin are read once; give them in a file")
	} else {
		c.Fields = []string{l.NodeTitle, name}
		if _, err := strconv.Atoi(name); err == nil || l.NodeTitle == "" {
			c.Fields[0] = strconv.Itoa(l.Node + 1)
		}
	}
	return nodefile.ReadLabels(run.Context, path, g.Nodes, c)
}

// parseTimes returns the time of each class of l: its number if all are numbers, and otherwise the seconds since 1970 of its
// date.
func parseTimes(l *nodefile.Labels, in *Inputs) ([]float64, error) {
	times := make([]float64, len(l.Names))
	areNumbers := true
	for class, text := range l.Names {
		number, fault := table.ParseNumberIn([]byte(text), in.Text)
		times[class] = number
		areNumbers = areNumbers && fault == ""
	}
	if areNumbers {
		return times, nil
	}
	for class, text := range l.Names {
		date, isDate := table.ParseTime(text)
		if !isDate {
			return nil, DataError(l.File, "%s is no time; write all times as numbers, or all as 2024-01-31", words.Quoted(text))
		}
		times[class] = float64(date.UnixNano()) / 1e9
	}
	return times, nil
}

// AddTo stores the groups or times of the labels of p in p. A node without a group is a group of its own.
func (h *HeldOut) AddTo(p *problem.Problem) {
	for _, row := range p.Row {
		if h.group != nil {
			group, hasGroup := h.group[row]
			if !hasGroup {
				group = -1 - row
			}
			p.Group = append(p.Group, group)
		}
		if h.time != nil {
			p.Time = append(p.Time, h.time[row])
		}
	}
}

// Check returns an error if the labels of p have too few groups or times.
func (f *HeldOutFlags) Check(p *problem.Problem) error {
	err := choose.CheckGroups(p)
	switch {
	case err == nil:
		return nil
	case f.Groups != "":
		return UsageError("--groups", "%s", WithoutUsage(err))
	}
	return UsageError("--split-time", "%s", WithoutUsage(err))
}
