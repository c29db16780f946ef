// Package serve runs calls that it reads as lines of JSON, many at the same time, and writes their answers as lines of JSON.
// docs/serve.md describes the lines. A call is a function of arguments, stdout and stderr, as the main function of a program.
package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// request is a line of the input: a call, or the id of a call to cancel.
type request struct {
	ID     json.RawMessage `json:"id"`
	Args   []string        `json:"args"`
	Cancel json.RawMessage `json:"cancel"`
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

// Server runs calls.
type Server struct {
	In       io.Reader
	Out, Err io.Writer
	Call     func(ctx context.Context, args []string, stdout, stderr io.Writer) (exit int)
	Canceled error // cause of the end of the context of a call

	running sync.WaitGroup
	mutex   sync.Mutex
	calls   map[string]context.CancelCauseFunc // by id

	// Answers wait for a client that does not read. Requests are read meanwhile, because the client may be writing them.
	writing sync.Mutex
}

// Serve answers all requests. When the input or ctx ends, it cancels the calls in work, waits for them and returns. The error is
// that of a line that is no request, or the cause of the end of ctx.
func (s *Server) Serve(ctx context.Context) (err error) {
	s.calls = map[string]context.CancelCauseFunc{}
	ctx, stop := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.read(ctx) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	stop(s.Canceled)
	s.running.Wait()
	return err
}

// read begins the calls of all requests.
func (s *Server) read(ctx context.Context) error {
	requests := bufio.NewReader(s.In)
	for {
		line, err := requests.ReadBytes('\n')
		if err != nil {
			return nil // the client has ended
		}
		r := new(request)
		if err := json.Unmarshal(line, r); err != nil {
			return fmt.Errorf("%w; write lines of JSON with id and args, as docs/serve.md describes", err)
		}
		s.begin(ctx, r)
	}
}

// begin starts the call of a request, or cancels one.
func (s *Server) begin(ctx context.Context, r *request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if r.Cancel != nil {
		if stop := s.calls[string(r.Cancel)]; stop != nil { // else the call has ended
			stop(s.Canceled)
		}
		return
	}
	ctx, stop := context.WithCancelCause(ctx)
	s.calls[string(r.ID)] = stop
	s.running.Go(func() {
		defer stop(nil)
		s.answer(ctx, r)
	})
}

// answer runs a call and writes its answer.
func (s *Server) answer(ctx context.Context, r *request) {
	a := &answer{ID: r.ID}
	var stdout bytes.Buffer
	exit := s.Call(ctx, r.Args, &stdout, &stderr{s, a})
	a.Exit = &exit
	if json.Valid(stdout.Bytes()) {
		a.Result = stdout.Bytes()
	} else {
		a.Output = stdout.String()
	}
	s.mutex.Lock()
	delete(s.calls, string(r.ID))
	s.mutex.Unlock()
	s.write(a)
}

// write writes a line of the output.
func (s *Server) write(a *answer) {
	text, _ := json.Marshal(a) // all parts are JSON or text
	s.writing.Lock()
	defer s.writing.Unlock()
	_, _ = s.Out.Write(append(text, '\n')) // without a reader the input ends too
}

// stderr receives the lines of a call on stderr, of which those with a stage are progress, and those with a code errors.
type stderr struct {
	server *Server
	answer *answer
}

// Write implements [io.Writer]. Every call of it must have complete lines.
func (w *stderr) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		var fields struct {
			Stage *string
			Code  int
		}
		_ = json.Unmarshal(line, &fields) // none in another line
		switch {
		case fields.Stage != nil:
			w.server.write(&answer{ID: w.answer.ID, Progress: line})
		case fields.Code > 0:
			w.answer.Errors = append(w.answer.Errors, bytes.Clone(line))
		default:
			_, _ = w.server.Err.Write(line)
		}
	}
	return len(p), nil
}
