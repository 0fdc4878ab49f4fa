package scope

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindHomeOrder(t *testing.T) {
	wd, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	const user = "/home/ada"
	xdg := map[string]string{"XDG_DATA_HOME": "/home/ada/data", "XDG_STATE_HOME": "/home/ada/state"}
	with := func(more ...string) map[string]string {
		env := map[string]string{}
		for k, v := range xdg {
			env[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			env[more[i]] = more[i+1]
		}
		return env
	}
	split := Home{dir: "/home/ada/.gjc/agent", data: "/home/ada/data/gjc", state: "/home/ada/state/gjc"}
	for _, tt := range []struct {
		name, flag string
		env        map[string]string
		exists     string
		want       Home
	}{
		{name: "default", want: HomeAt("/home/ada/.gjc/agent")},
		{name: "flag wins over everything", flag: "/x", env: with("GJC_CODING_AGENT_DIR", "/y"), exists: "/home/ada/data/gjc", want: HomeAt("/x")},
		{name: "relative flag", flag: "x/y", want: HomeAt(filepath.Join(wd, "x/y"))},
		{name: "flag in the user's home", flag: "~/x", want: HomeAt("/home/ada/x")},
		{name: "gjc before pi", env: with("GJC_CODING_AGENT_DIR", "/g", "PI_CODING_AGENT_DIR", "/p", "GJC_CONFIG_DIR", "/c"), want: HomeAt("/g")},
		{name: "pi before config", env: with("PI_CODING_AGENT_DIR", "/p", "GJC_CONFIG_DIR", "/c"), want: HomeAt("/p")},
		{name: "config directory holds agent", env: with("GJC_CONFIG_DIR", "/c"), want: HomeAt("/c/agent")},
		{name: "config directory by name", env: with("GJC_CONFIG_DIR", ".gjc-dev"), want: HomeAt("/home/ada/.gjc-dev/agent")},
		{name: "named before xdg", env: with("GJC_CONFIG_DIR", ".gjc-dev"), exists: "/home/ada/data/gjc", want: HomeAt("/home/ada/.gjc-dev/agent")},
		{name: "xdg exists", env: with(), exists: "/home/ada/data/gjc", want: split},
		{name: "xdg does not exist", env: with(), want: HomeAt("/home/ada/.gjc/agent")},
		{name: "the default by name keeps xdg", env: with("PI_CODING_AGENT_DIR", "/home/ada/.gjc/agent/"), exists: "/home/ada/data/gjc", want: split},
		{name: "relative xdg is ignored", env: map[string]string{"XDG_DATA_HOME": "data"}, exists: "data/gjc", want: HomeAt("/home/ada/.gjc/agent")},
		{name: "xdg without state", env: map[string]string{"XDG_DATA_HOME": "/d"}, exists: "/d/gjc", want: Home{dir: "/home/ada/.gjc/agent", data: "/d/gjc", state: "/home/ada/.gjc/agent"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := FindHome(tt.flag, func(k string) string { return tt.env[k] }, user, func(p string) bool { return p == tt.exists })
			if err != nil {
				t.Fatal(err)
			}
			tt.want.user = user
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(Home{})); diff != "" {
				t.Errorf("FindHome (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindHomeNeedsAUserHome(t *testing.T) {
	none := func(string) string { return "" }
	if _, err := FindHome("", none, "", func(string) bool { return false }); err == nil {
		t.Error("FindHome without flag, variables and user's home succeeded")
	}
	got, err := FindHome("", func(k string) string {
		return map[string]string{"GJC_CODING_AGENT_DIR": "/a"}[k]
	}, "", func(string) bool { return false })
	if err != nil || got != HomeAt("/a") {
		t.Errorf("FindHome with an agent directory = %+v, %v", got, err)
	}
}

func TestHomePaths(t *testing.T) {
	h := Home{dir: "/a", data: "/d", state: "/s"}
	got := map[string]string{
		"Dir": h.Dir(), "Sessions": h.Sessions(), "EventSequence": h.EventSequence(), "Blobs": h.Blobs(),
		"HistoryDB": h.HistoryDB(), "IndexDB": h.IndexDB(), "IndexLock": h.IndexLock(), "Trash": h.Trash(),
		"PruneLog": h.PruneLog(), "Breadcrumbs": h.Breadcrumbs(), "ResidentCache": h.ResidentCache(), "ProjectLocal": ProjectLocal("/w"),
	}
	want := map[string]string{
		"Dir": "/a", "Sessions": "/d/sessions", "EventSequence": "/d/sessions/event-id-sequence", "Blobs": "/d/blobs",
		"HistoryDB": "/d/history.db", "IndexDB": "/d/index.db", "IndexLock": "/d/index.db.lock", "Trash": "/d/trash",
		"PruneLog": "/d/prune.log", "Breadcrumbs": "/s/terminal-sessions", "ResidentCache": "/a/resident-cache", "ProjectLocal": "/w/.gjc",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}
