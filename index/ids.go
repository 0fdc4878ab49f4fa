package index

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

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

// NearIDs are ids that tell how short those given may be: these themselves, as
// often as several files bear them, and what comes before and after each in the
// order of all ids, whatever their case. Among them the shortest beginning that
// begins no other id is the one among all.
func (x *Index) NearIDs(ctx context.Context, ids []string) ([]string, error) {
	list, plain := slices.Compact(slices.Sorted(slices.Values(ids))), true
	for _, id := range list {
		plain = plain && strings.IndexFunc(id, func(r rune) bool { return r < ' ' || r >= utf8.RuneSelf }) < 0
	}
	if len(list) == 0 {
		return nil, nil
	}
	p := x.unstored()
	if !plain || p != nil && (p.all || len(p.new) > 0) {
		return x.IDs(ctx) // SQLite ignores the case of ASCII only
	}
	var near []string
	asked := false
	err := x.retrying(ctx, func(db *migrations.DB) error {
		if near, asked = nil, db != nil; db == nil {
			return nil
		}
		return db.SelectContext(ctx, &near, `
			WITH asked (id) AS (SELECT value FROM json_each(?))
			SELECT id FROM sessions WHERE id COLLATE NOCASE IN (SELECT id FROM asked)
			UNION ALL
			SELECT DISTINCT id FROM (
				SELECT (SELECT s.id FROM sessions s WHERE s.id < asked.id COLLATE NOCASE ORDER BY s.id COLLATE NOCASE DESC LIMIT 1) AS id FROM asked
				UNION ALL
				SELECT (SELECT s.id FROM sessions s WHERE s.id > asked.id COLLATE NOCASE ORDER BY s.id COLLATE NOCASE LIMIT 1) AS id FROM asked
			) WHERE id IS NOT NULL AND id COLLATE NOCASE NOT IN (SELECT id FROM asked)`, jsonList(list))
	})
	if err != nil || !asked {
		return x.IDs(ctx)
	}
	return near, nil
}
