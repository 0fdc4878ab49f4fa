// Package export writes a session for people and for other programs: a page of
// HTML that needs nothing else, Markdown, plain text, one JSON document, the
// lines of a session file, or an archive of everything that belongs to it.
//
// What is written is taken through a redactor first, record by record and
// before anything is cut or escaped, in every format alike. Formats for people
// leave out the kinds of entries that are local, and no event id is in them.
//
// A session is given as a tree and a way to read one entry of it, so a session
// that is larger than memory is written entry by entry. Where the output goes
// is checked by Destination: a file appears whole or not at all.
package export
