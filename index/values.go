package index

import "github.com/gajae-code/gjc-index/session"

// The rows as they are inserted, and as Check compares them with the database.

// sessionValues are what a session's row says besides its fingerprint.
func (o *outcome) sessionValues() []any {
	r := o.reading
	active := r.last.ms
	if !r.last.known {
		active = o.info.ModTime / 1e6
	}
	child := 0
	if o.file.child() {
		child = 1
	}
	return []any{r.resume.offset, r.resume.line, r.resume.malformed, bytesOrNull(r.resume.sum),
		string(r.state), textOrNull(r.reason, r.reason != ""),
		textOrNull(r.id, r.state == StateOK || r.state == StateNewer && r.id != ""), r.version, textOrNull(r.cwd, r.cwd != ""), textOrNull(r.parent, r.parent != ""),
		child, r.created.value(), r.last.value(), active, r.messages, r.entries, r.seconds,
		r.facts.malformed, r.facts.recovered, textOrNull(r.title, r.hasTitle),
		textOrNull(r.titleSource, r.titleSource != ""), textOrNull(r.firstPrompt, r.firstPrompt != "")}
}

func (e *entry) values(key int64) []any {
	return []any{key, e.seq, textOrNull(e.id, e.hasID), textOrNull(e.parent, e.hasParent),
		parentValue(e.parentSeq), e.run, e.kind, textOrNull(e.role, e.role != ""), e.time.value(), e.line, e.offset, e.size,
		flag(e.state), flag(e.gap)}
}

func (p *patchRow) values(key int64) []any { return []any{key, p.seq, p.line, p.offset, p.size} }

func (l *labelRow) values(key int64) []any {
	current := 1
	if l.overtaken {
		current = 0
	}
	return []any{key, l.seq, l.target, textOrNull(l.label, l.set), current}
}

func (u *usageRow) values(key int64) []any {
	var cost any
	if u.use.HasCost {
		cost = u.use.Cost
	}
	return []any{key, u.seq, u.time.value(), textOrNull(u.provider, u.provider != ""), textOrNull(u.model, u.model != ""),
		u.use.Input, u.use.Output, u.use.CacheRead, u.use.CacheWrite, cost, u.use.PremiumRequests,
		textOrNull(u.stop, u.stop != "")}
}

func (p *promptRow) values(r *reading) []any {
	return []any{p.id, p.line, p.time.ms, r.cwd, p.text}
}

func (o *outcome) archiveValues(key int64) [][]any {
	if o.reading.tail {
		return nil
	}
	archives := o.archives()
	rows := make([][]any, len(archives))
	for i := range archives {
		rows[i] = archives[i].values(key)
	}
	return rows
}

// archivedValues are the rows of archived entries. Of two archives the reader
// takes the first that is there.
func (o *outcome) archivedValues(key int64) [][]any {
	r := o.reading
	if len(r.archived) == 0 {
		return nil
	}
	file := ""
	if len(r.archives) > 0 {
		file = r.archives[0].Name
	}
	rows := make([][]any, len(r.archived))
	for i := range r.archived {
		a := &r.archived[i]
		rows[i] = []any{key, i, file, a.run, textOrNull(a.id, a.hasID), textOrNull(a.parent, a.hasParent), a.kind, textOrNull(a.role, a.role != ""),
			a.time.value(), a.line, a.offset, a.size}
	}
	return rows
}

func (r *reading) touchedValues(key int64) [][]any {
	rows := make([][]any, len(r.effects))
	for i, e := range r.effects {
		rows[i] = []any{key, i, e.Path, session.EffectFile(r.cwd, e.Path), e.Ops.Create, e.Ops.Write, e.Ops.Edit, e.Ops.Delete, e.Ops.Rename,
			e.First, e.Last, e.Entry}
	}
	return rows
}

func (r *reading) callValues(key int64) [][]any {
	rows := make([][]any, len(r.calls))
	for i, c := range r.calls {
		rows[i] = []any{key, i, c.ID, c.Tool, c.Path}
	}
	return rows
}

func bytesOrNull(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

func textOrNull(s string, there bool) any {
	if !there {
		return nil
	}
	return s
}

func parentValue(seq int32) any {
	if seq == missingParent {
		return nil
	}
	return seq
}

func flag(b bool) any {
	if b {
		return 1
	}
	return nil
}
