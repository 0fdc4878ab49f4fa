// Package storage is the one place that touches a disk. Everything above it is
// written against FS, so each failure can be made to happen in a test: Disk is
// the real file system, Memory one that can crash, and storagetest has an FS
// that fails at its n-th operation.
//
// # Opens
//
// No open follows a symbolic link in the last component, waits for a FIFO, or
// survives an exec; what was opened must be a regular file. That holds for lock
// files too. Links further up in a path are followed: a home may lie behind one.
//
// # Owner-only
//
// Under Policy.OwnerOnly, and in CheckOwner, a file or directory must be of the
// expected kind, belong to the effective user, have mode exactly 0600 or 0700,
// one link if it is a file, and no access control list. It is judged on the
// descriptor that was opened, and the path must still name it afterwards;
// CheckOwnerOnlyUnder does so for each directory on the way.
//
// On Linux the attributes of POSIX lists are asked for: ENOTSUP means that the
// file system can't hold one and ENODATA that there is none; any other answer
// refuses. On macOS an extended list refuses. On Windows the owner must be this
// user and the list may let in this user, the system and the administrators.
//
// Not verified: what another process does between two of our calls that it
// undoes again; rights that come from privileges, groups of administrators or
// the mount; NFSv4 and other lists that show neither in the mode nor in the
// POSIX attributes; on Windows inherited lists of directories above, integrity
// labels and share permissions. The macOS and Windows checks have been compiled
// and their decoding tested, but the calls have not yet been run there.
//
// # What a crash can leave
//
// Replace and Publish leave the old file or the new one, whole, and at most one
// temporary file named as TempOf says. Where the system can't rename without
// replacing, a publish that was killed between link and unlink leaves the
// temporary file as a second name of the new one; HealTwin, which each
// owner-only open calls, removes it.
//
// # Assumptions
//
// A sync is durable when it returns; a rename is atomic; an append of one write
// is not mixed with another's. Network file systems may break each of them:
// see IsNetwork.
package storage
