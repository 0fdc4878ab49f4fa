// Package scope knows where things are: the home, the directory that belongs
// to one workspace (its scope), the older layouts beside it, and how a session
// moves from those into the scope. It reads headers only, never entries.
//
// A scope is <home>/sessions/v2-<digest>, and the digest is made from the
// native canonical path of the workspace, so every spelling of one directory
// leads to one scope. A binding file inside says which workspace the scope
// belongs to; it is written once and compared byte for byte ever after.
//
// The security boundary is one of local integrity: directories must be ours,
// real and 0700, files ours, regular, 0600 and with one link, and nothing is
// reached through a symbolic link below the sessions directory. Whatever can't
// be verified is refused, never guessed. It is no guard against another process
// of the same user that changes things between two operations, no encryption
// and no authentication. On Windows owners and access lists are judged as far
// as storage.CheckOwnerOnly says there.
//
// Legacy directories, transcripts in them and the files of git have the modes
// they happen to have, so the storage.FS handed in is one without the
// owner-only policy: what must be owner-only is checked here, name by name.
//
// Lookup, Candidates, All and everything else that reads creates nothing.
// Ensure makes a scope; Open, Migrate, Delete, Retire and Reconcile write in it
// by the original program's protocol, so that both agree on what was migrated
// and what was deleted.
package scope
