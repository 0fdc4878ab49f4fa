package jsonl

// This file makes the messages of a context that stand in no message entry.
// Keys are in the order, and absent where, the original has them. Source:
// behaviour part 8.

// customMessage is the message of a custom_message entry.
func customMessage(e *Obj) Value {
	o := NewObj(Member{"role", StringValue("custom")})
	for _, key := range []string{"customType", "content", "display", "details", "attribution"} {
		setPresent(o, key, e.Get(key))
	}
	o.Set("timestamp", NumberValue(DateOf(e.Get("timestamp"))))
	return ObjectValue(o)
}

// branchSummaryMessage is the message of a branch_summary entry; Absent if its
// summary is empty.
func branchSummaryMessage(e *Obj) Value {
	if !e.Get("summary").Truthy() {
		return Value{}
	}
	o := NewObj(Member{"role", StringValue("branchSummary")})
	setPresent(o, "summary", e.Get("summary"))
	setPresent(o, "fromId", e.Get("fromId"))
	o.Set("timestamp", NumberValue(DateOf(e.Get("timestamp"))))
	return ObjectValue(o)
}

// compactionMessage is the message that stands for what a compaction dropped.
// remote says that a provider keeps the history, so that nothing kept before
// the compaction is sent.
func compactionMessage(e *Obj) (message Value, remote bool) {
	o := NewObj(Member{"role", StringValue("compactionSummary")})
	setPresent(o, "summary", e.Get("summary"))
	setPresent(o, "shortSummary", e.Get("shortSummary"))
	setPresent(o, "tokensBefore", e.Get("tokensBefore"))
	kept := e.Get("preserveData").Get("openaiRemoteCompaction")
	provider, items := kept.Get("provider"), kept.Get("replacementHistory")
	if remote = provider.Str() != "" && items.Is(Array); remote {
		o.Set("providerPayload", ObjectValue(NewObj(
			Member{"type", StringValue("openaiResponsesHistory")},
			Member{"provider", provider},
			Member{"items", items},
		)))
	}
	o.Set("timestamp", NumberValue(DateOf(e.Get("timestamp"))))
	return ObjectValue(o), remote
}

// setPresent sets a property unless its value is absent.
func setPresent(o *Obj, key string, v Value) {
	if !v.Is(Absent) {
		o.Set(key, v)
	}
}

// textOf is ECMAScript's String(v) of what can stand where a string should.
func textOf(v Value) string {
	switch v.Kind() {
	case String:
		return v.Str()
	case Absent:
		return "undefined"
	case Object:
		return "[object Object]"
	}
	return v.JSON()
}
