package cli

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// fail prints err, unless it is nil or printed already, and returns the exit code.
func fail(run *session, err error) int {
	if errors.Is(err, heatwalk.ErrFollower) {
		return fault.Done
	}
	err = fault.Resumed(err)
	code := fault.Code(err)
	if code == fault.Done {
		return code
	}
	run.progress.Close()
	switch code {
	case fault.Interrupted:
		err = interruption(run)
	case fault.OverLimit:
		err = overLimit(run, err)
	}
	if run.isFollower() {
		select {
		case <-run.ctx.Done():
			return code
		case <-time.After(followerPause):
		}
	}
	for _, r := range fault.Reports(namedFlag(run, err)) {
		r.Code = code
		if c := new(fault.Crash); run.debug && errors.As(err, &c) {
			r.Stack = string(c.Stack)
		}
		printReport(run, r)
	}
	return code
}

// namedFlag adds the flag that accepts a parameter to an error about the parameter.
func namedFlag(run *session, err error) error {
	wrong := new(param.ParameterError)
	if run.command == nil || !errors.As(err, &wrong) || run.command.Flags().Lookup(wrong.Parameter) != nil {
		return err
	}
	for _, flag := range []string{"method", "kernel", "function", "learner"} {
		if run.command.Flags().Lookup(flag) != nil {
			return fault.Usage("--"+flag, "%s", wrong.Error())
		}
	}
	return err
}

// overLimit adds a sufficient --max-memory to an error about the memory limit.
func overLimit(run *session, err error) error {
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
		what, short = "the edges", budget.Resident(room.Need)-run.memory
	default:
		if parent, ours := durable.InTempDir(room.Dir); ours {
			return fault.Limit(parent, "temporary files may need %s, %s are free; make room, or name another disk with --temp-dir",
				words.Bytes(room.Need), words.Bytes(room.Limit))
		}
		return fmt.Errorf("%s: %s may need %s, %s are free; %s", room.Dir, room.What, words.Bytes(room.Need), words.Bytes(room.Limit), room.Fix)
	}
	limit := run.memory + run.libraries
	enough := limit + short
	need := words.Bytes(enough + enough/100) // because the printed number is rounded
	otherwise := ""
	if room != nil && room.Unordered {
		otherwise = ", or pass --order none"
	}
	if over != nil && over.Instead != "" {
		otherwise = ", or pass --method " + over.Instead
	}
	switch {
	case run.limitedBy == system.AddressLimit && run.memory != run.maxMemory:
		return fault.Limit(system.AddressLimit, "it leaves %s, too little for %s, which takes %s or more; raise it by %s%s",
			words.Bytes(limit), what, need, words.Bytes(enough-limit+enough/10), otherwise)
	case run.maxMemory == 0:
		return fault.Limit("memory", "this machine has too little for %s; it takes %s or more%s", what, need, otherwise)
	}
	return fault.Limit("--max-memory", "%s is too little for %s; allow %s or more%s", words.Bytes(limit), what, need, otherwise)
}

// unsolved replaces the message of an iteration that did not converge, which counts steps and columns.
// loosened is the remedy for a kernel, another the remedy for a method.
const (
	unsolved = "systems of equations of this graph were not solved to their tolerance within the limit on steps"
	loosened = "loosen --tolerance, or take parameters farther from the end of their range"
	another  = "take parameters farther from the end of their range, or another --method"
)

// graphError adds the name of the graph to an error about its direction, about processes that share its rows, or about
// an iteration that did not converge.
func graphError(run *session, err error, graph, advice string) error {
	limited := new(problem.Error)
	switch {
	case errors.Is(err, kernel.ErrTolerance):
		return fault.Usage("--tolerance", "%v", err)
	case errors.As(err, &limited) && errors.Is(err, problem.ErrDirected):
		return fault.Usage(graph, "%s", asymmetric(limited.Method, "--method=auto"))
	case errors.Is(err, sparse.ErrDivided):
		what := "this method"
		if errors.As(err, &limited) {
			what = limited.Method
		}
		return fault.Usage(graph, "%s needs all rows of the graph in one process; run heatwalk without mpirun, or take another --method", what)
	case errors.As(err, &limited) && limited.Short > 0:
		return fault.Machine(err, graph, unsolved+"; allow --max-memory %s or more for a factor of the graph, or take another --method",
			words.Bytes(run.memory+run.libraries+limited.Short+limited.Short/4))
	case errors.As(err, &limited):
		return fault.Machine(err, graph, unsolved+"; take another --method")
	case errors.Is(err, iterative.ErrIterationLimit):
		return fault.Machine(err, graph, "%s; %s", unsolved, advice)
	}
	return err
}

// interruption returns the error of an interrupted run, with its progress and the state of its output.
func interruption(run *session) error {
	reached := cmp.Or(run.reached, words.Seconds(time.Since(run.started)))
	if run.doing == "" {
		return fmt.Errorf("interrupted after %s", reached)
	}
	return fmt.Errorf("interrupted after %s; %s", reached, run.doing)
}
