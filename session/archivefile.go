package session

// archiveEnding ends the name of the file that holds what was archived of a
// transcript, in the place of .jsonl.
const archiveEnding = ".archive.ndjson"

// ArchivePath is the archive of the transcript at path.
func ArchivePath(path string) string { return stemOf(path) + archiveEnding }
