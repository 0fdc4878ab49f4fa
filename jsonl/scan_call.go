package jsonl

// CallFields is what a toolCall block says of itself. A Lit is set only if the
// property is a string.
type CallFields struct {
	ID, Name Lit
	Path     Lit // CallPath of its arguments; not set if that is ""
}

// CallPath is where the arguments of a tool call name its file: path, or
// file_path where that is absent or null; "" for neither.
func CallPath(arguments Value) string {
	if p := arguments.Get("path"); !p.Is(Absent) && !p.Is(Null) {
		return p.Str()
	}
	return arguments.Get("file_path").Str()
}

func callOf(block Value) CallFields {
	c := CallFields{ID: litOf(block.Get("id")), Name: litOf(block.Get("name"))}
	if path := CallPath(block.Get("arguments")); path != "" {
		c.Path = literal(path)
	}
	return c
}

// arguments reads the arguments of a tool call for the path in them.
func (s *scanner) arguments(path *Lit) bool {
	if s.at() != '{' {
		_, ok := s.skip()
		return ok
	}
	if s.enter('}') {
		return true
	}
	var first, second Lit // path and file_path
	kind, seen := Absent, uint8(0)
	for {
		key, ok := s.key()
		if !ok {
			return false
		}
		var bit uint8
		switch string(key) {
		case "path":
			bit = 1
			kind, ok = s.literal(&first)
		case "file_path":
			bit = 2
			_, ok = s.literal(&second)
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
	if kind == Absent || kind == Null {
		first = second
	}
	if len(first.raw) > 0 {
		*path = first
	}
	return true
}
