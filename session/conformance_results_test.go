package session_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
)

// bigUnits is the length in UTF-16 units past which the recording keeps only a
// sum of a string.
const bigUnits = 20000

func object(members ...any) jsonl.Value {
	o := jsonl.NewObj()
	for i := 0; i < len(members); i += 2 {
		if v := members[i+1].(jsonl.Value); !v.Is(jsonl.Absent) {
			o.Set(members[i].(string), v)
		}
	}
	return jsonl.ObjectValue(o)
}

func text(s string) jsonl.Value { return jsonl.StringValue(s) }

func number(n float64) jsonl.Value { return jsonl.NumberValue(n) }

func list[T any](items []T, value func(T) jsonl.Value) jsonl.Value {
	values := make([]jsonl.Value, len(items))
	for i, item := range items {
		values[i] = value(item)
	}
	return jsonl.ArrayValue(values...)
}

func ok(v jsonl.Value) jsonl.Value { return object("ok", v) }

// done is the result of a step that returns nothing.
func done(err error) jsonl.Value {
	if err != nil {
		return failure(err)
	}
	return ok(jsonl.Value{})
}

// orError is a step's result: v, unless it failed.
func orError(v jsonl.Value, err error) jsonl.Value {
	if err != nil {
		return failure(err)
	}
	return ok(v)
}

// failure is an error by the original's class of it.
func failure(err error) jsonl.Value {
	class := "Error"
	var appended *jsonl.AppendError
	var scoped *scope.Error
	var missing *session.MissingBlobError
	switch {
	case errors.As(err, &missing):
		class = "ResidentBlobMissingError"
	case errors.As(err, &scoped) && scoped.Code == scope.MigrationDisabled:
		class = "SessionMigrationPolicyError"
	case errors.As(err, &appended), errors.Is(err, session.ErrClosed):
		class = "SessionAppendPersistenceError"
	}
	return object("err", text(class))
}

// comparableResult is a recorded result without the name of the step and with
// an error's class only.
func comparableResult(result jsonl.Value) jsonl.Value {
	o := result.Obj().Clone()
	o.Delete("op")
	if err := o.Get("err"); err.Is(jsonl.Object) {
		o.Set("err", err.Get("name"))
	}
	return jsonl.ObjectValue(o)
}

// encode writes a result as the recording does, so that both can be compared
// as text: long strings as their sum, event ids left out, the present as $now
// where like has it.
func encode(v, like jsonl.Value) string { return encoded(v, like).JSON() }

func encoded(v, like jsonl.Value) jsonl.Value {
	if like.Str() == "$now" || like.Get("$date").Str() == "$now" {
		return like
	}
	switch v.Kind() {
	case jsonl.String:
		return bigString(stripLines(v.Str()))
	case jsonl.Array:
		items := make([]jsonl.Value, len(v.Items()))
		for i, item := range v.Items() {
			var alike jsonl.Value
			if i < len(like.Items()) {
				alike = like.Items()[i]
			}
			items[i] = encoded(item, alike)
		}
		return jsonl.ArrayValue(items...)
	case jsonl.Object:
		return encodedObject(v, like)
	}
	return v
}

func encodedObject(v, like jsonl.Value) jsonl.Value {
	o := jsonl.NewObj()
	members := v.Obj().Members()
	if big := v.Get("$big"); big.Is(jsonl.Object) {
		return object("$big", object("chars", big.Get("chars"), "utf8Bytes", big.Get("utf8Bytes"), "sha256", big.Get("sha256")))
	}
	if v.Obj().Has("$number") {
		return jsonl.NullValue()
	}
	for i, m := range members {
		if i == len(members)-1 && m.Key == "event_id" && len(m.Value.Str()) == 16 {
			continue
		}
		if !m.Value.Is(jsonl.Absent) {
			o.Set(m.Key, encoded(m.Value, like.Get(m.Key)))
		}
	}
	return jsonl.ObjectValue(o)
}

func bigString(s string) jsonl.Value {
	if n := jsonl.Len16(s); n > bigUnits {
		utf8 := jsonl.Display(s)
		sum := sha256.Sum256([]byte(utf8))
		return object("$big", object("chars", number(float64(n)), "utf8Bytes", number(float64(len(utf8))),
			"sha256", text(hex.EncodeToString(sum[:]))))
	}
	return text(s)
}

var lastEventID = regexp.MustCompile(`(?m),"event_id":"[0-9a-f]{16}"\}$`)

// stripLines takes the last key of lines away if it is an event id.
func stripLines(s string) string {
	if !strings.Contains(s, `,"event_id":"`) {
		return s
	}
	return lastEventID.ReplaceAllString(s, "}")
}

// expand gives the value that a recorded argument stands for.
func expand(v jsonl.Value) jsonl.Value {
	switch v.Kind() {
	case jsonl.Array:
		return list(v.Items(), expand)
	case jsonl.Object:
		return expandObject(v)
	}
	return v
}

func expandObject(v jsonl.Value) jsonl.Value {
	switch {
	case v.Obj().Has("$undefined"):
		return jsonl.Value{}
	case v.Obj().Has("$repeat"):
		args := v.Get("$repeat").Items()
		return text(strings.Repeat(expand(args[0]).Str(), int(args[1].Num())))
	case v.Obj().Has("$concat"):
		var b strings.Builder
		for _, part := range v.Get("$concat").Items() {
			b.WriteString(expand(part).Str())
		}
		return text(b.String())
	case v.Obj().Has("$bytesB64"):
		o := v.Get("$bytesB64")
		data := make([]byte, int(o.Get("n").Num()))
		step := 1
		if v := o.Get("step"); v.Is(jsonl.Number) {
			step = int(v.Num())
		}
		for i := range data {
			data[i] = byte(int(o.Get("start").Num()) + i*step)
		}
		return text(base64.StdEncoding.EncodeToString(data))
	case v.Obj().Has("$fromCodeUnits"):
		return codeUnits(v.Get("$fromCodeUnits").Items())
	}
	o := jsonl.NewObj()
	for _, m := range v.Obj().Members() {
		o.Set(m.Key, expand(m.Value))
	}
	return jsonl.ObjectValue(o)
}

func codeUnits(units []jsonl.Value) jsonl.Value {
	var b strings.Builder
	b.WriteByte('"')
	for _, u := range units {
		n := int(u.Num())
		b.WriteString(`\u` + hex.EncodeToString([]byte{byte(n >> 8), byte(n)}))
	}
	b.WriteByte('"')
	v, err := jsonl.ParseString(b.String())
	if err != nil {
		panic(err)
	}
	return v
}

// unordered tells the steps whose rows come in the directory's own order.
func unordered(step jsonl.Value) bool {
	switch step.Get("op").Str() {
	case "list", "listAll", "candidates":
		return true
	}
	return false
}

// sortRows sorts the rows of a list by their text.
func sortRows(v jsonl.Value) jsonl.Value {
	o := v.Obj().Clone()
	if rows := o.Get("ok"); rows.Is(jsonl.Array) {
		o.Set("ok", sortedRows(rows))
	} else if rows.Is(jsonl.Object) {
		inner := rows.Obj().Clone()
		for _, m := range rows.Obj().Members() {
			if m.Value.Is(jsonl.Array) {
				inner.Set(m.Key, sortedRows(m.Value))
			}
		}
		o.Set("ok", jsonl.ObjectValue(inner))
	}
	return jsonl.ObjectValue(o)
}

func sortedRows(rows jsonl.Value) jsonl.Value {
	sorted := slices.Clone(rows.Items())
	slices.SortStableFunc(sorted, func(a, b jsonl.Value) int { return strings.Compare(rowKey(a), rowKey(b)) })
	return jsonl.ArrayValue(sorted...)
}

func rowKey(v jsonl.Value) string {
	if path := v.Get("path"); path.Is(jsonl.String) {
		return path.Str()
	}
	return v.JSON()
}

// date is a time as the recording writes it.
func date(at time.Time, valid bool) jsonl.Value {
	if !valid {
		return object("$date", text("Invalid Date"))
	}
	return object("$date", text(isoTime(at)))
}

func isoTime(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

func (r *caseRunner) infoRow(in session.Info) jsonl.Value {
	size := len(recordedBytes(r.t, in.Path))
	var title, parent jsonl.Value
	if in.HasTitle {
		title = text(in.Title)
	}
	if in.ParentSession != "" {
		parent = text(in.ParentSession)
	}
	return object("path", text(in.Path), "id", text(in.ID), "cwd", text(in.Cwd), "title", title,
		"parentSessionPath", parent, "created", date(in.Created, in.HasCreated), "modified", date(in.Modified, true),
		"messageCount", number(float64(in.MessageCount)), "messageCountIsEstimate", jsonl.BoolValue(size > jsonl.ListingPrefix),
		"size", number(float64(size)), "firstMessage", text(in.FirstMessage), "allMessagesText", text(in.AllText))
}

func recentRow(r session.RecentSession) jsonl.Value {
	name := text(r.Label(time.UTC))
	if r.Name == "" {
		name = object("$timeLabel", name)
	}
	return object("path", text(r.Path), "mtime", text(isoTime(r.Modified)), "name", name)
}

// isMissing reports whether err is about something that is not there.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
