package index

import (
	"context"

	"github.com/gajae-code/gjc-index/migrations"
)

// historyPlan is what has to be done about the rows of history.db.
type historyPlan struct{}

func (h *historyPlan) write(ctx context.Context, w *writer, rep *Report) error { return nil }

func (x *Index) planHistory(ctx context.Context, db *migrations.DB) (*historyPlan, error) {
	return nil, nil
}

func (x *Index) wholeHistory(ctx context.Context) (*historyPlan, error) { return nil, nil }
