package index

import "github.com/gajae-code/gjc-index/jsonl"

// headerPatch is the patch object of a header_patch record; ok is false if the
// record has another shape, which voids it. Source: behaviour part 4.
func headerPatch(v jsonl.Value) (*jsonl.Obj, bool) {
	patch := v.Get("patch")
	if !onlyKeys(v, "type", "patch") || !patch.Is(jsonl.Object) || !onlyKeys(patch, "cwd", "title", "titleSource") {
		return nil, false
	}
	for _, key := range []string{"cwd", "title", "titleSource"} {
		if k := patch.Get(key).Kind(); k != jsonl.Absent && k != jsonl.String {
			return nil, false
		}
	}
	if s := patch.Get("titleSource"); s.Is(jsonl.String) && s.Str() != "auto" && s.Str() != "user" {
		return nil, false
	}
	return patch.Obj(), true
}

// messagePatch reports whether v is an entry_patch that replaces a message.
func messagePatch(v jsonl.Value) bool {
	patch := v.Get("patch")
	return onlyKeys(v, "type", "entryId", "patch") && v.Get("entryId").Is(jsonl.String) &&
		patch.Is(jsonl.Object) && onlyKeys(patch, "message") && patch.Get("message").Is(jsonl.Object)
}

func onlyKeys(v jsonl.Value, keys ...string) bool {
	for _, m := range v.Obj().Members() {
		known := false
		for _, k := range keys {
			known = known || m.Key == k
		}
		if !known {
			return false
		}
	}
	return true
}
