package adapter

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLimitMarkers(t *testing.T) {
	for _, tt := range []struct{ in, most4, most1, reason string }{
		{"p p m b b", "p p b b", "b", "the caller's in messages go first"},
		{"p p p b b", "p p b b", "b", "and then the first of the prompt"},
		{"m m m m b b", "m m b b", "b", "the first ones go"},
		{"p1 m b1", "p1 m b", "b1", "none lives longer than one before it in the messages"},
		{"p b1 b1", "p1 b1 b1", "b1", "the prompt lives as long as what stands behind it"},
		{"p p1 m1 b", "p1 p1 m1 b", "b", "whoever marked it"},
		{"m m1 b", "m m b", "b", "an hour behind five minutes"},
		{"", "", "", "nothing is marked"},
	} {
		for most, want := range map[int]string{4: tt.most4, 1: tt.most1} {
			var markers []CacheMarker
			for _, s := range strings.Fields(tt.in) {
				m := CacheMarker{Message: s[0] != 'p', Boundary: s[0] == 'b'}
				if len(s) > 1 {
					m.TTL = LongTTL
				}
				markers = append(markers, m)
			}
			LimitMarkers(markers, most)
			var got []string
			for i, s := range strings.Fields(tt.in) {
				switch m := markers[i]; {
				case m.Gone:
				case m.TTL == LongTTL:
					got = append(got, s[:1]+"1")
				default:
					got = append(got, s[:1])
				}
			}
			assert.Equal(t, want, strings.Join(got, " "), "%s: %s, at most %d", tt.reason, tt.in, most)
		}
	}
}
