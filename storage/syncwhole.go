package storage

// SyncWhole makes durable all that the file systems of the given files and
// directories hold, names and contents, with one call to each. done is false,
// and nothing was done, where there is no such call that can be relied on: then
// each file and directory is to be synced by itself. It is for many at once:
// whatever else waits to be written there is waited for too.
func SyncWhole(fsys FS, names []string) (done bool, err error) {
	w, ok := fsys.(wholeSyncer)
	if !ok {
		return false, nil
	}
	return w.SyncWhole(names)
}

// wholeSyncer is an FS that can do what SyncWhole does. Without names it only
// says whether there is such a call.
type wholeSyncer interface {
	SyncWhole(names []string) (done bool, err error)
}
