package session

import (
	"context"

	"github.com/gajae-code/gjc-index/jsonl"
)

// metaState is what the metadata sidecar needs of the entries appended.
type metaState struct{}

func (m *metaState) take([]*jsonl.Entry) {}

func (c *core) writeMetaLocked(context.Context) {}
