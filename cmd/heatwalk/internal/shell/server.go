package shell

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/file/textio"
)

// Server has the graphs and columns that stay open between calls in one process. It is safe for concurrent use.
type Server struct {
	run    *Session
	mutex  sync.Mutex
	graphs map[string]*keptGraph
}

type keptGraph struct {
	arguments []string // GRAPH and the flags for reading it
	graph     *heatwalk.Graph
	columns   *heatwalk.Columns // in place of a graph
	sums      map[string]textio.Sum
	warnings  []string
	calls     sync.RWMutex // has a reader for each call, and is locked to close the graph
}

// NewServer returns a server without graphs. The limit of memory of run is the limit of calls.
func NewServer(run *Session) *Server {
	return &Server{run: run, graphs: map[string]*keptGraph{}}
}

func (s *Server) NewCall(ctx context.Context, args []string, stdout, stderr io.Writer) *Session {
	call := NewSession(ctx, nil, args, strings.NewReader(""), stdout, stderr)
	call.Console.JSON = true
	call.Costs.isShared = true
	call.Costs.Memory = s.run.Costs.Memory
	call.server = s
	return call
}

// NamePrefix begins the name of every open graph.
const NamePrefix = "@"

func IsName(arg string) bool {
	return len(arg) > len(NamePrefix) && strings.HasPrefix(arg, NamePrefix)
}

// ResolveName replaces @NAME of an open graph in the command line by the arguments with which the graph was
// opened: GRAPH and the flags for reading it.
func (run *Session) ResolveName(root *cobra.Command) error {
	if run.server == nil {
		return nil
	}
	i := positionOfName(root, run.Line.Args)
	if i < 0 {
		return nil
	}
	s, name := run.server, run.Line.Args[i]
	s.mutex.Lock()
	defer s.mutex.Unlock()
	kept := s.graphs[name]
	switch {
	case run.Line.Args[0] == "open":
		return UsageError(name, "it is the name of an open graph, not a file; write ./%s for a file of this name", name)
	case kept == nil:
		return UsageError(name, "no graph of this name is open; call open GRAPH --as %[1]s first, or write ./%[1]s for a file of this name", name)
	}
	if kept.columns != nil {
		return UsageError(name, "it names columns of nodes, not a graph; give it to predict with --columns")
	}
	args := slices.Clone(run.Line.Args)
	args[i] = kept.arguments[0]
	run.Line.Args = slices.Insert(args, 1, kept.arguments[1:]...)
	run.kept = kept
	kept.calls.RLock()
	run.AtEnd(kept.calls.RUnlock)
	return nil
}

// positionOfName returns the index in args of @NAME of an open graph in the place of GRAPH. It returns −1
// if GRAPH is a file.
func positionOfName(root *cobra.Command, args []string) int {
	const mark = "\x00" // cannot be an argument of a user
	for i, arg := range args {
		if !IsName(arg) {
			continue
		}
		marked := slices.Clone(args)
		marked[i] = mark
		cmd, marked, err := root.Find(marked)
		if err != nil {
			return -1 // the command line is refused later
		}
		words := strings.Fields(cmd.Use)[1:]
		place := slices.IndexFunc(words, func(word string) bool { return strings.Trim(word, "[]") == "GRAPH" })
		if cmd.Name() == "convert" {
			place = 0
		}
		cmd.InheritedFlags() // adds them to the flags of cmd
		if cmd.Flags().ParseAll(marked, func(*pflag.Flag, string) error { return nil }) != nil {
			return -1
		}
		if place >= 0 && slices.Index(cmd.Flags().Args(), mark) == place {
			return i
		}
	}
	return -1
}

// Keep keeps the graph of a call open under a name, instead of another graph of this name.
func (s *Server) Keep(call *Session, name string, g *OpenGraph) {
	g.isKept = true
	s.Forget(name)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.graphs[name] = &keptGraph{arguments: call.Line.describeReading(g.Name), graph: g.Graph, sums: maps.Clone(call.inputs.sums),
		warnings: call.Console.warnings}
}

// KeepColumns keeps columns open under a name, instead of what had this name.
func (s *Server) KeepColumns(name string, c *heatwalk.Columns) {
	s.Forget(name)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.graphs[name] = &keptGraph{columns: c}
}

// Columns returns the open columns of a name, which stay open until the call ends.
func (s *Server) Columns(call *Session, name string) (*heatwalk.Columns, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	kept := s.graphs[name]
	if kept == nil || kept.columns == nil {
		return nil, UsageError(name, "no columns of this name are open; call open COLUMNS --model MODEL --as @NAME first")
	}
	kept.calls.RLock()
	call.AtEnd(kept.calls.RUnlock)
	return kept.columns, nil
}

// Forget closes the graph or the columns of a name as soon as no call uses them. It returns false if nothing has the name.
func (s *Server) Forget(name string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	kept := s.graphs[name]
	delete(s.graphs, name)
	if kept != nil {
		go func() {
			kept.calls.Lock()
			if kept.columns != nil {
				_ = kept.columns.Close()
				return
			}
			_ = kept.graph.Close() // its temporary files are in the folder of the system
		}()
	}
	return kept != nil
}

// Graphs returns the memory of the open graphs by name. It waits while a call puts a graph into memory.
func (s *Server) Graphs() map[string]int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	bytes := map[string]int64{}
	for name, kept := range s.graphs {
		if kept.graph != nil {
			bytes[name] = kept.graph.Plan().Required()
		}
	}
	return bytes
}

// describeReading returns the path graph and the given flags that determine how the graph is read.
func (line *CommandLine) describeReading(graph string) []string {
	list := []string{graph}
	line.Command.Flags().Visit(func(f *pflag.Flag) {
		if f.Annotations[readingGroup] != nil || slices.Contains([]string{"missing", "largest-component", "max-memory", "dry-run"}, f.Name) {
			list = append(list, "--"+f.Name+"="+f.Value.String())
		}
	})
	return list
}

// openKept returns the open graph that the call names. It returns nil if the call names no open graph, or
// reads the graph with other flags than open did.
func (run *Session) openKept(name string, o *heatwalk.Options) *heatwalk.Graph {
	kept := run.kept
	if kept == nil || !slices.Equal(kept.arguments, run.Line.describeReading(name)) {
		return nil
	}
	for path, sum := range kept.sums {
		run.inputs.record(path, sum)
	}
	for _, text := range kept.warnings {
		run.Console.Warn("%s", text)
	}
	return kept.graph.With(o.Workers, o.Planned)
}
