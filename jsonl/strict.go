package jsonl

// strictRecords checks every record of an upgraded transcript against the
// shapes of the format. Unknown types are accepted with a warning.
func (t *Transcript) strictRecords() ([]Warning, error) {
	if !strictHeader(t.Header.Value()) {
		return nil, &LineError{Line: t.HeaderLine, Reason: NotRecord}
	}
	var warnings []Warning
	for _, e := range t.Records {
		if e.plainMessage() {
			continue
		}
		o := e.Value()
		known, ok := strictRecord(e.kind, o)
		if !ok {
			return nil, &LineError{Line: e.Line, Reason: NotRecord}
		}
		if !known {
			warnings = append(warnings, Warning{Line: e.Line, Kind: UnknownType})
		}
	}
	return warnings, nil
}

// plainMessage reports a message that is known to have the shape without being
// parsed.
func (e *Entry) plainMessage() bool {
	return e.kind == "message" && e.role != "" && e.timestamp != "" && e.idKind == String && (e.parentKind == Null || e.parentKind == String)
}

// StrictFault is the first record of an upgraded transcript that the strict
// reader refuses, as a *LineError, nil if there is none; unknown counts records
// of types that the original program doesn't know, which it refuses too. It does
// not see what only the bytes of a line tell: InspectBytes does.
func (t *Transcript) StrictFault() (unknown int, err error) {
	warnings, err := t.strictRecords()
	return len(warnings), err
}

func strictHeader(o *Obj) bool {
	return isString(o, "id") && isString(o, "cwd") && isString(o, "timestamp")
}

func strictRecord(kind string, o *Obj) (known, ok bool) {
	if kind == "session" {
		return true, strictHeader(o)
	}
	parent := o.Get("parentId").Kind()
	if !isString(o, "type") || !isString(o, "id") || !isString(o, "timestamp") || (parent != Null && parent != String) {
		return true, false
	}
	return strictShape(kind, o)
}

// strictShape checks what the type of an entry asks for. Source: behaviour part 10.
func strictShape(kind string, o *Obj) (known, ok bool) {
	switch kind {
	case "message":
		return true, o.Get("message").Is(Object) && isString(o.Get("message").Obj(), "role")
	case "model_change":
		return true, isString(o, "model") || (isString(o, "provider") && isString(o, "modelId"))
	case "compaction":
		return true, isString(o, "summary") && isString(o, "firstKeptEntryId") && o.Get("tokensBefore").Is(Number)
	case "branch_summary":
		return true, isString(o, "fromId") && isString(o, "summary")
	case "custom":
		return true, isString(o, "customType")
	case "custom_message":
		content := o.Get("content").Kind()
		return true, isString(o, "customType") && (content == String || content == Array) && o.Get("display").Is(Bool)
	case "label":
		return true, isString(o, "targetId") && maybeString(o, "label")
	case "ttsr_injection":
		return true, isStrings(o, "injectedRules")
	case "mcp_tool_selection":
		return true, isStrings(o, "selectedToolNames") && maybeString(o, "mutationCorrelationId") &&
			(!o.Has("selectedDiscoveredBuiltinToolNames") || isStrings(o, "selectedDiscoveredBuiltinToolNames"))
	case "discovered_builtin_tool_selection":
		return true, isStrings(o, "selectedToolNames") && maybeString(o, "mutationCorrelationId")
	case "session_init":
		return true, isString(o, "systemPrompt") && isString(o, "task") && isStrings(o, "tools")
	case "mode_change":
		return true, isString(o, "mode")
	case "thinking_level_change":
		return true, maybeString(o, "thinkingLevel") || o.Get("thinkingLevel").Is(Null)
	case "service_tier_change":
		return true, isString(o, "serviceTier") || o.Get("serviceTier").Is(Null)
	case "configured_model_chain":
		return true, strictChain(o)
	}
	return false, true
}

// strictChain is a chain that counts: a role, and a name or that it is cleared.
func strictChain(o *Obj) bool {
	if o.Get("role").Str() == "" {
		return false
	}
	if cleared := o.Get("cleared"); cleared.Is(Bool) && cleared.Bool() {
		return true
	}
	for _, v := range o.Get("entries").Items() {
		if v.Str() != "" {
			return true
		}
	}
	return false
}

func isString(o *Obj, key string) bool { return o.Get(key).Is(String) }

func maybeString(o *Obj, key string) bool {
	k := o.Get(key).Kind()
	return k == Absent || k == String
}

// isStrings reports whether key holds an array of strings only.
func isStrings(o *Obj, key string) bool {
	v := o.Get(key)
	if !v.Is(Array) {
		return false
	}
	for _, item := range v.Items() {
		if !item.Is(String) {
			return false
		}
	}
	return true
}

// ValidEntry reports whether an entry, as a program is about to write it, has
// the shape that the strict reader asks for. Types that the format does not
// know are not valid: a new one would make other programs refuse the file.
func ValidEntry(o *Obj) bool {
	kind := o.Get("type").Str()
	known, ok := strictRecord(kind, o)
	return known && ok && kind != "session"
}
