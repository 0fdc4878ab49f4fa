package jsonl

// The objects whose keys the field reader knows: the record, its message, the
// message's usage and cost, and the blocks of a content array. Everything else
// is skipped. seen holds a bit for each wanted key: one that comes again makes
// the scanner give the line up.

func (s *scanner) record() bool {
	if s.enter('}') {
		return true
	}
	const messageBit, contentBit = 1 << 62, 1 << 63
	seen := uint64(0)
	for {
		key, ok := s.key()
		if !ok {
			return false
		}
		var bit uint64
		switch string(key) {
		case "message":
			bit = messageBit
			ok = s.message()
		case "content":
			bit = contentBit
			ok = s.content()
		case "version":
			bit = 1 << 61
			s.f.VersionKind, ok = s.number(&s.f.Version)
		default:
			to, kind, n := s.recordKey(key)
			if to == nil {
				_, ok = s.skip()
				break
			}
			bit = 1 << n
			*kind, ok = s.literal(to)
		}
		if !ok || seen&bit != 0 {
			return false
		}
		seen |= bit
		more, done := s.more('}')
		if done {
			break
		}
		if !more {
			return false
		}
	}
	return s.f.scanned(seen&messageBit != 0, seen&contentBit != 0)
}

// recordKey says where a record's property goes and which bit stands for it;
// nil for one that is not wanted.
func (s *scanner) recordKey(key []byte) (to *Lit, kind *Kind, bit uint) {
	f := s.f
	switch string(key) {
	case "type":
		return &f.Type, &s.spare, 0
	case "id":
		return &f.ID, &f.IDKind, 1
	case "parentId":
		return &f.Parent, &f.ParentKind, 2
	case "timestamp":
		return &f.Timestamp, &s.spare, 3
	case "customType":
		return &f.CustomType, &s.spare, 4
	case "targetId":
		return &f.TargetID, &s.spare, 5
	case "label":
		return &f.Label, &f.LabelKind, 6
	case "firstKeptEntryId":
		return &f.FirstKept, &s.spare, 7
	case "summary":
		return &f.Summary, &s.spare, 8
	case "shortSummary":
		return &f.ShortSummary, &s.spare, 9
	case "fromId":
		return &f.FromID, &s.spare, 10
	case "cwd":
		return &f.Cwd, &s.spare, 11
	case "title":
		return &f.Title, &s.spare, 12
	case "titleSource":
		return &f.TitleSource, &s.spare, 13
	case "parentSession":
		return &f.ParentSession, &s.spare, 14
	case "entryId":
		return &f.EntryID, &s.spare, 15
	case "event_id":
		return &f.EventID, &s.spare, 16
	case "model":
		return &f.ModelName, &s.spare, 17
	}
	return nil, nil, 0
}

// scanned tells whether the fields were found where Of looks for them, now
// that the type is known: patches keep theirs elsewhere, and content belongs
// to a custom_message alone.
func (f *Fields) scanned(hasMessage, hasContent bool) bool {
	if f.Type.Equal("header_patch") || f.Type.Equal("entry_patch") {
		return false
	}
	if f.Type.Equal("custom_message") {
		return !hasMessage
	}
	return !hasContent
}

func (s *scanner) message() bool {
	if s.at() != '{' {
		_, ok := s.skip()
		return ok
	}
	if s.enter('}') {
		return true
	}
	seen := uint16(0)
	for {
		key, ok := s.key()
		if !ok {
			return false
		}
		var bit uint16
		switch string(key) {
		case "role":
			bit = 1
			_, ok = s.literal(&s.f.Role)
		case "content":
			bit = 2
			ok = s.content()
		case "provider":
			bit = 4
			_, ok = s.literal(&s.f.Provider)
		case "model":
			bit = 8
			_, ok = s.literal(&s.f.Model)
		case "stopReason":
			bit = 16
			_, ok = s.literal(&s.f.StopReason)
		case "toolName":
			bit = 32
			_, ok = s.literal(&s.f.ToolName)
		case "usage":
			bit = 64
			ok = s.usage()
		case "toolCallId":
			bit = 128
			_, ok = s.literal(&s.f.ToolCallID)
		case "details":
			bit = 256
			s.space()
			from := s.i
			_, ok = s.skip()
			s.f.Details = s.b[from:s.i:s.i]
		default:
			_, ok = s.skip()
		}
		if !ok || seen&bit != 0 {
			return false
		}
		seen |= bit
		if more, done := s.more('}'); !more {
			return done
		}
	}
}

// content reads a message's content: a string, or an array of blocks.
func (s *scanner) content() bool {
	switch s.at() {
	case '"':
		l, ok := s.string()
		s.f.Texts = append(s.f.Texts, l)
		return ok
	case '[':
		if s.enter(']') {
			return true
		}
		for {
			s.space()
			if !s.block() {
				return false
			}
			if more, done := s.more(']'); !more {
				return done
			}
		}
	}
	_, ok := s.skip()
	return ok
}

// block reads one element of a content array.
func (s *scanner) block() bool {
	if s.at() != '{' {
		_, ok := s.skip()
		return ok
	}
	if s.enter('}') {
		return true
	}
	var typ, text Lit
	var call CallFields
	seen := uint8(0)
	for {
		key, ok := s.key()
		if !ok {
			return false
		}
		var bit uint8
		switch string(key) {
		case "type":
			bit = 1
			_, ok = s.literal(&typ)
		case "text":
			bit = 2
			_, ok = s.literal(&text)
		case "id":
			bit = 4
			_, ok = s.literal(&call.ID)
		case "name":
			bit = 8
			_, ok = s.literal(&call.Name)
		case "arguments":
			bit = 16
			ok = s.arguments(&call.Path)
		default:
			_, ok = s.skip()
		}
		if !ok || seen&bit != 0 {
			return false
		}
		seen |= bit
		more, done := s.more('}')
		if done {
			break
		}
		if !more {
			return false
		}
	}
	switch {
	case text.Ok() && typ.Equal("text"):
		s.f.Texts = append(s.f.Texts, text)
	case typ.Equal("image"):
		s.f.Images++
	case typ.Equal("toolCall"):
		s.f.Calls = append(s.f.Calls, call)
	}
	return true
}

func (s *scanner) usage() bool {
	if s.at() != '{' {
		_, ok := s.skip()
		return ok
	}
	u := &s.f.Usage
	u.Has = true
	if s.enter('}') {
		return true
	}
	seen, numbers := uint8(0), uint8(0)
	for {
		key, ok := s.key()
		if !ok {
			return false
		}
		var bit uint8
		kind := Absent
		switch string(key) {
		case "input":
			bit = 1
			kind, ok = s.number(&u.Input)
		case "output":
			bit = 2
			kind, ok = s.number(&u.Output)
		case "cacheRead":
			bit = 4
			kind, ok = s.number(&u.CacheRead)
		case "cacheWrite":
			bit = 8
			kind, ok = s.number(&u.CacheWrite)
		case "premiumRequests":
			bit = 16
			_, ok = s.number(&u.PremiumRequests)
		case "cost":
			bit = 32
			ok = s.cost()
		default:
			_, ok = s.skip()
		}
		if !ok || seen&bit != 0 {
			return false
		}
		seen |= bit
		if kind == Number {
			numbers |= bit
		}
		if more, done := s.more('}'); !more {
			u.Whole = numbers == 15
			return done
		}
	}
}

func (s *scanner) cost() bool {
	if s.at() != '{' {
		_, ok := s.skip()
		return ok
	}
	if s.enter('}') {
		return true
	}
	seen := false
	for {
		key, ok := s.key()
		if !ok {
			return false
		}
		if string(key) == "total" {
			if seen {
				return false
			}
			seen = true
			var kind Kind
			kind, ok = s.number(&s.f.Usage.Cost)
			s.f.Usage.HasCost = kind == Number
		} else {
			_, ok = s.skip()
		}
		if !ok {
			return false
		}
		if more, done := s.more('}'); !more {
			return done
		}
	}
}
