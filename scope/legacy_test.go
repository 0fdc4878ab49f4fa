package scope

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLegacyNames(t *testing.T) {
	for _, tt := range []struct {
		name, canonical, lexical, home, temp string
		want                                 []string
	}{
		{"elsewhere", "/srv/app", "/srv/app", "/home/ada", "/tmp", []string{"--srv-app--"}},
		{"an alias", "/srv/app", "/a:b/c\\d", "/home/ada", "/tmp", []string{"--srv-app--", "--a-b-c-d--"}},
		{"in the home", "/home/ada/x/y", "/home/ada/x/y", "/home/ada", "/tmp",
			[]string{"--home-ada-x-y--", "-x-y", "---x-y--", "---home-ada-x-y--"}},
		{"the home itself", "/home/ada", "/home/ada", "/home/ada", "/tmp",
			[]string{"--home-ada--", "-", "----", "---home-ada--"}},
		{"in the temporary directory", "/tmp/oc-root/w", "/tmp/oc-root/w", "/home/ada", "/tmp",
			[]string{"--tmp-oc-root-w--", "-tmp-oc-root-w", "---tmp-oc-root-w--"}},
		{"the temporary directory itself", "/tmp", "/tmp", "/home/ada", "/tmp", []string{"--tmp--", "-tmp", "---tmp--"}},
		{"beside the home", "/home/ada2", "/home/ada2", "/home/ada", "/tmp", []string{"--home-ada2--"}},
		{"a name with dots", "/home/ada/..x", "/home/ada/..x", "/home/ada", "/tmp",
			[]string{"--home-ada-..x--", "-..x", "---..x--", "---home-ada-..x--"}},
		{"an alias in the home", "/srv/app", "/home/ada/app", "/home/ada", "/tmp",
			[]string{"--srv-app--", "--home-ada-app--", "-app", "---app--", "---home-ada-app--"}},
		{"the root", "/", "/", "/home/ada", "/tmp", []string{"----"}},
		{"nothing known", "/w", "/w", "", "", []string{"--w--"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := LegacyNames(tt.canonical, tt.lexical, tt.home, tt.temp)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("LegacyNames (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLegacyNamesFollowLinkedHome(t *testing.T) {
	home, w := newHome(t)
	root := filepath.Dir(w)
	lay(t, root, map[string]string{"real/app/": ""})
	link(t, "real", filepath.Join(root, "user"))
	s, err := Lookup(disk(), home.WithUser(filepath.Join(root, "user"), "/nowhere"), filepath.Join(root, "real", "app"))
	must(t, err)
	got := s.LegacyNames()
	want := []string{"--" + dashed(root[1:]+"/real/app") + "--", "-app", "---app--", "--" + dashed(root+"/user") + "-app--"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("LegacyNames (-want +got):\n%s", diff)
	}
}
