package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/input"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/spec"
)

// fail prints err, if there is one to print, and returns the exit code.
func (in *invocation) fail(err error) int {
	err = fault.Resumed(err)
	code := fault.Code(err)
	if code == fault.Done {
		return code
	}
	in.progress.Close()
	switch code {
	case fault.Interrupted:
		err = in.interruption()
	case fault.OverLimit:
		err = in.overLimit(err)
	}
	for _, r := range fault.Reports(in.named(err)) {
		r.Code = code
		if c := new(fault.Crash); in.debug && errors.As(err, &c) {
			r.Stack = string(c.Stack)
		}
		in.printReport(r)
	}
	return code
}

// named gives the error about a parameter, which is no flag, the flag in which it is named.
func (in *invocation) named(err error) error {
	wrong := new(spec.ParameterError)
	if in.command == nil || !errors.As(err, &wrong) || in.command.Flags().Lookup(wrong.Parameter) != nil {
		return err
	}
	for _, flag := range []string{"method", "kernel", "learner"} {
		if in.command.Flags().Lookup(flag) != nil {
			return fault.Usage("--"+flag, "%s", wrong.Error())
		}
	}
	return err
}

// overLimit says what --max-memory would have to be, if err is about it.
func (in *invocation) overLimit(err error) error {
	var (
		over  *budget.Error
		room  *ingest.LimitError
		what  string
		short int64
	)
	switch {
	case errors.As(err, &over):
		// The limit may be that of a part.
		short = over.Need - over.Limit
		what, short = over.Largest.What, short+short/8+1 // see budget.Resident
	case !errors.As(err, &room):
		return err
	case room.Dir == "":
		what, short = "the edges", budget.Resident(room.Need)-in.memory
	default:
		if parent, ours := durable.InTempDir(room.Dir); ours {
			return fault.Limit(parent, "temporary files may need %s, %s are free; make room, or name another disk with --temp-dir",
				words.Bytes(room.Need), words.Bytes(room.Limit))
		}
		return fmt.Errorf("%s: %s may need %s, %s are free; %s", room.Dir, room.What, words.Bytes(room.Need), words.Bytes(room.Limit), room.Fix)
	}
	enough := in.memory + short
	need := words.Bytes(enough + enough/100) // its figures are rounded
	otherwise := ""
	if room != nil && room.Unordered {
		otherwise = ", or pass --order none"
	}
	if over != nil && over.Instead != "" {
		otherwise = ", or pass --method " + over.Instead
	}
	switch {
	case in.limitedBy == system.AddressLimit && in.memory != in.maxMemory:
		return fault.Limit(system.AddressLimit, "it leaves %s, too little for %s, which takes %s or more; raise it by %s%s",
			words.Bytes(in.memory), what, need, words.Bytes(enough-in.memory+enough/10), otherwise)
	case in.maxMemory == 0:
		return fault.Limit("memory", "this machine has too little for %s; it takes %s or more%s", what, need, otherwise)
	}
	return fault.Limit("--max-memory", "%s is too little for %s; allow %s or more%s", words.Bytes(in.memory), what, need, otherwise)
}

// unsolved says that an iteration did not come to its end, in place of its own words,
// which count steps and columns. Of a kernel loosened tells what to do, of a method another.
const (
	unsolved = "systems of equations of this graph were not solved to their tolerance within the limit on steps"
	loosened = "loosen --tolerance, or take parameters farther from the end of their range"
	another  = "take parameters farther from the end of their range, or another --method"
)

// graphError names the graph in an error of a kernel or method about its directions, or about
// an iteration on it that did not come to its tolerance.
func (in *invocation) graphError(err error, graph, advice string) error {
	limited := new(problem.Error)
	switch {
	case errors.Is(err, kernel.ErrTolerance):
		return fault.Usage("--tolerance", "%v", err)
	case errors.As(err, &limited) && errors.Is(err, problem.ErrDirected):
		return fault.Usage(graph, "%s", asymmetric(limited.Method, "--method=auto"))
	case errors.As(err, &limited) && limited.Short > 0:
		return fault.Machine(err, graph, unsolved+"; allow --max-memory %s or more for a factor of the graph, or take another --method",
			words.Bytes(in.memory+limited.Short+limited.Short/4))
	case errors.As(err, &limited):
		return fault.Machine(err, graph, unsolved+"; take another --method")
	case errors.Is(err, iterative.ErrIterationLimit):
		return fault.Machine(err, graph, "%s; %s", unsolved, advice)
	}
	return err
}

// interruption returns the error of an interrupted run: how far it had come, and what it leaves as it was.
func (in *invocation) interruption() error {
	reached := cmp.Or(in.reached, words.Seconds(time.Since(in.started)))
	if in.doing == "" {
		return fmt.Errorf("interrupted after %s", reached)
	}
	return fmt.Errorf("interrupted after %s; %s", reached, in.doing)
}

// printReport writes one line on stderr.
func (in *invocation) printReport(r fault.Report) {
	if !in.json && in.logFormat != "json" {
		fmt.Fprintf(in.stderr, "heatwalk: %s\n%s", input.Escape(r.Text), r.Stack)
		return
	}
	enc := json.NewEncoder(in.stderr)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(r) // there is nowhere left to report to
}

// warnOf prints a warning of a library.
func (in *invocation) warnOf(w error) { in.warn("%s", fault.Text(w)) }

// warn prints something the user should know that does not stop the run.
func (in *invocation) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	in.warning.Lock()
	in.warnings = append(in.warnings, text)
	in.warning.Unlock()
	var line strings.Builder
	if in.logFormat == "json" {
		slog.New(slog.NewJSONHandler(&line, nil)).Warn(text)
	} else {
		fmt.Fprintf(&line, "heatwalk: warning: %s\n", input.Escape(text))
	}
	in.progress.Print([]byte(line.String()))
}
