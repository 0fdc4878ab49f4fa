package export

import (
	"embed"
	"html"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

// lexerFiles are lexers of chroma, parsed when a block of code first asks for
// them. The package that has all of them takes long to start, and every
// command would pay for it.
//
//go:embed lexers/*.xml
var lexerFiles embed.FS

var lexers = sync.OnceValue(func() *chroma.LexerRegistry {
	reg := chroma.NewLexerRegistry()
	names, err := fs.Glob(lexerFiles, "lexers/*.xml")
	if err != nil {
		return reg
	}
	for _, name := range names {
		if l, err := chroma.NewXMLLexer(lexerFiles, name); err == nil {
			reg.Register(l)
		}
	}
	return reg
})

const (
	maxColoured = 64 << 10 // a longer block of code is shown without colours
	maxLang     = 64
)

// lexerFor finds a lexer by a language's name or the name of a file.
func lexerFor(lang string) chroma.Lexer {
	if lang == "" || len(lang) > 4096 {
		return nil
	}
	if !strings.ContainsAny(lang, "./\\") && len(lang) <= maxLang {
		return lexers().Get(lang)
	}
	return lexers().Match(path.Base(strings.ReplaceAll(lang, `\`, "/")))
}

// languageName is the word for a language behind a fence; "" if it isn't known.
func languageName(lang string) string {
	if l := lexerFor(lang); l != nil && len(l.Config().Aliases) > 0 {
		return l.Config().Aliases[0]
	}
	return ""
}

// writer is what a page is written to; its errors are kept until it is flushed.
type writer interface {
	WriteString(s string) (int, error)
}

// writeCode writes a block of code with its words in colours.
func writeCode(w writer, text, lang string) {
	text = strings.TrimRight(text, "\n")
	w.WriteString("<pre><code>")
	if l := lexerFor(lang); l != nil && len(text) <= maxColoured && longestLine(text) < maxLine {
		if tokens, err := chroma.Tokenise(chroma.Coalesce(l), nil, text); err == nil {
			writeTokens(w, tokens)
			w.WriteString("</code></pre>\n")
			return
		}
	}
	w.WriteString(html.EscapeString(text))
	w.WriteString("</code></pre>\n")
}

// maxLine is the longest line that is coloured: a longer one is data.
const maxLine = 4096

func longestLine(text string) int {
	longest := 0
	for line := range strings.Lines(text) {
		longest = max(longest, len(line))
	}
	return longest
}

func writeTokens(w writer, tokens []chroma.Token) {
	for i, t := range tokens {
		if i == len(tokens)-1 {
			t.Value = strings.TrimSuffix(t.Value, "\n") // that a lexer has added
		}
		class := classOf(t.Type)
		if class == "" {
			w.WriteString(html.EscapeString(t.Value))
			continue
		}
		w.WriteString(`<i class="` + class + `">` + html.EscapeString(t.Value) + "</i>")
	}
}

// classOf is the class of a token in the page's style; "" is plain text.
func classOf(t chroma.TokenType) string {
	switch {
	case t == chroma.GenericDeleted:
		return "d"
	case t == chroma.GenericInserted:
		return "n"
	case t == chroma.GenericHeading, t == chroma.GenericSubheading, t == chroma.GenericPrompt:
		return "c"
	case t.InCategory(chroma.Comment):
		return "c"
	case t.InCategory(chroma.Keyword), t == chroma.OperatorWord:
		return "k"
	case t.InSubCategory(chroma.LiteralString):
		return "s"
	case t.InSubCategory(chroma.LiteralNumber):
		return "m"
	case t == chroma.NameFunction, t == chroma.NameClass, t == chroma.NameTag, t == chroma.NameDecorator, t == chroma.NameFunctionMagic:
		return "f"
	case t == chroma.NameBuiltin, t == chroma.NameBuiltinPseudo, t == chroma.NameAttribute, t == chroma.NameConstant:
		return "b"
	}
	return ""
}
