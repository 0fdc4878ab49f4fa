package session

import "github.com/gajae-code/gjc-index/jsonl"

// since writes a record if it came after what was written already. What only
// stands in for archived entries is left out.
func (j *undoJob) since(l ArchivedLine) error {
	j.news = false
	all := jsonl.ParseText(string(l.Record))
	if len(all) != 1 {
		return j.line(l)
	}
	e := all[0]
	id, hasID := e.ID()
	switch {
	case e.Type() == "session", e.Type() == "title":
		return nil
	case isPatch(e):
		j.note(l.Record, false)
		return j.line(l)
	case hasID && j.isCheckpoint(id):
		parent, _ := e.Parent()
		j.relink[id] = jsonl.StringValue(parent)
		if _, kind := e.Parent(); kind != jsonl.String {
			j.relink[id] = jsonl.NullValue()
		}
		return nil
	case j.wrote(e):
		return j.changedSince(e, id)
	}
	j.note(l.Record, true)
	if parent, kind := e.Parent(); kind == jsonl.String && j.isCheckpoint(parent) {
		o := e.Value().Clone()
		o.Set("parentId", j.parentOver(parent))
		return j.made(jsonl.ObjectValue(o))
	}
	return j.line(l)
}

// wrote reports whether a record was written before. One that stands more often
// now than it was written came since.
func (j *undoJob) wrote(e *jsonl.Entry) bool {
	sum := sumOfEntry(e)
	j.met[sum]++
	return j.met[sum] <= j.seen[sum]
}

func (j *undoJob) isCheckpoint(id string) bool {
	_, ok := j.relink[id]
	return ok
}

// parentOver is what a child of a checkpoint names once it is gone.
func (j *undoJob) parentOver(id string) jsonl.Value {
	for range len(j.relink) + 1 {
		parent := j.relink[id]
		if !parent.Is(jsonl.String) || !j.isCheckpoint(parent.Str()) {
			return parent
		}
		id = parent.Str()
	}
	return jsonl.NullValue()
}

// changedSince writes a patch for a message that the transcript has otherwise:
// a program that writes the file anew folds its patches in.
func (j *undoJob) changedSince(e *jsonl.Entry, id string) error {
	was, known := j.kept[id]
	if !known || e.Type() != "message" {
		return nil
	}
	now := e.Value().Get("message")
	if sum := sumOfText(now.JSON()); sum != was && now.Is(jsonl.Object) {
		j.kept[id] = sum
		return j.made(patchRecord("entry_patch", id, "message", now))
	}
	return nil
}

func patchRecord(kind, id, key string, v jsonl.Value) jsonl.Value {
	o := jsonl.NewObj(jsonl.Member{Key: "type", Value: jsonl.StringValue(kind)})
	if id != "" {
		o.Set("entryId", jsonl.StringValue(id))
	}
	o.Set("patch", jsonl.ObjectValue(jsonl.NewObj(jsonl.Member{Key: key, Value: v})))
	return jsonl.ObjectValue(o)
}

// headerSince writes a patch for what the header says otherwise now.
func (j *undoJob) headerSince() error {
	for _, key := range []string{"cwd", "title", "titleSource"} {
		now := j.current.Value().Get(key)
		if now.Is(jsonl.String) && now.JSON() != j.header.Value().Get(key).JSON() {
			if err := j.made(patchRecord("header_patch", "", key, now)); err != nil {
				return err
			}
		}
	}
	return nil
}
