package index

import "testing"

func TestB131NewerFileIsListedByName(t *testing.T) {
	home := simpleHome(t, 1)
	put(t, home, "scope0/newer.jsonl", `{"type":"session","version":6,"id":"new60001","title":"from later","timestamp":"2026-02-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-02-01T00:00:00.000Z","message":{"role":"user","content":"unseen"}}
`)
	x := openAt(t, home, Options{})
	refresh(t, x)
	row, err := x.Find(t.Context(), "new60001")
	if err != nil || row.State != StateNewer || row.Version != 6 || row.ID != "new60001" || row.Title != "from later" || row.Cwd != "/w" {
		t.Errorf("Find = %+v, %v", row, err)
	}
	if row.Messages != 0 || row.Entries != 0 || row.FirstPrompt != "" {
		t.Errorf("row says what its file can't be read for: %+v", row)
	}
	if got := sessionIDs(t, x, Filter{}); len(got) != 1 {
		t.Errorf("Sessions = %q, want the readable one", got)
	}
	checkEqual(t, x)
}
