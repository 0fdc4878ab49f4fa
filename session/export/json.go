package export

import (
	"bytes"
	"encoding/json"
	"iter"

	"github.com/gajae-code/gjc-index/jsonl"
)

// indented is a value as JSON on several lines.
func indented(v jsonl.Value) string {
	var b bytes.Buffer
	if err := json.Indent(&b, jsonl.AppendJSON(nil, v), "", "  "); err != nil {
		return v.JSON()
	}
	return b.String()
}

// json writes one document: the session's facts, which entries these are, the
// entries whole but for their event ids, and at the end what was taken out.
func (d *document) json() error {
	session := jsonl.NewObj(
		jsonl.Member{Key: "id", Value: jsonl.StringValue(d.s.ID)},
		jsonl.Member{Key: "title", Value: orNull(jsonl.StringValue(d.s.Title))},
		jsonl.Member{Key: "cwd", Value: orNull(jsonl.StringValue(d.s.Cwd))})
	if !d.s.Created.IsZero() {
		session.Set("created", jsonl.StringValue(d.s.Created.UTC().Format("2006-01-02T15:04:05.000Z")))
	}
	shown := len(d.s.Tree.Path(d.leaf))
	if d.opt.AllBranches {
		shown = d.s.Tree.Len()
	}
	leaf := jsonl.NullValue()
	if e := d.s.Tree.LeafEntry(d.leaf); e != nil {
		id, _ := e.ID()
		leaf = orNull(jsonl.StringValue(id))
	}
	head := jsonl.NewObj(
		jsonl.Member{Key: "format", Value: jsonl.StringValue("gjc-index/session")},
		jsonl.Member{Key: "v", Value: jsonl.NumberValue(1)},
		jsonl.Member{Key: "session", Value: jsonl.ObjectValue(session)},
		jsonl.Member{Key: "shown", Value: jsonl.StringValue(d.shown(shown))},
		jsonl.Member{Key: "allBranches", Value: jsonl.BoolValue(d.opt.AllBranches)},
		jsonl.Member{Key: "leaf", Value: leaf},
		jsonl.Member{Key: "redaction", Value: jsonl.BoolValue(d.opt.Redact != nil)})
	open := jsonl.AppendJSON(nil, jsonl.ObjectValue(head))
	d.w.Write(open[:len(open)-1]) // the writer keeps its first error until Flush
	d.w.WriteString(",\"entries\":[")
	if err := d.jsonEntries(); err != nil {
		return err
	}
	tail := jsonl.NewObj(
		jsonl.Member{Key: "secretsRedacted", Value: jsonl.NumberValue(float64(d.clean.secrets))},
		jsonl.Member{Key: "missingBlobs", Value: jsonl.NumberValue(float64(d.report.Missing))})
	end := jsonl.AppendJSON([]byte("\n],"), jsonl.ObjectValue(tail))
	d.w.Write(append(end[:3], end[4:]...))
	return d.w.WriteByte('\n')
}

func (d *document) jsonEntries() error {
	var line []byte
	for e := range d.inFileOrder() {
		whole, err := d.load(e)
		if err != nil {
			return err
		}
		o := whole.Value()
		if o.Has("event_id") {
			o = o.Clone()
			o.Delete("event_id")
		}
		line = line[:0]
		if d.report.Shown > 0 {
			line = append(line, ',')
		}
		line = jsonl.AppendJSON(append(line, '\n'), jsonl.ObjectValue(o))
		d.report.Shown++
		if _, err := d.w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// inFileOrder are the entries of the output as a program reads them.
func (d *document) inFileOrder() iter.Seq[*jsonl.Entry] {
	list := d.s.Tree.Entries()
	if !d.opt.AllBranches {
		list = d.s.Tree.Path(d.leaf)
	}
	return func(yield func(*jsonl.Entry) bool) {
		for _, e := range list {
			if !yield(e) {
				return
			}
		}
	}
}

func orNull(v jsonl.Value) jsonl.Value {
	if v.Str() == "" {
		return jsonl.NullValue()
	}
	return v
}
