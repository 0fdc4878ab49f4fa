package index

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/jmoiron/sqlx"
)

// The newest prompts are kept folded in a few rows, since most searches end
// among them and reading thousands of rows costs more than a search may.
const (
	recentKept  = 2000    // prompts that stay when the older ones are let go
	recentMost  = 4000    // prompts there may be before that
	recentBytes = 2 << 20 // bytes there may be before that
	// recentText is the longest text kept; of longer ones only the id is.
	recentText = 4096
	// A mark is set after that many prompts below the floor, or bytes of them.
	markEvery = 2000
	markBytes = 1 << 20
)

// recentPrompt is a prompt among the newest; a nil text must be looked up.
type recentPrompt struct {
	id   int64
	text []byte
	size int // of the folded text in bytes
}

// weight is what looking at p costs, in bytes read.
func (p recentPrompt) weight() int {
	if p.text == nil {
		return recentText
	}
	return len(p.text) + 10
}

// tooMany reports whether the older ones of list should be let go.
func tooMany(list []recentPrompt) bool {
	weight := 0
	for _, p := range list {
		weight += p.weight()
	}
	return len(list) > recentMost || weight > recentBytes
}

func appendRecent(dst []byte, id int64, text []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(id))
	dst = binary.AppendUvarint(dst, uint64(len(text)))
	if len(text) > recentText {
		return dst
	}
	return append(dst, text...)
}

// decodeRecent appends what data holds to list; what is broken is left out.
func decodeRecent(list []recentPrompt, data []byte) []recentPrompt {
	for len(data) > 8 {
		id := int64(binary.LittleEndian.Uint64(data))
		size, n := binary.Uvarint(data[8:])
		if n <= 0 {
			break
		}
		data = data[8+n:]
		p := recentPrompt{id: id, size: int(min(size, math.MaxInt32))}
		if size <= recentText {
			if size > uint64(len(data)) {
				break
			}
			p.text = data[:size:size]
			data = data[size:]
		}
		list = append(list, p)
	}
	return list
}

// newestFirst sorts by id, the highest first; of equal ids the last one stays.
func newestFirst(list []recentPrompt) []recentPrompt {
	slices.Reverse(list)
	byID := func(a, b recentPrompt) int { return cmp.Compare(b.id, a.id) }
	if !slices.IsSortedFunc(list, byID) {
		slices.SortStableFunc(list, byID)
	}
	return slices.CompactFunc(list, func(a, b recentPrompt) bool { return a.id == b.id })
}

// recentWriter adds to the newest prompts.
type recentWriter struct {
	rows  []recentRow // as stored, the last first
	floor int64
	data  []byte
	marks []int64
	below int // prompts since the last mark
	bytes int // of them
}

type recentRow struct {
	Seq   int64 `db:"seq"`
	Floor int64 `db:"floor"`
	Size  int   `db:"size"`
}

func openRecent(tx *sqlx.Tx) (*recentWriter, error) {
	w := &recentWriter{floor: math.MinInt64}
	err := tx.Select(&w.rows, `SELECT seq, floor, length(data) AS size FROM prompt_recent ORDER BY seq DESC`)
	for _, row := range w.rows {
		w.floor = max(w.floor, row.Floor)
	}
	return w, err
}

// add takes a folded prompt; ids ascend.
func (w *recentWriter) add(id int64, folded []byte) {
	if id < w.floor {
		w.letGo(id, len(folded))
		return
	}
	w.data = appendRecent(w.data, id, folded)
	if len(w.data) > 4*recentBytes {
		w.trim(w.data)
	}
}

// letGo notes a prompt that is not among the newest.
func (w *recentWriter) letGo(id int64, size int) {
	w.below++
	w.bytes += size
	if w.below >= markEvery || w.bytes >= markBytes {
		w.mark(id)
	}
}

func (w *recentWriter) mark(id int64) {
	w.marks = append(w.marks, id)
	w.below, w.bytes = 0, 0
}

// trim keeps the newest of data and raises the floor to the oldest of them.
func (w *recentWriter) trim(data []byte) {
	list := newestFirst(decodeRecent(nil, data))
	kept, size := 0, 0
	for kept < len(list) && kept < recentKept {
		size += list[kept].weight()
		if size > recentBytes/2 && kept > 0 {
			break
		}
		kept++
	}
	for i := len(list) - 1; i >= kept; i-- {
		w.letGo(list[i].id, list[i].size)
	}
	if kept > 0 {
		w.floor = list[kept-1].id
		w.mark(w.floor)
	}
	w.data = nil
	for i := kept - 1; i >= 0; i-- {
		w.data = appendKept(w.data, list[i])
	}
}

func appendKept(dst []byte, p recentPrompt) []byte {
	if p.text == nil {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(p.id))
		return binary.AppendUvarint(dst, uint64(p.size))
	}
	return appendRecent(dst, p.id, p.text)
}

// write stores what was added, together with the rows before it that are not
// at least twice as long, and lets the older prompts go if there are too many.
func (w *recentWriter) write(tx *sqlx.Tx) error {
	total := len(w.data)
	for _, row := range w.rows {
		total += row.Size
	}
	next := int64(1)
	if len(w.rows) > 0 {
		next = w.rows[0].Seq + 1
	}
	all := total > recentBytes
	for _, row := range w.rows {
		if row.Size >= 2*len(w.data) && !all {
			break
		}
		var old []byte
		if err := tx.Get(&old, `SELECT data FROM prompt_recent WHERE seq = ?`, row.Seq); err != nil {
			return err
		}
		w.data = append(old, w.data...)
		if _, err := tx.Exec(`DELETE FROM prompt_recent WHERE seq = ?`, row.Seq); err != nil {
			return err
		}
		next = row.Seq
	}
	if all || next == 1 && tooMany(decodeRecent(nil, w.data)) {
		w.trim(w.data)
	}
	if len(w.data) > 0 || all {
		if _, err := tx.Exec(`INSERT INTO prompt_recent (seq, floor, data) VALUES (?, ?, ?)`,
			next, w.floor, w.data); err != nil {
			return err
		}
	}
	for _, id := range w.marks {
		if _, err := tx.Exec(`INSERT OR IGNORE INTO prompt_marks (id) VALUES (?)`, id); err != nil {
			return err
		}
	}
	return nil
}
