package shard

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Commit writes the buffered rest, makes all files durable and publishes the store: it renames the manifest, and then
// removes the files of the store that it replaces. If it fails, or if ctx ends before the manifest is renamed, it
// removes everything that was written, and the earlier store stays valid. If only the very last sync fails, the new
// store is in place but may not survive a crash.
func (w *Writer) Commit(ctx context.Context) error {
	defer func() { w.SyncTime = w.target.waited }()
	if w.target.lock == nil {
		panic(badEnd)
	}
	if w.o.Directed && w.direction == 0 && w.err == nil {
		panic(badCommit)
	}
	if w.err == nil {
		w.err = w.finish(ctx)
	}
	if w.err != nil {
		return errors.Join(w.err, w.Abort())
	}
	if err := w.publish(); err != nil {
		return err
	}
	// The next run removes files that cannot be removed now.
	_, _ = w.target.removeLeftovers()
	return w.target.unlock()
}

func (w *Writer) finish(ctx context.Context) error {
	if err := w.endDirection(); err != nil {
		return err
	}
	if err := w.endShard(); err != nil {
		return err
	}
	switch {
	case w.direction == 0:
		w.Manifest.Rows, w.Manifest.Entries = w.rows, w.entries
		if w.pairs != 0 {
			return fmt.Errorf("%w: not symmetric, and the store is not directed",
				sparse.ErrStructure)
		}
	case w.rows != w.Manifest.Rows || w.pairs != w.outPairs:
		return fmt.Errorf("%w: the columns are not those of the rows",
			sparse.ErrStructure)
	}
	if t := w.Manifest.Times; t != nil && w.Manifest.Entries == 0 {
		t.First = t.Last // no entry has set either
	}
	if w.Nodes == nil {
		w.Nodes = NewNumericNodes(int(w.Manifest.Rows))
	}
	if int64(w.Nodes.ids.n) != w.Manifest.Rows {
		return fmt.Errorf("%w: %d ids for %d rows", sparse.ErrStructure,
			w.Nodes.ids.n, w.Manifest.Rows)
	}
	var err error
	writeFile := func(name string, content func(*bufio.Writer) error) {
		if err != nil {
			return
		}
		var entry File
		entry, err = w.target.writeFile(name, content)
		w.Manifest.Files = append(w.Manifest.Files, entry)
	}
	write := func(name, magic string, content func(*bufio.Writer)) {
		writeFile(name, func(b *bufio.Writer) error {
			b.Write(appendFileHead(b.AvailableBuffer(), magic, w.id))
			content(b)
			return nil
		})
	}
	w.Manifest.Nodes = w.Nodes.ids.kind
	w.Manifest.Order = w.Nodes.name
	write(fileName(w.id, indexEnding), indexMagic, func(b *bufio.Writer) { b.Write(w.index) })
	if w.Manifest.Weighted {
		w.degrees.weigh()
	}
	write(fileName(w.id, degreesEnding), degreesMagic,
		func(b *bufio.Writer) { b.Write(w.degrees.content) })
	if w.Nodes.ids.kind != nodesImplicit {
		write(fileName(w.id, nodesEnding), nodesMagic, w.Nodes.ids.write)
	}
	if w.Manifest.Order != "" {
		write(fileName(w.id, orderEnding), orderMagic,
			func(b *bufio.Writer) { writeRows(b, w.Nodes.Order) })
	}
	attributes := ""
	if w.o.Attributes != nil {
		writeFile(fileName(w.id, attributesEnding), func(b *bufio.Writer) (err error) {
			w.Manifest.Attributes, err = w.o.Attributes(w.Nodes, b)
			return err
		})
		attributes = w.Manifest.Files[len(w.Manifest.Files)-1].CRC
	}
	w.Manifest.setContent(w.content, w.Nodes, attributes)
	return cmp.Or(err, sched.Cause(ctx))
}

func (w *Writer) publish() error {
	err := w.target.syncDir(w.target.dir)
	var b []byte
	if err == nil {
		b, err = w.Manifest.encode()
	}
	if err == nil {
		err = w.target.writeSynced(tempName, func(f io.Writer) error {
			_, err := f.Write(b)
			return err
		})
	}
	published := false
	if err == nil {
		publish := func() (err error) {
			published, err = w.target.publishManifest()
			return err
		}
		if w.o.Around != nil {
			err = w.o.Around(&w.Manifest, publish)
		} else {
			err = publish()
		}
	}
	switch {
	case err == nil:
		return nil
	case !published:
		return errors.Join(err, w.Abort())
	}
	return errors.Join(err, w.target.unlock())
}

// Abort removes everything that was written, and the directory if Create made it. After Commit or Abort it does
// nothing.
func (w *Writer) Abort() error {
	if w.target.lock == nil {
		return nil
	}
	for _, j := range w.frames.queue {
		func() {
			defer func() { _ = recover() }() // no caller is left to report to
			j.group.Wait()
		}()
	}
	w.frames.queue = nil
	var errs []error
	if w.file != nil {
		errs = append(errs, w.file.Close())
		w.file = nil
	}
	written := func(name string) bool {
		return name == tempName ||
			ownName(name) && strings.HasPrefix(name, w.Manifest.Identity)
	}
	_, err := w.target.remove(written)
	errs = append(errs, err, w.target.unlock())
	if w.target.isNew {
		errs = append(errs, w.target.fs.Remove(w.target.dir))
	}
	return errors.Join(errs...)
}

const (
	badEnd    = "shard: writer has ended"
	badCommit = "shard: directed store without BeginIn"
)
