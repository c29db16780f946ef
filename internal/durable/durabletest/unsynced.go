package durabletest

import "github.com/heatwalk/heatwalk/internal/durable"

// Unsynced returns fsys with syncs that do nothing, so that tests do not wait for a disk.
func Unsynced(fsys durable.FS) durable.FS { return unsynced{fsys} }

type unsynced struct{ durable.FS }

func (unsynced) SyncDir(string) error { return nil }

func (u unsynced) Create(name string) (durable.File, error) {
	f, err := u.FS.Create(name)
	return unsyncedFile{f}, err
}

func (u unsynced) CreateTemp(name string) (durable.File, error) {
	f, err := u.FS.CreateTemp(name)
	return unsyncedFile{f}, err
}

type unsyncedFile struct{ durable.File }

func (unsyncedFile) Sync() error { return nil }
