package jsonl

// plainText is the length up to which no text is cut, in bytes: UTF-8 never
// takes fewer bytes than UTF-16 takes units.
const plainText = MaxText

// Plain reports whether Normalize, CanonicalImages and Prepare would all leave
// a record as it is, at a fraction of their cost. It errs on the side of no.
func Plain(v Value) bool {
	switch v.kind {
	case Absent:
		return false
	case String:
		return len(v.str) <= plainText
	case Array:
		for _, item := range v.Items() {
			if !Plain(item) {
				return false
			}
		}
	case Object:
		for _, m := range v.obj.Members() {
			if m.Key == "data" || m.Key == "image_url" || isTransient(m.Key) || !Plain(m.Value) {
				return false
			}
		}
	}
	return true
}
