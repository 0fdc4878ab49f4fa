package jsonl

import (
	"sort"
	"strconv"
)

// Kind is what a Value holds.
type Kind uint8

// The kinds of a Value. The zero Value is Absent: a property that is not there
// (ECMAScript's undefined).
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// Value is one JSON value as an ECMAScript program holds it: numbers are
// doubles, strings may hold lone surrogates (kept as WTF-8: the three bytes
// UTF-8 would give them), objects keep their order. The zero Value is Absent.
// Arrays and objects are shared by copies of a Value.
type Value struct {
	kind Kind
	flag bool
	num  float64
	str  string
	arr  *[]Value
	obj  *Obj
}

// NullValue is null.
func NullValue() Value { return Value{kind: Null} }

// BoolValue is true or false.
func BoolValue(b bool) Value { return Value{kind: Bool, flag: b} }

// NumberValue is a double; NaN and the infinities are written as null.
func NumberValue(f float64) Value { return Value{kind: Number, num: f} }

// StringValue is text in WTF-8; all valid UTF-8 is WTF-8.
func StringValue(s string) Value { return Value{kind: String, str: s} }

// ArrayValue is an array that takes over items.
func ArrayValue(items ...Value) Value {
	a := items
	return Value{kind: Array, arr: &a}
}

// ObjectValue is o as a value; they share their properties.
func ObjectValue(o *Obj) Value { return Value{kind: Object, obj: o} }

// Kind says what v holds.
func (v Value) Kind() Kind { return v.kind }

// Is reports whether v is of kind k.
func (v Value) Is(k Kind) bool { return v.kind == k }

// Bool is v as a boolean; false for any other kind.
func (v Value) Bool() bool { return v.kind == Bool && v.flag }

// Num is v as a number; 0 for any other kind.
func (v Value) Num() float64 { return v.num }

// Str is v as a string (WTF-8); "" for any other kind.
func (v Value) Str() string { return v.str }

// Items are the elements of an array; nil for any other kind. The slice is the
// array's own: writing an element changes the array.
func (v Value) Items() []Value {
	if v.arr == nil {
		return nil
	}
	return *v.arr
}

// Obj is v as an object; nil (which reads as an empty object) for any other kind.
func (v Value) Obj() *Obj { return v.obj }

// Get is the property key of an object; Absent if v is no object or has none.
func (v Value) Get(key string) Value { return v.obj.Get(key) }

// Truthy is ECMAScript's conversion to boolean.
func (v Value) Truthy() bool {
	switch v.kind {
	case Bool:
		return v.flag
	case Number:
		return v.num != 0 && v.num == v.num
	case String:
		return v.str != ""
	case Array, Object:
		return true
	}
	return false
}

// Member is one property of an Obj.
type Member struct {
	Key   string
	Value Value
}

// Obj is an ECMAScript object: keys in the order they were first set, except
// canonical array indices (0 to 4294967294), which come first in ascending
// order. A nil *Obj reads as empty. The zero Obj is empty and ready to use.
type Obj struct {
	members []Member
	indices int            // how many of the first members are array indices
	byKey   map[string]int // made once there are more than a few members
}

const objMapThreshold = 12

// NewObj makes an object of the given members, set in order.
func NewObj(members ...Member) *Obj {
	o := &Obj{}
	for _, m := range members {
		o.Set(m.Key, m.Value)
	}
	return o
}

// Len is the number of properties.
func (o *Obj) Len() int {
	if o == nil {
		return 0
	}
	return len(o.members)
}

// Members are the properties in order. The caller must not change the slice.
func (o *Obj) Members() []Member {
	if o == nil {
		return nil
	}
	return o.members
}

func (o *Obj) find(key string) int {
	if o == nil {
		return -1
	}
	if o.byKey != nil {
		if i, ok := o.byKey[key]; ok {
			return i
		}
		return -1
	}
	for i := range o.members {
		if o.members[i].Key == key {
			return i
		}
	}
	return -1
}

// Get is the value of key; Absent if there is none.
func (o *Obj) Get(key string) Value {
	if i := o.find(key); i >= 0 {
		return o.members[i].Value
	}
	return Value{}
}

// Has reports whether key is there (also with an Absent value).
func (o *Obj) Has(key string) bool { return o.find(key) >= 0 }

// Set gives key a value: a known key keeps its place, a new one goes to the
// end, or among the array indices if it is one.
func (o *Obj) Set(key string, v Value) {
	if i := o.find(key); i >= 0 {
		o.members[i].Value = v
		return
	}
	at := len(o.members)
	if idx, ok := arrayIndex(key); ok {
		at = sort.Search(o.indices, func(i int) bool {
			have, _ := arrayIndex(o.members[i].Key)
			return have > idx
		})
		o.indices++
	}
	o.members = append(o.members, Member{})
	copy(o.members[at+1:], o.members[at:])
	o.members[at] = Member{Key: key, Value: v}
	o.reindex(at)
}

// Delete removes key, if it is there.
func (o *Obj) Delete(key string) {
	i := o.find(key)
	if i < 0 {
		return
	}
	if i < o.indices {
		o.indices--
	}
	o.members = append(o.members[:i:i], o.members[i+1:]...)
	o.byKey = nil
	o.reindex(i)
}

// Clone is a copy with members of its own; values are shared.
func (o *Obj) Clone() *Obj {
	c := &Obj{indices: o.indices, members: append([]Member(nil), o.members...)}
	c.reindex(0)
	return c
}

func (o *Obj) reindex(from int) {
	if len(o.members) <= objMapThreshold {
		o.byKey = nil
		return
	}
	if o.byKey == nil {
		o.byKey = make(map[string]int, len(o.members)+4)
		from = 0
	}
	for i := from; i < len(o.members); i++ {
		o.byKey[o.members[i].Key] = i
	}
}

// arrayIndex reports whether key is a canonical array index and which.
func arrayIndex(key string) (uint64, bool) {
	if key == "" || len(key) > 10 || (key[0] == '0' && len(key) > 1) {
		return 0, false
	}
	for i := 0; i < len(key); i++ {
		if key[i] < '0' || key[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(key, 10, 64)
	if err != nil || n > 4294967294 {
		return 0, false
	}
	return n, true
}
