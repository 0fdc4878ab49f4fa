// Package blob keeps bytes under their own SHA-256 sum, each once: the images
// and other large payloads that records only refer to. It doesn't know who
// refers to a blob.
//
// A blob is a plain file `<dir>/<64 hexadecimal digits>`, mode 0600 in a
// directory of mode 0700, as the original program keeps it. It is written
// beside its place, synced and published, so a name never shows half of a
// blob; bytes that don't match their name (the original may leave a torn file)
// are replaced by the next Put of the right ones and never handed out.
//
// Collecting what nobody refers to goes by age: Put renews the time of a blob
// that is there already, so a blob that a record is about to refer to is young.
package blob
