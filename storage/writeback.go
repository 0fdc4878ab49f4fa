package storage

// writeBackSize is how many bytes are written to a large file before the disk
// begins with them.
const writeBackSize = 8 << 20

// WriteBack is a writer to a file that will be large and is to be synced: the
// disk begins to write while more is written, so that Sync, which alone makes
// anything durable, has less left to wait for.
type WriteBack struct {
	File File
	due  int // bytes written since the disk last began
}

// Write writes to the file.
func (w *WriteBack) Write(p []byte) (int, error) {
	n, err := w.File.Write(p)
	w.due += n
	if f, ok := w.File.(*file); ok && w.due >= writeBackSize {
		w.due = 0
		beginWriteBack(f)
	}
	return n, err
}
