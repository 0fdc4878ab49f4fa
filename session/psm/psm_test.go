package psm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// turn is a prompt, a call, its result and an answer, as lines. parent is the
// entry before.
func turn(n int, parent, event string) string {
	id := func(s string) string { return fmt.Sprintf("%s%d", s, n) }
	if parent == "" {
		parent = "null"
	} else {
		parent = `"` + parent + `"`
	}
	line := func(id, parent, message string) string {
		e := ""
		if event != "" {
			e = `,"event_id":"` + event + `"`
		}
		return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"timestamp":"2026-03-01T09:00:00.000Z","message":` + message + e + "}\n"
	}
	return line(id("u"), parent, `{"role":"user","content":"please fix bug `+id("")+`"}`) +
		line(id("c"), `"`+id("u")+`"`, `{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"toolCall","id":"t","name":"bash","arguments":{"command":"go test"}}]}`) +
		line(id("r"), `"`+id("c")+`"`, `{"role":"toolResult","toolCallId":"t","toolName":"bash","isError":true,"content":[{"type":"text","text":"error: no such thing"}]}`) +
		line(id("a"), `"`+id("r")+`"`, `{"role":"assistant","content":[{"type":"text","text":"Fixed `+"`x.go`"+` because it was wrong."}]}`)
}

const header = `{"type":"session","version":5,"id":"s","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/p"}` + "\n"

func turns(n int) string {
	var b strings.Builder
	b.WriteString(header)
	parent := ""
	for i := range n {
		b.WriteString(turn(i, parent, ""))
		parent = fmt.Sprintf("a%d", i)
	}
	return b.String()
}

func put(t *testing.T, m storage.FS, name, text string) {
	t.Helper()
	err := storage.Replace(context.Background(), m, name, 0o600, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
	if err != nil {
		t.Fatal(err)
	}
}

func batches(t *testing.T, m storage.FS, path string) []Batch {
	t.Helper()
	var all []Batch
	for b, err := range Batches(context.Background(), m, path) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

// quick are options without waiting.
func quick() Options {
	return Options{Sleep: func(context.Context, time.Duration) error { return nil },
		Now: func() time.Time { return time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC) }}
}

func unitIDs(units []Unit) []string {
	var out []string
	for _, u := range units {
		var ids []string
		for _, in := range u.Inputs {
			ids = append(ids, in.ref.Entry)
		}
		out = append(out, strings.Join(ids, " ")+" -> "+u.response)
	}
	return out
}

func TestUnits(t *testing.T) {
	msg := func(id, parent, rest string) string {
		return `{"type":"message","id":"` + id + `","parentId":"` + parent + `","timestamp":"2026-03-01T09:00:00.000Z","message":{` + rest + "}}\n"
	}
	user, answer := `"role":"user","content":"x"`, `"role":"assistant","content":"y"`
	asks := `"role":"assistant","content":[{"type":"toolCall","id":"t","name":"read","arguments":{}}]`
	result := `"role":"toolResult","toolCallId":"t","toolName":"read","content":"z"`
	tests := []struct {
		name  string
		lines string
		done  string
		want  []string
	}{
		{"a turn", turn(0, "", ""), "", []string{"u0 c0 r0 a0 -> a0"}},
		{"two turns", turn(0, "", "") + turn(1, "a0", ""), "", []string{"u0 c0 r0 a0 -> a0", "u1 c1 r1 a1 -> a1"}},
		{"one of two is done", turn(0, "", "") + turn(1, "a0", ""), "u0 c0 r0 a0", []string{"u1 c1 r1 a1 -> a1"}},
		{"a prompt waits for its answer", msg("u", "", user), "", nil},
		{"an answer that calls a tool waits", msg("u", "", user) + msg("c", "u", asks) + msg("r", "c", result), "", nil},
		{"a prompt that was never answered", msg("u", "", user) + msg("v", "u", user) + msg("a", "v", answer), "", []string{"u -> ", "v a -> a"}},
		{"results alone wait", msg("r", "", result), "", nil},
		{"results alone go with the next record", msg("r", "", result) + msg("a", "r", answer), "", []string{"r a -> a"}},
		{"another branch", msg("u", "", user) + msg("a", "u", answer) + msg("c", "a", asks) + msg("b", "u", answer), "", []string{"u a -> a", "c -> c", "b -> b"}},
		{"other roles and types are no inputs", `{"type":"label","id":"l","parentId":null,"timestamp":"x","targetId":"u","label":"x"}` + "\n" + msg("u", "l", user) + msg("o", "u", `"role":"custom","content":"q"`) + msg("a", "o", answer), "", []string{"u a -> a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			done := map[string]bool{}
			for _, id := range strings.Fields(tt.done) {
				done[id] = true
			}
			if diff := cmp.Diff(tt.want, unitIDs(unitsOf(jsonl.ParseText(tt.lines), done, nil))); diff != "" {
				t.Errorf("units (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunSumsUpWhatIsNew(t *testing.T) {
	m := storage.NewMemory()
	put(t, m, "/s.jsonl", turns(2))
	rep, err := Run(context.Background(), m, "/s.jsonl", quick())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Report{Inputs: 8, Summaries: 2}, rep); diff != "" {
		t.Errorf("the first run (-want +got):\n%s", diff)
	}
	want := Summary{Response: "a0", Inputs: []string{"u0", "c0", "r0", "a0"},
		Text: "Asked: please fix bug 0\nAnswer: Looking. Fixed `x.go` because it was wrong.\nErrors: error: no such thing"}
	if diff := cmp.Diff(want, batches(t, m, "/s.jsonl")[0].Summaries[0]); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if rep, err = Run(context.Background(), m, "/s.jsonl", quick()); err != nil || rep != (Report{}) {
		t.Errorf("a run with nothing new: %+v, %v", rep, err)
	}
	put(t, m, "/s.jsonl", turns(3))
	if rep, err = Run(context.Background(), m, "/s.jsonl", quick()); err != nil || rep.Summaries != 1 {
		t.Errorf("a run with one new turn: %+v, %v", rep, err)
	}
}

func TestEventIDsStandInTheLogAndAreNotToldToCommands(t *testing.T) {
	m := storage.NewMemory()
	put(t, m, "/s.jsonl", header+turn(0, "", "00000000000000aa"))
	opt := quick()
	opt.Summarizer = Command{Shell: `tee /dev/stderr | sed 's/.*"n":\([0-9]*\),.*/{"n":\1,"summary":"seen"}/'`}
	if _, err := Run(context.Background(), m, "/s.jsonl", opt); err != nil {
		t.Fatal(err)
	}
	if got := batches(t, m, "/s.jsonl")[0].Inputs[0]; got != (InputRef{"u0", "00000000000000aa"}) {
		t.Errorf("input %+v", got)
	}
	for _, bad := range []string{"00000000000000aa", `"u0"`, "event"} {
		if got := string(request(unitsOf(jsonl.ParseText(turn(0, "", "00000000000000aa")), nil, nil))); strings.Contains(got, bad) {
			t.Errorf("the command is told %q: %s", bad, got)
		}
	}
}

func TestArchivedEntriesCountOnce(t *testing.T) {
	fsys := storage.Disk(storage.Policy{})
	home, cwd := scope.HomeAt(t.TempDir()+"/agent"), t.TempDir()
	sc, err := scope.Ensure(context.Background(), fsys, home, cwd)
	if err != nil {
		t.Fatal(err)
	}
	path := sc.Dir + "/s.jsonl"
	lines := strings.Replace(turns(3), `"cwd":"/p"`, `"cwd":"`+cwd+`"`, 1)
	lines += `{"type":"compaction","id":"k","parentId":"a2","timestamp":"2026-03-01T09:00:00.000Z","summary":"x","firstKeptEntryId":"u2","tokensBefore":1}` + "\n"
	put(t, fsys, path, lines)
	store := session.NewStore(fsys, session.Options{Home: home})
	a, err := store.Archive(context.Background(), path, session.ArchiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := jsonl.Load(context.Background(), fsys, path, jsonl.LoadOptions{}); err != nil || left.Tree(false).Entry("u0") != nil {
		t.Fatalf("u0 was not archived: %v, %+v", err, a)
	}
	rep, err := Run(context.Background(), fsys, path, quick())
	if err != nil || rep.Inputs != 12 {
		t.Errorf("Run = %+v, %v; want 12 inputs", rep, err)
	}
	if _, err := store.Unarchive(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	if rep, err = Run(context.Background(), fsys, path, quick()); err != nil || rep.Inputs != 0 {
		t.Errorf("Run after unarchive = %+v, %v; want nothing new", rep, err)
	}
}

// checkOnce runs again and wants each of the inputs in the log exactly once.
func checkOnce(t *testing.T, fsys storage.FS, path string, acked, inputs int) {
	t.Helper()
	before := 0
	for range batches(t, fsys, path) {
		before++
	}
	if before < acked {
		t.Errorf("%d batches are there, %d were acknowledged", before, acked)
	}
	if _, err := Run(context.Background(), fsys, path, quick()); err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, b := range batches(t, fsys, path) {
		for _, in := range b.Inputs {
			times[in.Entry]++
		}
	}
	for id, n := range times {
		if n != 1 {
			t.Errorf("input %s is in %d batches", id, n)
		}
	}
	if len(times) != inputs {
		t.Errorf("%d inputs are in the log, want %d", len(times), inputs)
	}
}

// crashTurns make three batches.
const crashTurns = 2*maxBatchUnits + 3

func TestNoCrashLosesOrRepeatsASummary(t *testing.T) {
	storagetest.EachCrash(t,
		func(t *testing.T, fsys storage.FS, dir string) { put(t, fsys, dir+"/s.jsonl", turns(crashTurns)) },
		func(fsys storage.FS, dir string, ack func()) error {
			opt := quick()
			opt.Told = func(string, Batch, int) { ack() }
			_, err := Run(context.Background(), fsys, dir+"/s.jsonl", opt)
			return err
		},
		func(t *testing.T, fsys storage.FS, dir string, acked int) {
			checkOnce(t, fsys, dir+"/s.jsonl", acked, 4*crashTurns)
		})
}

func TestNoKillLosesOrRepeatsASummary(t *testing.T) {
	storagetest.EachStep(t,
		func(t *testing.T, dir string) {
			put(t, storage.Disk(storage.Policy{}), dir+"/s.jsonl", turns(crashTurns))
		},
		func(fsys storage.FS, dir string, ack func()) error {
			opt := quick()
			opt.Told = func(string, Batch, int) { ack() }
			_, err := Run(context.Background(), fsys, dir+"/s.jsonl", opt)
			return err
		},
		func(t *testing.T, dir string, acked int) {
			checkOnce(t, storage.Disk(storage.Policy{}), dir+"/s.jsonl", acked, 4*crashTurns)
		})
}

func TestAFailingDiskLosesAndRepeatsNothing(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		m := storage.NewMemory()
		put(t, m, "/s.jsonl", turns(crashTurns))
		f := storagetest.NewFault(m, plan)
		acked := 0
		opt := quick()
		opt.Told = func(string, Batch, int) { acked++ }
		_, _ = Run(context.Background(), f, "/s.jsonl", opt) // whether it got over it is not the point
		checkOnce(t, m, "/s.jsonl", acked, 4*crashTurns)
		return f
	})
}

func TestATornLineIsNoBatchAndIsClosed(t *testing.T) {
	m := storage.NewMemory()
	put(t, m, "/s.jsonl", turns(2))
	if _, err := Run(context.Background(), m, "/s.jsonl", quick()); err != nil {
		t.Fatal(err)
	}
	whole, err := storage.ReadFile(m, "/s.psm.ndjson", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		put(t, m, "/s.psm.ndjson", string(whole[:cut]))
		checkOnce(t, m, "/s.jsonl", 0, 8)
	}
}

// failing fails so often, then works.
type failing struct {
	times *int
	err   error
	texts []string
}

func (f failing) Name() string { return "failing" }

func (f failing) Summarize(_ context.Context, units []Unit) ([]string, error) {
	if *f.times > 0 {
		*f.times--
		return f.texts, f.err
	}
	return make([]string, len(units)), nil
}

func TestAFailedBatchIsTriedAgainABoundedNumberOfTimes(t *testing.T) {
	m := storage.NewMemory()
	put(t, m, "/s.jsonl", turns(1))
	var waits []time.Duration
	opt := quick()
	opt.Sleep = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
	always := 1 << 20
	opt.Summarizer = failing{&always, errors.New("no token sk-secret " + strings.Repeat("x", 1000)), nil}
	opt.Redact = func(s string) string { return strings.ReplaceAll(s, "sk-secret", "[redacted]") }
	for range 8 {
		if _, err := Run(context.Background(), m, "/s.jsonl", opt); err == nil {
			t.Fatal("Run: no error")
		}
	}
	if diff := cmp.Diff([]time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, waits[:3]); diff != "" || len(waits) != 24 {
		t.Errorf("waits (-want +got):\n%s\n%d in all, want 24", diff, len(waits))
	}
	if _, err := m.Lstat("/s.psm.ndjson"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a log: %v", err)
	}
	st, err := ReadStatus(m, "/s.jsonl")
	if err != nil || st.State != Failed || len(st.Errors) != 20 || st.Pending != 1 {
		t.Fatalf("status %+v, %v", st, err)
	}
	for _, e := range st.Errors {
		if len(e.Text) > 500 || strings.Contains(e.Text, "sk-secret") {
			t.Errorf("error of %d bytes: %s", len(e.Text), e.Text)
		}
	}
	opt.Summarizer = Extract{}
	if _, err := Run(context.Background(), m, "/s.jsonl", opt); err != nil {
		t.Fatal(err)
	}
	if st, err = ReadStatus(m, "/s.jsonl"); err != nil || st.State != Idle || len(st.Errors) != 20 || st.Inputs != 4 {
		t.Errorf("the status after a good pass: %+v, %v", st, err)
	}
	if info, err := m.Lstat("/s.psm.status.json"); err != nil || info.Mode != 0o600 {
		t.Errorf("status file: %v, %v", info.Mode, err)
	}
}

func TestAStatusThatCannotBeWrittenFailsNothing(t *testing.T) {
	m := storage.NewMemory()
	put(t, m, "/s.jsonl", turns(1))
	if err := m.Mkdir("/s.psm.status.json"); err != nil {
		t.Fatal(err)
	}
	if rep, err := Run(context.Background(), m, "/s.jsonl", quick()); err != nil || rep.Summaries != 1 {
		t.Errorf("Run = %+v, %v", rep, err)
	}
}

func TestOneWorkerAtATime(t *testing.T) {
	m := storage.NewMemory()
	put(t, m, "/s.jsonl", turns(1))
	if _, err := Run(context.Background(), m, "/s.jsonl", quick()); err != nil {
		t.Fatal(err)
	}
	l, _, err := openLog(context.Background(), m, "/s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), m, "/s.jsonl", quick()); !errors.Is(err, ErrBusy) {
		t.Errorf("Run beside another = %v, want ErrBusy", err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
}

func TestWorkerFollowsASession(t *testing.T) {
	m := storage.NewMemory()
	put(t, m, "/s.jsonl", turns(1))
	ctx, cancel := context.WithCancel(context.Background())
	told := make(chan int, 10)
	opt := quick()
	opt.Told = func(_ string, b Batch, _ int) { told <- len(b.Summaries) }
	w := NewWorker(m, opt)
	ended := make(chan struct{})
	go func() { w.Run(ctx); close(ended) }()
	w.Committed("/s.jsonl")
	if got := <-told; got != 1 {
		t.Errorf("%d summaries, want 1", got)
	}
	put(t, m, "/s.jsonl", turns(3))
	w.Committed("/s.jsonl")
	w.Committed("/s.jsonl")
	if got := <-told; got != 2 {
		t.Errorf("%d summaries, want 2", got)
	}
	cancel()
	<-ended
}
