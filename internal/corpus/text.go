package corpus

import (
	"math/rand/v2"
	"strings"
)

// Words are drawn by rank: the first are common, the last rare, as in prose.
var words = strings.Fields(`the a to of and in is it for that on with as this be at by from or an are not we was if
can will should when which then there all has but into out up so do use one more no each only what how where make sure
file test error function please check fix add remove change update value line code build run return type name list data
read write open close parse index query search session prompt model token context branch label tree leaf entry record
patch header scope home path lock lease writer reader cache store blob image tool result usage cost total time zone
timeout retry backoff queue worker batch commit rollback journal schema table column row cursor page offset length hash
digest stream buffer frame packet socket server client request response handler router middleware session cookie header
config flag option default override environment variable deploy release version upgrade migrate backup restore snapshot
refactor rename extract inline split merge rebase cherry pick conflict resolve diff stage stash push pull fetch clone
benchmark profile allocation garbage collector goroutine channel mutex atomic race deadlock starvation livelock latency
throughput percentile histogram median outlier regression baseline threshold budget memory heap stack pointer slice map
interface struct method generic constraint closure iterator sequence range loop condition predicate filter reduce fold
greenhouse sensor irrigation valve pump seedling tray compost nitrogen lime basil mint tomato harvest frost humidity
ledger invoice payment refund currency rounding decimal balance account transfer settlement reconcile audit statement
harbor tide vessel cargo manifest berth pilot anchor beacon chart sounding channel ferry schedule timetable delay
kiln glaze porcelain cobalt oxide firing cone pyrometer loom warp weft shuttle spindle carding fleece dye indigo madder
zygote quokka xylem fjord sphinx crwth jukebox vexing wyvern zephyr kumquat quixotic`)

// Prompts of other scripts, joined to English ones or alone.
var otherScripts = []string{
	"설정 파일을 읽고 결제 모듈을 고쳐 주세요", "온도 로그를 그래프로 그려 줘", "테스트가 왜 실패하는지 알려 줘",
	"用户身份验证失败时请重试", "把数据库迁移脚本写好", "请解释这个函数的作用", "データを並べ替えてください", "セッションの一覧を表示して",
	"このバグを直して、テストも書いて", "Почему тест падает на сборке?", "Ещё раз проверь, всё ли работает",
	"Γιατί αποτυγχάνει η δοκιμή;", "Füge eine Prüfung für die Größe hinzu", "Vérifie l'été à l'hôtel, ça échoue déjà",
	"Añade una prueba para el niño", "لماذا يفشل الاختبار؟", "परीक्षण क्यों विफल हो रहा है", "ทำไมการทดสอบจึงล้มเหลว",
	"İstanbul için ısı ölçümü ekle", "ship it 🚀🌱", "👩‍🌾 plans the beds 👨‍👩‍👧", "e\u0301t\u00e9 caf\u00e9 nai\u0308ve",
}

var codePieces = []string{
	"C++ templates", "grammar::fa", "--error-on-warnings", "foo_bar", "src/app/main.go:42", "don't", "x = y",
	"a(b)c", "38.101", "TODO: tidy", "`go vet ./...`", "$HOME/.config", "user@example.com", "<div class=\"row\">", "100%",
}

type writer struct {
	rnd *rand.Rand
	buf []byte
}

// word draws a word; low ranks are much more likely.
func (w *writer) word() string {
	f := w.rnd.Float64()
	return words[int(f*f*f*float64(len(words)))]
}

func (w *writer) sentence(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.word())
	}
	return b.String()
}

// prompt is what a person types: some 370 bytes on average, often a line,
// sometimes a paste.
func (w *writer) prompt() string {
	var b strings.Builder
	switch w.rnd.IntN(20) {
	case 0:
		b.WriteString(otherScripts[w.rnd.IntN(len(otherScripts))])
		if w.rnd.IntN(2) == 0 {
			return b.String()
		}
		b.WriteByte(' ')
	case 1:
		b.WriteString(codePieces[w.rnd.IntN(len(codePieces))])
		b.WriteByte(' ')
	}
	b.WriteString(w.sentence(8 + w.rnd.IntN(60)))
	for range w.rnd.IntN(3) {
		b.WriteString("\n\n- ")
		b.WriteString(w.sentence(5 + w.rnd.IntN(25)))
	}
	return b.String()
}

// output is what a tool printed: about n bytes of lines.
func (w *writer) output(n int, pool []string) string {
	var b strings.Builder
	b.Grow(n + 200)
	for b.Len() < n {
		b.WriteString(pool[w.rnd.IntN(len(pool))])
		b.WriteByte('\n')
	}
	return b.String()
}

// linePool makes the lines that tool outputs are drawn from.
func linePool(seed uint64) []string {
	w := writer{rnd: rand.New(rand.NewPCG(seed, 77))}
	pool := make([]string, 4000)
	for i := range pool {
		indent := strings.Repeat("\t", w.rnd.IntN(4))
		switch w.rnd.IntN(6) {
		case 0:
			pool[i] = indent + "if err := " + w.word() + "." + w.word() + "(\"" + w.word() + "\"); err != nil {"
		case 1:
			pool[i] = indent + "// " + w.sentence(4+w.rnd.IntN(10))
		case 2:
			pool[i] = indent + w.word() + " := map[string]int{\"" + w.word() + "\": 1}"
		case 3:
			pool[i] = "./" + w.word() + "/" + w.word() + ".go:" + string(rune('1'+w.rnd.IntN(9))) + "7: " + w.sentence(5)
		case 4:
			pool[i] = ""
		default:
			pool[i] = indent + w.sentence(3+w.rnd.IntN(12))
		}
	}
	return pool
}

// quote appends s as a JSON string.
func (w *writer) quote(s string) {
	const hex = "0123456789abcdef"
	w.buf = append(w.buf, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			w.buf = append(w.buf, '\\', c)
		case c == '\n':
			w.buf = append(w.buf, '\\', 'n')
		case c == '\t':
			w.buf = append(w.buf, '\\', 't')
		case c < 0x20:
			w.buf = append(w.buf, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			w.buf = append(w.buf, c)
		}
	}
	w.buf = append(w.buf, '"')
}
