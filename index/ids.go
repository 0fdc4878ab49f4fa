package index

import (
	"context"
	"encoding/json"

	"github.com/gajae-code/gjc-index/migrations"
)

// IDs are the ids of all sessions, children and damaged files included, in no
// order; an id that several files bear is there as often.
func (x *Index) IDs(ctx context.Context) ([]string, error) {
	var ids []string
	asked := false
	err := x.retrying(ctx, func(db *migrations.DB) error {
		ids, asked = nil, db != nil
		if db == nil {
			return nil
		}
		// One row is read in a fifth of the time that thousands take.
		var list []byte
		err := db.GetContext(ctx, &list, `SELECT json_group_array(id) FROM sessions WHERE id IS NOT NULL`)
		if err != nil {
			return err
		}
		return json.Unmarshal(list, &ids)
	})
	p := x.unstored()
	if err == nil && asked && (p == nil || !p.all && len(p.stale) == 0) {
		return ids, nil
	}
	return x.listedIDs(ctx)
}

// listedIDs are those of the sessions as listed, files that are not in the
// database among them.
func (x *Index) listedIDs(ctx context.Context) ([]string, error) {
	rows, _, err := x.Sessions(ctx, Filter{Damaged: DamagedToo, Children: true, brief: true})
	if err != nil {
		return nil, err
	}
	var ids []string
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		if row.ID != "" {
			ids = append(ids, row.ID)
		}
	}
	return ids, nil
}
