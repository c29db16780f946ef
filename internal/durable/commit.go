package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Unfinished is the suffix of marks. The mark NAME.unfinished of the file NAME exists while a run replaces files that
// belong together. If the run is killed, the mark stays, because the files may then be of different runs.
const Unfinished = ".unfinished"

// ErrUnsynced is wrapped by errors that occur after all files got their names, but before they are known to be on the
// disk.
var ErrUnsynced = errors.New("in place, but the disk may lose it")

// Commit publishes an output, files[0], and the files that belong to it. It syncs all files before it renames the first
// file. It renames the output last, so that an output never lacks its files. If an output is replaced, each file has a
// mark while some files are new and others old, see [Unfinished].
//
// If it fails, Commit removes the temporary files, and the renamed files that replaced nothing. If other renamed files
// have replaced old files by then, their marks stay and the error says so. After an error that follows the renaming of
// the output, all files stay.
//
// Runs that publish the same files at the same time wait for each other, except on a file system without locks.
//
// If the output is a store, publish must put it in place; Commit calls it after all files have their names. Otherwise
// publish must be nil. The error of publish wraps [ErrUnsynced] if only the sync has failed.
func Commit(publish func() error, files ...*Pending) (err error) {
	for _, p := range files {
		if p.done {
			return errors.New("durable: Commit after the end")
		}
	}
	for i := 0; i < len(files) && err == nil; i++ {
		err = files[i].seal()
	}
	unnamed := len(files)
	if err == nil && (len(files) > 1 || publish != nil && len(files) > 0) {
		var unlock func() error
		if unlock, err = files[0].lockGroup(); unlock != nil {
			defer func() { err = errors.Join(err, unlock()) }()
		}
	}
	if err == nil {
		err = mark(publish != nil, files)
	}
	for unnamed > 0 && err == nil {
		if unnamed == 1 && publish == nil {
			err = syncDirs(files[1:])
		}
		if err == nil {
			err = files[unnamed-1].publish()
		}
		if err == nil {
			unnamed--
		}
	}
	if err == nil && publish != nil {
		if err = syncDirs(files); err == nil {
			err = publish()
		}
	}
	if err != nil && !errors.Is(err, ErrUnsynced) {
		if errors.Is(err, fs.ErrNotExist) && len(files) > 0 { // the folders were there when the files began
			err = fmt.Errorf("%s: its folder was moved or replaced during the run; let it stay, and repeat the run", files[0].path)
		}
		return errors.Join(err, undo(files, unnamed))
	}
	if err == nil && publish == nil {
		err = syncDirs(files[:min(1, len(files))])
	}
	if err == nil {
		err = unmark(files)
	}
	for _, p := range files {
		p.done = true
		closing := p.f.Close()
		if publish == nil { // after publish all files are in place, so that a failed close loses nothing
			err = errors.Join(err, closing)
		}
	}
	return err
}

// patience is the longest time that a run waits for another run that publishes the same files.
const patience = time.Minute

// lockGroup takes the lock for publishing p and the files that belong to it. The lock has the name of a temporary file,
// so that it is removed like a temporary file after a kill. If the file system has no locks, unlock is nil.
func (p *Pending) lockGroup() (unlock func() error, err error) {
	if p.tmp == "" {
		return nil, nil
	}
	dir, name := filepath.Split(p.path)
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		lock, err := p.fsys.Lock(filepath.Join(dir,
			"."+name+".heatwalk-tmp-00000000"))
		switch {
		case err == nil:
			return func() error {
				err := errors.Join(lock.Close(), p.fsys.SyncDir(filepath.Dir(p.path)))
				if errors.Is(err, fs.ErrNotExist) { // gone with its folder
					return nil
				}
				return err
			}, nil
		case !errors.Is(err, ErrLocked):
			return nil, nil
		case time.Now().After(end):
			return nil, fmt.Errorf("%s: %w, which is putting its own in place; wait until it is done, or end it, and repeat the run", p.path, ErrLocked)
		}
	}
}

// hasName reports whether the file at p.path is p. It is another file if another folder has taken the place of its
// folder.
func (p *Pending) hasName() bool {
	written, err := p.f.Stat()
	if err != nil {
		return false
	}
	named, err := p.fsys.Stat(p.path)
	return err == nil && named.Size() == written.Size() && named.ModTime().Equal(written.ModTime())
}

// undo aborts files[:unnamed], which do not have their names yet. It removes the other files unless they replaced a
// file. If none of them replaced a file, it also removes the marks; otherwise the error names the files that did.
func undo(files []*Pending, unnamed int) (err error) {
	var mixed []string
	for i, p := range files {
		if i < unnamed {
			err = errors.Join(err, p.Abort())
			continue
		}
		p.done = true
		var removed error
		if p.fresh && p.hasName() {
			removed = p.fsys.Remove(p.path)
		}
		if p.tmp != "" && (!p.fresh || removed != nil) {
			mixed = append(mixed, p.path)
		}
		err = errors.Join(err, removed, p.f.Close())
	}
	if mixed == nil {
		return errors.Join(err, unmark(files))
	}
	return errors.Join(err,
		fmt.Errorf("%s replaced already, but not the files that belong to it; repeat the run", strings.Join(mixed, ", ")))
}

// mark makes the marks of files. Without a store, it makes none for a single file or a new output, with which no reader
// can see files of an earlier run.
func mark(isStore bool, files []*Pending) error {
	if !isStore {
		if len(files) < 2 {
			return nil
		}
		if _, err := files[0].fsys.Stat(files[0].path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	var names []string
	for _, p := range files {
		names = append(names, filepath.Base(p.path))
	}
	text := "heatwalk is replacing files that belong together, or was stopped while it did: " + strings.Join(names, ", ") +
		".\nUntil it is done they may be of different runs. If it was stopped, repeat that run.\n"
	for _, p := range files {
		if p.tmp == "" {
			continue
		}
		name := p.path + Unfinished
		if target, err := p.fsys.Follow(name); err == nil && target != name {
			if err := p.fsys.Remove(name); err != nil { // a link: writing would change its target
				return err
			}
		}
		f, err := p.fsys.Create(name)
		if err != nil {
			return err
		}
		_, err = io.WriteString(f, text)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return syncDirs(files)
}

func unmark(files []*Pending) error {
	had := false
	for _, p := range files {
		if p.tmp == "" {
			continue
		}
		switch err := p.fsys.Remove(p.path + Unfinished); {
		case err == nil:
			had = true
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	if !had {
		return nil
	}
	return syncDirs(files)
}

// seal writes the buffer to the file and syncs the file. A file that is written directly is not synced.
func (p *Pending) seal() error {
	if err := p.w.Flush(); err != nil || p.tmp == "" {
		return err
	}
	if _, err := p.fsys.Stat(p.tmp); err != nil { // before a mark is made in another folder
		return err
	}
	if !p.fresh && p.mode|writing != p.mode {
		if err := p.f.Chmod(p.mode); err != nil {
			return err
		}
	}
	if err := p.f.Sync(); err != nil {
		return fmt.Errorf("%w; the disk may have lost data", err)
	}
	return nil
}

// publish gives the temporary file its final name. The file stays open, because otherwise another run might remove it
// as a leftover.
func (p *Pending) publish() error {
	if p.tmp == "" {
		return nil
	}
	return p.fsys.Rename(p.tmp, p.path)
}

func syncDirs(files []*Pending) error {
	var synced []string
	for _, p := range files {
		dir := filepath.Dir(p.path)
		if p.tmp == "" || slices.Contains(synced, dir) {
			continue
		}
		if err := p.fsys.SyncDir(dir); err != nil {
			return err
		}
		synced = append(synced, dir)
	}
	return nil
}
