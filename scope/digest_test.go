package scope

import "testing"

func TestDigestMatchesRecordedVectors(t *testing.T) {
	for _, tt := range []struct{ platform, path, want string }{
		{"posix", "/", "jmhnzgugg7kndxgpdapmg7b2s6mcpwqm5ojfhueopluot5p4edrq"},
		{"win32", "/", "ikbtgtdnoegl7dwbaa24eotz7pu2ov2geteqtlyvzrienzdibngq"},
		{"posix", "/work", "k6kecxw2ac25qzxy5jfyr625n7xsvy75523algpj3ph7lkfvauxa"},
		{"win32", "/work", "z2h3o32tio4wh6naxwlqupyasufa4srfv243tcbbd3axoi7wovla"},
		{"posix", "/work/demo", "vy3aorrlvktiou4lfrn6rbttvh52yi2acoovebmz5wqcqhzu5p4a"},
		{"win32", "/work/demo", "qphsgshvf7evia425vsewzbvbftdlf42q7xn3yxaloxl3xtgmmuq"},
		{"posix", "/home/ada/proj", "t27zg6yv56vrci3bj4c7yb2hqvc7ylyfh2mpc2bsg4sojnzctqla"},
		{"win32", "/home/ada/proj", "l5pjltc62pgsaez622nl6525lirkz7auqevxw7n74idfxdfxoicq"},
		{"posix", "/home/ada/proj/", "ansvnxifil6xrlw47hoocay55ljoytdthmkddzsv6bngiehel4na"},
		{"win32", "/home/ada/proj/", "igta4snqpiuvvgwblgcphwnn4rv6aozbojaxxfjqksldvsh6tmtq"},
		{"posix", "/tmp/oc-root/w", "n3kxvv67svqr6cnnq3sfjq7znx5s7ommenr36gb5ootmmgla2gnq"},
		{"win32", "/tmp/oc-root/w", "zynchbspz6gxsgmyfzgi6vbtcnaek37ktg6226vv3vclnahnwfeq"},
		{"posix", "/srv/donn\u00e9es/\u00e9t\u00e9", "xvze24envbg32273lk3ty2wdr3tf7jbqb37ldejpizrffwuzkt3q"},
		{"win32", "/srv/donn\u00e9es/\u00e9t\u00e9", "ka7z7esylplvplqdjxwx5q6q5mmmdom57efozh4jjyhk6z76juwa"},
		{"posix", "/srv/donne\u0301es/e\u0301te\u0301", "zcpg3zseqpwzxdwujrwz5ayewu7pxdokwruszgbsyul6chtv2r4q"},
		{"win32", "/srv/donne\u0301es/e\u0301te\u0301", "uo6ojqd4gi3ajc5imy75ipoqw7exriepqudivftdmwkn3koe5bpa"},
		{"posix", "/a b/c:d", "vepopn4a4ppkqaeq2cneewillybncjvmu7k2gjxrjiiuvjiyskqq"},
		{"win32", "/a b/c:d", "w4m3vrygg72ixdjber5wyoa3at6gl3m6gdmhax3vavrge3dn5uya"},
		{"posix", "/x\\y", "7pgbfkyiv3q7cskjl7ubyx5hu7dpan7t4cfvrzvd2wqctjeerz7a"},
		{"win32", "/x\\y", "n56yc3tqbaam2ibq6btxs6rnnljvgxbvumrhmiary5oajyscvxfq"},
		{"posix", "C:\\Users\\ada", "5q3ebmtq2shp7b6kx2q4fffpv4szfxcg4lmj4rfpygm4qygajehq"},
		{"win32", "C:\\Users\\ada", "rxjfyusx4vsl5h5obncnt5gofhqtteitxiepanmc5k5es3rg6qlq"},
		{"posix", "\\\\?\\Volume{00000000-0000-0000-0000-000000000000}\\proj", "secquza22zurbagfbehgzwsa2lhijh6s6ymknp5fpzq5tquhfyiq"},
		{"win32", "\\\\?\\Volume{00000000-0000-0000-0000-000000000000}\\proj", "2utzbtze2gmi52f2ml7ywctdacshchkbdjs266ucy33vsejtxnuq"},
	} {
		got := Digest(tt.platform, tt.path)
		if got != tt.want {
			t.Errorf("Digest(%q, %q) = %s, want %s", tt.platform, tt.path, got, tt.want)
		}
		if back, ok := DigestOf(DirName(tt.platform, tt.path)); !ok || back != got {
			t.Errorf("DigestOf(DirName(%q, %q)) = %q, %t", tt.platform, tt.path, back, ok)
		}
	}
}

func TestDigestOfRefusesOtherNames(t *testing.T) {
	const good = "v2-n3kxvv67svqr6cnnq3sfjq7znx5s7ommenr36gb5ootmmgla2gnq"
	for _, name := range []string{"", "v2-", "-old", good[:54], good + "a", "v3" + good[2:], "V2" + good[2:], good[:54] + "b", good[:20] + "1" + good[21:]} {
		if digest, ok := DigestOf(name); ok {
			t.Errorf("DigestOf(%q) = %q, want none", name, digest)
		}
	}
}

func TestSessionFileNameReplacesColonsAndDots(t *testing.T) {
	got := SessionFileName("2026-03-01T12:00:00.000Z", "01950000-0000-7000-8000-000000000001")
	want := "2026-03-01T12-00-00-000Z_01950000-0000-7000-8000-000000000001.jsonl"
	if got != want {
		t.Errorf("SessionFileName = %q, want %q", got, want)
	}
}
