package session

import (
	"bytes"
	"context"

	"github.com/gajae-code/gjc-index/jsonl"
)

// hiddenHistory marks the messages that must not be continued as they are.
var hiddenHistory = []byte("openaiResponsesHistory")

// sanitizeLocked takes from the messages what a provider must not get again:
// one patch a message, or a rewrite of a file in an older format.
func (c *core) sanitizeLocked(ctx context.Context) error {
	var patches []jsonl.Value
	for _, e := range c.records {
		if raw := e.Raw(); raw != nil && !bytes.Contains(raw, hiddenHistory) {
			continue
		}
		message, changed := jsonl.Sanitized(e)
		if !changed {
			continue
		}
		e.SetMessage(message)
		if id, ok := e.ID(); ok {
			patches = append(patches, jsonl.ObjectValue(jsonl.EntryPatchRecord(id, message)))
		}
	}
	if len(patches) == 0 {
		return nil
	}
	if c.rewrite {
		return c.rewriteLocked(ctx, nil)
	}
	for _, p := range patches {
		if err := c.writeLocked(ctx, p); err != nil {
			return err
		}
		c.rememberPatch()
	}
	return nil
}
