// Package redact takes secrets out of text before people or other programs
// see it: keys and tokens of known form, private keys, passwords in addresses
// and assignments. It knows nothing of sessions.
//
// A text is given whole, before anything of it is cut off for display, since
// half a secret has no known form. It is read as it stands, with JSON's escapes
// undone (a secret inside JSON inside text is one), and with its line breaks
// taken out (a token that a terminal has wrapped is one). Whatever is found is
// replaced wherever it stands.
//
// The rules are our own, after the forms that the issuers document, and need
// no regular expressions: a table of literals is looked for in one pass, and
// only where one stands a rule is tried. That keeps the program's start free
// of a thousand patterns to compile, and the time linear in the text.
package redact
