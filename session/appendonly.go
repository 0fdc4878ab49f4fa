package session

import "context"

// openEnd opens a transcript from its end. ok is false if it must be read whole.
func (c *core) openEnd(context.Context) (ok bool, err error) { return false, nil }
