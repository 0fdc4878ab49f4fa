package export

import (
	"html"
	"strings"
)

// writePicture writes a picture into the page itself.
func writePicture(w writer, mime, data string) {
	if !embeddable(mime) || !isBase64(data) {
		what := "[picture that could not be found]"
		if data != "" && isBase64(data) {
			what = "[picture of the kind " + safeMIME(mime) + ", which is not shown]"
		}
		w.WriteString(`<p class="missing">` + html.EscapeString(what) + "</p>\n")
		return
	}
	w.WriteString(`<p><img alt="picture" loading="lazy" src="data:` + mime + ";base64,")
	w.WriteString(data)
	w.WriteString("\"></p>\n")
}

// embeddable tells the kinds of pictures that are nothing but pixels.
func embeddable(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp":
		return true
	}
	return false
}

func isBase64(data string) bool {
	body := strings.TrimRight(data, "=")
	if body == "" || len(data)-len(body) > 2 {
		return false
	}
	for i := range len(body) {
		c := body[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/') {
			return false
		}
	}
	return true
}
