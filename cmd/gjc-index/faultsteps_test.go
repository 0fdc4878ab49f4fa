package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // the driver, for a second hand on the index
)

// otherFields are fields that a case's expect.json has wrong, and why.
var otherFields = map[string]map[string]string{
	"B012/session.jsonl": {"cwd": "the file says /work/demo, the expectation /proj/demo"},
}

// stepCases are the cases that are steps and have a test here or in a room
// below, by the name of that test.
var stepCases = map[string]string{
	"B004": "TestB004FileDeletedUnderItsWriter",
	"B024": "TestB024IndexLostAndFilesRestored",
	"B025": "TestB025MoreSessionsThanAPage",
	"B030": "TestB030CopiesRestampFiles",
	"B031": "TestB031ReadingLeavesFilesAsTheyAre",
	"B041": "scope: TestB041NetworkPathsAreRecognized, TestB041CaselessMountHasOneSpelling",
	"B042": "TestB042SessionsOfAMovedProject",
	"B043": "scope: TestB043AliasAndMovedProject",
	"B050": "TestB050ManyProcessesAppendToOneSession, TestBusySessionNamesItsHolder",
	"B051": "TestB051WhatALeaseFileSaysHoldsNobodyUp, TestAppendKilledAnywhere",
	"B052": "TestB052IndexIsHeld",
	"B054": "TestB054FullDisk",
	"B055": "TestB055IndexCannotBeWritten",
	"B060": "TestB060SecondListOpensNothing",
	"B075": "history: TestDeleteTextRemovesThatTextOnly, TestFullTextIsMendedWhereItFellOutOfStep",
	"B076": "TestScripts/history_delete",
	"B091": "TestB091OneImageIsStoredOnce, session: TestCollectKeepsWhateverIsReferredTo",
	"B100": "TestB100AgeIsTheNewestOfRecordAndFile",
	"B101": "TestB101SettingsThatCannotBeReadRemoveNothing",
	"B103": "TestB103DeleteTakesOneSessionsOwnFiles",
	"B110": "TestB110ExportsAreRedactedAndEscaped",
	"B111": "TestB111IdsThatArePaths",
	"B150": "TestB150RenameThatFailsForAMoment, storage: TestReplaceTriesARenameAgainThatIsInUse",
	"B140": "TestB140PromptsWithoutAnswersAreKept",
}

// home makes a home of session files: path under sessions and text.
func makeHome(t *testing.T, files map[string]string) string {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, "sessions", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// small is a session of one prompt, written at minute m.
func small(id, cwd, prompt string, m int) string {
	at := fmt.Sprintf("2026-03-01T%02d:%02d:00.000Z", m/60, m%60)
	return fmt.Sprintf(`{"type":"session","version":5,"id":%q,"timestamp":%q,"cwd":%q}`+"\n"+
		`{"type":"message","id":"m1","parentId":null,"timestamp":%q,"message":{"role":"user","content":%q}}`+"\n", id, at, cwd, at, prompt)
}

// listed are the ids of list --json with further arguments.
func listed(t *testing.T, args ...string) []string {
	t.Helper()
	out, errs, status := answer(t, append([]string{"list", "--json"}, args...)...)
	if status != exitDone {
		t.Fatalf("list %q: status %d, stderr %q", args, status, errs)
	}
	ids := []string{}
	for _, o := range objects(t, out) {
		ids = append(ids, o["id"].(string))
	}
	return ids
}

func wantIDs(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestB024IndexLostAndFilesRestored(t *testing.T) {
	spoil := map[string]func(t *testing.T, db string){
		"removed": func(t *testing.T, db string) {
			for _, name := range []string{db, db + "-wal", db + "-shm"} {
				_ = os.Remove(name)
			}
		},
		"emptied":    func(t *testing.T, db string) { execSQL(t, db, "DELETE FROM sessions") },
		"one row":    func(t *testing.T, db string) { execSQL(t, db, "DELETE FROM sessions WHERE id <> 'a'") },
		"no content": func(t *testing.T, db string) { writeFile(t, db, "") },
		"newer": func(t *testing.T, db string) {
			execSQL(t, db, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, 1)")
		},
	}
	for name, fn := range spoil {
		t.Run(name, func(t *testing.T) {
			home := makeHome(t, map[string]string{"p/a.jsonl": small("a", "/p", "one", 1), "p/b.jsonl": small("b", "/p", "two", 2), "p/c.jsonl": small("c", "/p", "three", 3)})
			wantIDs(t, "before", listed(t, "--home", home), "c", "b", "a")
			db := filepath.Join(home, "index.db")
			fn(t, db)
			if err := os.Chtimes(db, time.Now().Add(time.Hour), time.Now().Add(time.Hour)); err != nil && name != "removed" {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(home, "sessions", "p", "d.jsonl"), small("d", "/p", "four", 4))
			writeFile(t, filepath.Join(home, "sessions", "p", "e.jsonl"), small("e", "/p", "five", 5))
			wantIDs(t, "after", listed(t, "--home", home), "e", "d", "c", "b", "a")
			for _, id := range []string{"a", "b", "c", "d", "e"} {
				if _, errs, status := answer(t, "show", id, "--home", home); status != exitDone {
					t.Errorf("show %s: status %d, stderr %q", id, status, errs)
				}
			}
			out, errs, status := answer(t, "search", "--home", home, "--json", "four")
			if status != exitDone || len(objects(t, out)) != 1 {
				t.Errorf("search: status %d, %q, stderr %q", status, out, errs)
			}
		})
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func execSQL(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestB025MoreSessionsThanAPage(t *testing.T) {
	files := map[string]string{}
	for i := 1; i <= 250; i++ {
		id := fmt.Sprintf("s%04d", i)
		files["p/"+id+".jsonl"] = small(id, "/proj/demo", fmt.Sprintf("needle%04d", i), i)
	}
	home := makeHome(t, files)
	var all []string
	for offset := 0; offset < 250; offset += 40 {
		out, errs, status := answer(t, "list", "--home", home, "--json", "--limit", "40", "--offset", itoa(offset))
		if status != exitDone || !strings.Contains(errs, "of 250 sessions") {
			t.Fatalf("offset %d: status %d, stderr %q", offset, status, errs)
		}
		for _, o := range objects(t, out) {
			all = append(all, o["id"].(string))
		}
	}
	slices.Reverse(all)
	if len(all) != 250 || all[0] != "s0001" || !slices.IsSorted(all) {
		t.Errorf("pages: %d ids, the first of all %s", len(all), all[0])
	}
	out, _, _ := answer(t, "search", "--home", home, "--json", "needle0001")
	if hits := objects(t, out); len(hits) != 1 || hits[0]["sessionId"] != "s0001" {
		t.Errorf("search needle0001: %q", out)
	}
}

func TestB030CopiesRestampFiles(t *testing.T) {
	home := makeHome(t, map[string]string{"p/new.jsonl": small("new", "/p", "new", 500), "p/old.jsonl": small("old", "/p", "old", 5)})
	stamp := func(name, day string) {
		at, err := time.Parse(time.DateOnly, day)
		if err == nil {
			err = os.Chtimes(filepath.Join(home, "sessions", "p", name), at, at)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	stamp("new.jsonl", "2026-03-05")
	stamp("old.jsonl", "2026-03-20")
	wantIDs(t, "by activity", listed(t, "--home", home), "new", "old")
	wantIDs(t, "by the file's time", listed(t, "--home", home, "--sort", "modified"), "old", "new")
}

func TestB031ReadingLeavesFilesAsTheyAre(t *testing.T) {
	home := makeHome(t, map[string]string{"p/v2.jsonl": `{"type":"session","version":2,"id":"v2","timestamp":"2026-03-01T00:00:00.000Z","cwd":"/p"}
{"type":"message","id":"m1","parentId":null,"timestamp":"2026-03-01T00:00:00.000Z","message":{"role":"hookMessage","content":"touch"}}
`})
	path := filepath.Join(home, "sessions", "p", "v2.jsonl")
	at := time.Date(2025, 1, 2, 3, 4, 5, 6, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"list"}, {"search", "touch"}, {"search", "--role", "any", "touch"}, {"show", "v2"}, {"tree", "v2"}, {"context", "v2"},
		{"reindex"}, {"reindex", "--full"}, {"status"}, {"verify"}, {"verify", path},
	} {
		if _, errs, status := answer(t, append(args, "--home", home)...); status != exitDone {
			t.Errorf("%q: status %d, stderr %q", args, status, errs)
		}
	}
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) || after.Mode() != before.Mode() || !bytes.Equal(text, now) {
		t.Errorf("the file changed: %v, %v", before, after)
	}
}

func TestB042SessionsOfAMovedProject(t *testing.T) {
	home := makeHome(t, map[string]string{
		"old/moved.jsonl": small("moved", "/proj/old-home", "q", 1) + `{"type":"header_patch","patch":{"cwd":"/proj/new-home"}}` + "\n",
		"old/gone.jsonl":  small("gone", "/proj/nowhere", "q", 2),
	})
	wantIDs(t, "new home", listed(t, "--home", home, "--cwd", "/proj/new-home"), "moved")
	if got := listed(t, "--home", home, "--cwd", "/proj/old-home", "--quiet"); len(got) != 0 {
		t.Errorf("old home: %v, want none", got)
	}
	out, _, _ := answer(t, "list", "--home", home, "--json", "--cwd", "/proj/nowhere")
	if o := objects(t, out); len(o) != 1 || o[0]["cwdMissing"] != true {
		t.Errorf("gone: %q", out)
	}
	for _, args := range [][]string{{"show", "gone"}, {"search", "q", "--session", "gone"}} {
		if _, errs, status := answer(t, append(args, "--home", home)...); status != exitDone {
			t.Errorf("%q: status %d, stderr %q", args, status, errs)
		}
	}
}

func TestB052IndexIsHeld(t *testing.T) {
	home := makeHome(t, map[string]string{"p/a.jsonl": small("a", "/p", "one", 1)})
	wantIDs(t, "before", listed(t, "--home", home), "a")
	path := filepath.Join(home, "index.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, "sessions", "p", "b.jsonl"), small("b", "/p", "two", 2))
	start := time.Now()
	out, errs, status := answer(t, "list", "--home", home, "--json")
	if took := time.Since(start); took > 6*time.Second {
		t.Errorf("list took %v", took)
	}
	if got := len(objects(t, out)); status != exitDone || got != 2 {
		t.Errorf("list while the index is held: status %d, %d sessions, want 2; stderr %q", status, got, errs)
	}
	if strings.Count(errs, "index is busy")+strings.Count(errs, "another process is writing the index") != 1 {
		t.Errorf("stderr %q doesn't say once that the index is busy", errs)
	}
	if _, errs, status := answer(t, "reindex", "--home", home, "--json"); status != exitBusy || !strings.Contains(errs, `"exit":5`) {
		t.Errorf("reindex while the index is held: status %d, stderr %q", status, errs)
	}
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "after", listed(t, "--home", home), "b", "a")
	testManyAtOnce(t, home)
}

// testManyAtOnce lets 16 processes make the index at the same moment.
func testManyAtOnce(t *testing.T, home string) {
	for _, name := range []string{"index.db", "index.db-wal", "index.db-shm"} {
		_ = os.Remove(filepath.Join(home, name))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	outs, errs := make([]bytes.Buffer, 16), make([]bytes.Buffer, 16)
	cmds := make([]*exec.Cmd, 16)
	for i := range cmds {
		cmds[i] = exec.Command(self, "list", "--home", home, "--json")
		cmds[i].Env = append(os.Environ(), "GJC_INDEX_MAIN=1")
		cmds[i].Stdout, cmds[i].Stderr = &outs[i], &errs[i]
		if err := cmds[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v: %s", i, err, errs[i].String())
		}
		if got := outs[i].String(); got != outs[0].String() || got == "" {
			t.Errorf("process %d says %q, the first %q", i, got, outs[0].String())
		}
	}
}

func TestB055IndexCannotBeWritten(t *testing.T) {
	home := makeHome(t, map[string]string{"p/a.jsonl": small("a", "/p", "one", 1)})
	if err := os.Mkdir(filepath.Join(home, "index.db"), 0o700); err != nil { // nothing can be made there
		t.Fatal(err)
	}
	out, errs, status := answer(t, "list", "--home", home, "--json")
	if got := len(objects(t, out)); status != exitDone || got != 1 {
		t.Errorf("list: status %d, %d sessions, stderr %q", status, got, errs)
	}
	if n := strings.Count(errs, "note"); n != 1 {
		t.Errorf("list: %d notes, want one warning: %q", n, errs)
	}
	for _, args := range [][]string{{"show", "a"}, {"tree", "a"}, {"context", "a"}, {"search", "one"}, {"search", "--role", "any", "one"}} {
		if out, errs, status := answer(t, append(args, "--home", home)...); status != exitDone || !strings.Contains(out, "one") {
			t.Errorf("%q: status %d, %q, stderr %q", args, status, out, errs)
		}
	}
}

func TestB060SecondListOpensNothing(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		id := fmt.Sprintf("s%04d", i)
		files[fmt.Sprintf("p%d/%s.jsonl", i%7, id)] = small(id, "/p", id, i)
	}
	home := makeHome(t, files)
	old := time.Now().Add(-time.Hour)
	for name := range files {
		if err := os.Chtimes(filepath.Join(home, "sessions", name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = runHooked(t, "list", "--home", home, "--quiet")
	_, _ = runHooked(t, "list", "--home", home, "--quiet") // files as young as the index are looked at twice
	if opened, _ := runHooked(t, "list", "--home", home); len(opened) != 0 {
		t.Errorf("nothing changed: opened %v", opened)
	}
	name := filepath.Join(home, "sessions", "p0", "s0000.jsonl")
	writeFile(t, name, files["p0/s0000.jsonl"]+`{"type":"message","id":"m2","parentId":"m1","timestamp":"2026-03-01T00:00:01.000Z","message":{"role":"user","content":"more"}}`+"\n")
	if opened, _ := runHooked(t, "list", "--home", home); len(opened) != 1 || opened[0] != name {
		t.Errorf("one file changed: opened %v", opened)
	}
}

func TestB111IdsThatArePaths(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "faults", "B111", "ids.json"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	if err := json.Unmarshal(data, &ids); err != nil {
		t.Fatal(err)
	}
	home := makeHome(t, map[string]string{"p/a.jsonl": small("a", "/p", "one", 1)})
	for _, id := range ids {
		for _, command := range []string{"show", "tree", "context"} {
			if out, errs, status := answer(t, command, "--home", home, "--", id); status != exitUsage || out != "" {
				t.Errorf("%s %q: status %d, want %d; %q, stderr %q", command, id, status, exitUsage, out, errs)
			}
		}
	}
}
