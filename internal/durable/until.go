package durable

import "context"

// Until returns fsys with files that stop waiting for the reader of a pipe when the context ends.
func Until(ctx context.Context, fsys FS) FS {
	return until{fsys, ctx}
}

type until struct {
	FS
	ctx context.Context
}

func (u until) Create(name string) (File, error) {
	if info, err := u.Stat(name); err != nil || info.Mode().IsRegular() {
		return u.FS.Create(name)
	}
	type result struct {
		f   File
		err error
	}
	created := make(chan result)
	go func() {
		f, err := u.FS.Create(name)
		select {
		case created <- result{f, err}:
		case <-u.ctx.Done(): // the caller no longer waits
			if err == nil {
				_ = f.Close()
			}
		}
	}()
	select {
	case r := <-created:
		if r.err != nil {
			return nil, r.err
		}
		stop := context.AfterFunc(u.ctx, func() { r.f.Close() }) // ends a write that waits
		return stream{r.f, u.ctx, stop}, nil
	case <-u.ctx.Done():
		return nil, context.Cause(u.ctx)
	}
}

// stream is a pipe or device that is closed when the context ends.
type stream struct {
	File
	ctx  context.Context
	stop func() bool // keeps the end of the context from closing the file
}

func (s stream) Close() error {
	s.stop()
	return s.File.Close()
}

func (s stream) Write(p []byte) (int, error) {
	n, err := s.File.Write(p)
	if err != nil && s.ctx.Err() != nil {
		err = context.Cause(s.ctx)
	}
	return n, err
}
