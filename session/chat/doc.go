// Package chat is a session as a person reads it: what was said, tools in one
// line each, notes that were meant to be seen. Left out are system prompts,
// prompts that a program wrote, what is kept for providers, and the bodies of
// tool calls and results.
//
// A Chat takes the entries of one path in order, archived ones first, whether
// they are read from a file or observed as they are committed: both ways give
// the same items. Final messages replace the pieces that were streamed before
// them, then texts are redacted whole, and only then is anything cut to its
// bound or put on a page.
//
// Nothing here opens a file or knows who writes the session. The redactor and
// the equality of tool names are handed in.
package chat
