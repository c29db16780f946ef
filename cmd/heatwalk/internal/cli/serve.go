package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/problem"
)

// newServe returns the command heatwalk serve, whose lines docs/serve.md describes.
func newServe(run *shell.Session) *cobra.Command {
	cmd, _, _ := shell.NewCommand(run, "serve",
		"Run command lines from stdin in this process, and keep graphs open",
		func(line *shell.CommandLine, _ *struct{}, _ []string) {
			line.Refuse(true, "dry-run seed", "calls have it; give it to them")
		},
		func(run *shell.Session, _ *struct{}, _ string) error {
			run.Costs.LimitHeap(run.Costs.DataLimit())
			// Memory that is never touched lets the garbage of small calls grow to the same size. Without it
			// small calls spend a third of their processor time on garbage collection.
			untouched := make([]byte, 64<<20)
			defer runtime.KeepAlive(untouched)
			s := &server{graphs: shell.NewServer(run), console: run.Console, ended: make(chan error, 1), slots: make(chan struct{}, maxCalls)}
			return s.serve(run.Context)
		})
	return cmd
}

// request is a line of the input: a call, or the id of calls to cancel.
type request struct {
	id       json.RawMessage // null if it is not known
	args     []string
	nodes    json.RawMessage // new nodes to predict; nil: none
	cancel   string          // key of the calls to cancel; "" for a call
	problems []shell.Problem
}

// answer is a line of the output: the progress of a call, or its end.
type answer struct {
	ID       json.RawMessage   `json:"id"`
	Progress json.RawMessage   `json:"progress,omitempty"`
	Exit     *int              `json:"exit,omitempty"`
	Result   json.RawMessage   `json:"result,omitempty"` // stdout, if it is a document
	Output   string            `json:"output,omitempty"` // stdout, if it is other text
	Errors   []json.RawMessage `json:"errors,omitempty"`
}

// maxCalls is the number of calls that run at the same time. A file may contain thousands of calls, each of
// at least 3 MB.
const maxCalls = 32

type server struct {
	graphs  *shell.Server
	console *shell.Console
	ended   chan error    // has the reason why serve ends
	slots   chan struct{} // has a value for each call that runs

	running  sync.WaitGroup
	mutex    sync.Mutex
	calls    []*call // running and waiting, in the order of their lines
	isClosed bool    // no call begins any more

	// Answers wait while the client does not read. Requests are still read, because the client may be writing
	// requests.
	writing sync.Mutex
}

type call struct {
	*request
	key  string
	stop context.CancelCauseFunc
	done chan struct{}
}

// serve answers all requests until the input ends. If ctx ends or nobody reads the answers, it interrupts the
// running calls.
func (s *server) serve(ctx context.Context) (err error) {
	calls, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		err := s.read(calls)
		s.running.Wait()
		s.end(err)
	}()
	go func() {
		if s.console.Stdout.WaitForLoss() {
			s.end(shell.ErrReaderGone)
		}
	}()
	select {
	case err = <-s.ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.mutex.Lock()
	s.isClosed = true
	s.mutex.Unlock()
	stop(shell.ErrInterrupted)
	s.running.Wait()
	return err
}

// end makes serve return the first reason given.
func (s *server) end(reason error) {
	select {
	case s.ended <- reason:
	default:
	}
}

// read begins the calls of all requests.
func (s *server) read(ctx context.Context) error {
	lines := bufio.NewReader(s.console.Stdin)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
		if len(line) > 0 {
			s.begin(ctx, parseRequest(line, number))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return shell.MachineError(err, "stdin", "%s; start heatwalk serve with a pipe or a file as its stdin", shell.Cause(err))
		}
	}
}

var fieldsOfRequest = []string{"id", "args", "cancel", "new"}

// parseRequest parses a line of the input, which has the given number, and records all problems in the
// request.
func parseRequest(line []byte, number int) *request {
	r := &request{id: json.RawMessage("null")}
	problem := func(place, what string) { r.problems = append(r.problems, shell.Problem{Place: place, What: what}) }
	fields, isWhole := splitFields(line)
	if id := fields["id"]; id != nil && utf8.Valid(id) {
		r.id = id
	}
	if !isWhole || !utf8.Valid(line) {
		problem("stdin", fmt.Sprintf(`line %d is not one JSON object in UTF-8 that has each field once; write {"id": 1, "args": ["version"]} on a line of its own`, number))
		return r
	}
	for name, value := range fields {
		if !slices.Contains(fieldsOfRequest, name) {
			remedy := "a request has id and args, perhaps new, or cancel"
			if near := words.Nearest(name, fieldsOfRequest); near != "" {
				remedy = "did you mean " + near + "?"
			}
			problem(name, "a request has no such field; "+remedy)
		}
		if bytes.Equal(value, []byte("null")) { // as absent
			delete(fields, name)
		}
	}
	slices.SortFunc(r.problems, func(a, b shell.Problem) int { return cmp.Compare(a.Place, b.Place) })
	isID := func(name string) bool {
		_, isKnown := keyOf(fields[name])
		return isKnown
	}
	switch cancel := fields["cancel"]; {
	case cancel == nil:
		if fields["id"] == nil {
			problem("id", "it is missing; give the call a number or a text")
		} else if !isID("id") {
			problem("id", "it must be a number or a text; give the call one")
		}
		if r.args = textsOf(fields["args"]); len(r.args) == 0 {
			problem("args", `it must be a list of texts, the words behind heatwalk; write "args": ["info", "edges.tsv"]`)
		} else if r.nodes = fields["new"]; r.nodes != nil && r.args[0] != "predict" {
			problem("new", `it has nodes for predict; write "args": ["predict", "--columns", "@NAME"]`)
		}
	case !isID("cancel"):
		problem("cancel", "it must be a number or a text; give the id of a call")
	case fields["id"] != nil || fields["args"] != nil:
		problem("cancel", `a request to cancel has neither id nor args; write {"cancel": `+string(cancel)+"}")
	default:
		r.cancel, _ = keyOf(cancel)
	}
	return r
}

// splitFields returns the fields of a JSON object. If line is not a single object whose fields have different
// names, it returns the fields before the fault, and false.
func splitFields(line []byte) (fields map[string]json.RawMessage, isWhole bool) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	fields = map[string]json.RawMessage{}
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return fields, false
	}
	for decoder.More() {
		token, err := decoder.Token()
		name, _ := token.(string)
		if err != nil || fields[name] != nil {
			return fields, false
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return fields, false
		}
		fields[name] = value
	}
	if _, err := decoder.Token(); err != nil {
		return fields, false
	}
	_, err := decoder.Token()
	return fields, errors.Is(err, io.EOF)
}

// keyOf returns the key of an id. All JSON encodings of a text have the same key. isID is false if value is
// neither a number nor a text.
func keyOf(value json.RawMessage) (key string, isID bool) {
	var id any
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	_ = decoder.Decode(&id) // nil for no value
	switch id := id.(type) {
	case json.Number:
		return id.String(), true
	case string:
		return `"` + id, true
	}
	return "", false
}

// textsOf returns nil if value is not a list of texts.
func textsOf(value json.RawMessage) []string {
	var list []*string // nil for a null in the list
	if json.Unmarshal(value, &list) != nil || slices.Contains(list, nil) {
		return nil
	}
	texts := make([]string, len(list))
	for i, text := range list {
		texts[i] = *text
	}
	return texts
}

// begin starts the call of a request, or cancels calls.
func (s *server) begin(ctx context.Context, r *request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.isClosed {
		return
	}
	if r.cancel != "" {
		for _, c := range s.calls { // none if the call has ended
			if c.key == r.cancel {
				c.stop(shell.ErrInterrupted)
			}
		}
		return
	}
	ctx, stop := context.WithCancelCause(ctx)
	c := &call{request: r, stop: stop, done: make(chan struct{})}
	c.key, _ = keyOf(r.id)
	var earlier []*call
	for _, other := range s.calls {
		if c.mustFollow(other) {
			earlier = append(earlier, other)
		}
	}
	s.calls = append(s.calls, c)
	s.running.Go(func() {
		defer stop(nil)
		for _, other := range earlier {
			select {
			case <-other.done:
			case <-ctx.Done():
			}
		}
		s.slots <- struct{}{}
		s.run(ctx, c)
		<-s.slots
	})
}

// mustFollow reports whether a call must wait for an earlier call, because both name the same open graph and
// one of them opens or closes it.
func (c *call) mustFollow(earlier *call) bool {
	if !c.changesGraphs() && !earlier.changesGraphs() {
		return false
	}
	return slices.ContainsFunc(c.args, func(arg string) bool {
		arg = strings.TrimPrefix(arg, "--as=")
		return strings.HasPrefix(arg, shell.NamePrefix) && (slices.Contains(earlier.args, arg) || slices.Contains(earlier.args, "--as="+arg))
	})
}

func (c *call) changesGraphs() bool {
	return len(c.args) > 0 && (c.args[0] == "open" || c.args[0] == "close")
}

func (s *server) run(ctx context.Context, c *call) {
	a := &answer{ID: c.id}
	var stdout bytes.Buffer
	session := s.graphs.NewCall(ctx, c.args, &stdout, &callErrors{s, a})
	var exit int
	if c.problems != nil {
		exit = session.Guard(func() error { return shell.UsageErrors(c.problems) })
	} else {
		switch {
		case c.nodes != nil:
			session.Commands = func() []*cobra.Command { return []*cobra.Command{newPredictNodes(s.graphs, session, c.nodes)} }
		case slices.Contains([]string{"open", "close", "memory"}, c.args[0]):
			session.Commands = func() []*cobra.Command { return newServeCommands(s.graphs, session) }
		}
		exit = execute(session)
	}
	a.Exit = &exit
	if json.Valid(stdout.Bytes()) {
		a.Result = stdout.Bytes()
	} else {
		a.Output = stdout.String()
	}
	s.mutex.Lock()
	s.calls = slices.DeleteFunc(s.calls, func(other *call) bool { return other == c })
	s.mutex.Unlock()
	close(c.done)
	s.write(a)
}

// write writes a line of the output. If it fails, serve ends.
func (s *server) write(a *answer) {
	text, _ := json.Marshal(a) // cannot fail: all parts are JSON or text
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.console.Stdout.Write(append(text, '\n')); err != nil {
		s.end(err)
	}
}

// callErrors receives what a call writes on stderr. A line with a stage is progress, and a line with a code
// is an error.
type callErrors struct {
	server *server
	answer *answer
}

// Write handles p, which must be complete lines.
func (w *callErrors) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		var fields struct {
			Stage *string
			Code  int
		}
		_ = json.Unmarshal(line, &fields) // other lines have no fields
		switch {
		case fields.Stage != nil:
			w.server.write(&answer{ID: w.answer.ID, Progress: line})
		case fields.Code > 0:
			w.answer.Errors = append(w.answer.Errors, bytes.Clone(line))
		default:
			_, _ = w.server.console.Stderr.Write(line)
		}
	}
	return len(p), nil
}

// newServeCommands returns the commands that only requests can name, for example open and close.
func newServeCommands(s *shell.Server, call *shell.Session) []*cobra.Command {
	name, model := "", ""
	open, in, flags := shell.NewCommand(call, "open GRAPH", "Keep a graph, or columns of nodes, open under the name of --as",
		func(line *shell.CommandLine, _ *shell.GraphInputs, _ []string) {
			line.Require("as")
			if name != "" && !shell.IsName(name) {
				line.Problem("--as", "the name of an open graph begins with %s; write --as %[1]s%s", shell.NamePrefix, cmp.Or(strings.TrimLeft(name, shell.NamePrefix), "g"))
			}
		},
		func(call *shell.Session, in *shell.GraphInputs, path string) error {
			if model != "" {
				c, err := openColumns(call, model, path)
				if err == nil {
					s.KeepColumns(name, c)
					err = printGraphs(s, call)
				}
				return err
			}
			g, err := call.ReadGraph(in, path, "")
			if err == nil {
				s.Keep(call, name, g)
				err = printGraphs(s, call)
			}
			return err
		})
	flags.AddText(&name, "as", "`@NAME` in place of GRAPH in later calls")
	flags.AddInput(&model, "model", "that --save-model wrote; GRAPH then has the columns that --save-columns wrote with it")
	in.Declare(flags)
	closing, _, _ := shell.NewCommand(call, "close NAME", "Close an open graph", nil,
		func(call *shell.Session, _ *struct{}, name string) error {
			if !s.Forget(name) {
				return shell.UsageError(name, "nothing of this name is open; give the name of open --as")
			}
			return printGraphs(s, call)
		})
	memory, _, _ := shell.NewCommand(call, "memory", "Memory of the process and of open graphs", nil,
		func(call *shell.Session, _ *struct{}, _ string) error { return printGraphs(s, call) })
	return []*cobra.Command{open, closing, memory}
}

func openColumns(call *shell.Session, model, path string) (*heatwalk.Columns, error) {
	m, err := heatwalk.LoadModelWithin(model, call.Costs.DataLimit())
	if err != nil {
		return nil, err
	}
	return m.OpenColumns(path)
}

// newPredictNodes returns the command that predicts the new nodes of a request.
func newPredictNodes(s *shell.Server, call *shell.Session, nodes json.RawMessage) *cobra.Command {
	name := ""
	cmd, _, flags := shell.NewCommand(call, "predict", "Predict the nodes of the field new",
		func(line *shell.CommandLine, _ *struct{}, _ []string) { line.Require("columns") },
		func(call *shell.Session, _ *struct{}, _ string) error {
			c, err := s.Columns(call, name)
			if err != nil {
				return err
			}
			var list []heatwalk.NewNode
			decoder := json.NewDecoder(bytes.NewReader(nodes))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&list); err != nil {
				return shell.UsageError("new", `%v; write "new": [{"edges": [{"id": "ann"}]}]`, err)
			}
			predictions, err := c.Predict(call.Context, list)
			unknown := new(heatwalk.IDError)
			if errors.As(err, &unknown) {
				return shell.UsageError("new", "%q is neither a node of the graph nor a new node; add it, or leave out the edge", unknown.ID)
			}
			if err != nil {
				return err
			}
			return call.Console.PrintResult(&struct {
				Classes     []string                 `json:"classes"`
				Predictions []heatwalk.NewPrediction `json:"predictions"`
				Omitted     []problem.MixedModel     `json:"omitted,omitempty"`
				shell.Closing
			}{Classes: c.Classes, Predictions: predictions, Omitted: c.Omitted}, func(io.Writer) {})
		})
	flags.AddText(&name, "columns", "`@NAME` of open columns")
	return cmd
}

func printGraphs(s *shell.Server, call *shell.Session) error {
	return call.Console.PrintResult(&struct {
		Graphs map[string]int64 `json:"graphs"`
		shell.Closing
	}{Graphs: s.Graphs()}, func(io.Writer) {})
}
