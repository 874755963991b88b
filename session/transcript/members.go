package transcript

import (
	"slices"
	"strconv"

	"github.com/winnowgo/winnow/internal/jsontext"
)

// member is a raw member of an object.
type member struct {
	key   string
	value []byte
}

// members are the members of an object. They share its memory.
type members []member

// read reads the members of an object, reusing the slice.
func (m *members) read(object []byte) {
	*m = (*m)[:0]
	jsontext.Members(object, func(key string, value []byte) { *m = append(*m, member{key, value}) })
}

// get returns a value, nil if it is missing or null. The last of several counts, as in package json.
func (m members) get(key string) []byte {
	for i := len(m) - 1; i >= 0; i-- {
		if m[i].key == key {
			if string(m[i].value) == "null" {
				return nil
			}
			return m[i].value
		}
	}
	return nil
}

func (m members) has(key string) bool { return m.get(key) != nil }

// text returns a string, "" if it is missing.
func (m members) text(key string) string { return jsontext.Text(m.get(key)) }

func (m members) isTrue(key string) bool { return string(m.get(key)) == "true" }

// number returns a whole number, 0 if it is missing or negative. A fraction is cut off.
func (m members) number(key string) int {
	raw := m.get(key)
	if n, err := strconv.Atoi(string(raw)); err == nil {
		return max(0, n)
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || !(f > 0 && f < 1<<53) {
		return 0
	}
	return int(f)
}

// object returns the members of a value that is an object.
func (m members) object(key string) members {
	var out members
	out.read(m.get(key))
	return out
}

// without returns the members whose keys are not in known and whose values are not null.
func (m members) without(known ...string) members {
	var out members
next:
	for _, x := range m {
		if string(x.value) == "null" {
			continue
		}
		for _, k := range known {
			if x.key == k {
				continue next
			}
		}
		out = append(out, x)
	}
	return out
}

// withoutKeys returns the members without these keys.
func (m members) withoutKeys(keys ...string) members {
	return slices.DeleteFunc(slices.Clone(m), func(x member) bool { return slices.Contains(keys, x.key) })
}

// with returns m updated by another object: a null there removes a member.
func (m members) with(change members) members {
	var keys []string
	for _, x := range change {
		keys = append(keys, x.key)
	}
	out := m.withoutKeys(keys...)
	for _, x := range change {
		if string(x.value) != "null" {
			out = append(out, x)
		}
	}
	return out
}

// and returns m with the members of rest whose keys m lacks.
func (m members) and(rest members) members {
	for _, x := range rest {
		if !slices.ContainsFunc(m, func(y member) bool { return y.key == x.key }) {
			m = append(m, x)
		}
	}
	return m
}

// append writes the members as an object.
func (m members) append(b []byte) []byte {
	b = append(b, '{')
	for i, x := range m {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), x.key...), `":`...)
		b = append(b, x.value...)
	}
	return append(b, '}')
}
