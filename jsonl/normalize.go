package jsonl

import "strconv"

// Normalize leaves out the properties of a new record that are Absent, at any
// depth, as ECMAScript's undefined ones are. An Absent element of an array
// can't be left out: *UndefinedItemError names it. What doesn't change is
// shared. Source: behaviour part 1.
func Normalize(v Value) (Value, error) {
	out, _, err := normalize(v, "entry")
	return out, err
}

func normalize(v Value, path string) (Value, bool, error) {
	switch v.kind {
	case Array:
		return normalizeArray(v, path)
	case Object:
		return normalizeObject(v, path)
	}
	return v, false, nil
}

func normalizeArray(v Value, path string) (Value, bool, error) {
	var out []Value
	for i, item := range v.Items() {
		if item.kind == String || item.kind == Number {
			continue
		}
		at := path + "[" + strconv.Itoa(i) + "]"
		if item.kind == Absent {
			return v, false, &UndefinedItemError{Path: at}
		}
		made, changed, err := normalize(item, at)
		if err != nil {
			return v, false, err
		}
		if !changed {
			continue
		}
		if out == nil {
			out = append(out, v.Items()...)
		}
		out[i] = made
	}
	if out == nil {
		return v, false, nil
	}
	return ArrayValue(out...), true, nil
}

func normalizeObject(v Value, path string) (Value, bool, error) {
	var out *Obj
	for _, m := range v.obj.Members() {
		made, changed := Value{}, m.Value.kind == Absent
		if m.Value.kind == Array || m.Value.kind == Object {
			var err error
			if made, changed, err = normalize(m.Value, path+"."+m.Key); err != nil {
				return v, false, err
			}
		}
		if !changed {
			continue
		}
		if out == nil {
			out = v.obj.Clone()
		}
		if m.Value.kind == Absent {
			out.Delete(m.Key)
			continue
		}
		out.Set(m.Key, made)
	}
	if out == nil {
		return v, false, nil
	}
	return ObjectValue(out), true, nil
}
