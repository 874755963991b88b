package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What was cut says so: it is told from what was not, and is not cut again.
func TestCutTextsAreKnownAgain(t *testing.T) {
	for name, l := range map[string]Limits{
		"plain":         {MinKeep: 100},
		"with a note":   {MinKeep: 100, Note: ", ask for a1b2"},
		"a host's text": {MinKeep: 100, Notice: "[more]", Note: ", ask for a1b2"},
		"the head":      {MinKeep: 100, HeadOnly: true},
	} {
		text := Text{Text: strings.Repeat("línea\n", 1_000), Chars: 6_000}
		texts := []Text{text, {Text: "short", Chars: 5}}
		l.SetFloors(texts)
		require.False(t, l.Share(texts, 6_005, 1_000), name)
		short, ok := l.Cut(&texts[0])
		require.True(t, ok, name)
		left := utf8.RuneCountInString(short)
		assert.LessOrEqual(t, left, 1_000, name)
		assert.Equal(t, l.Note != "", strings.Contains(short, "ask for a1b2"), name)
		_, ok = l.Cut(&texts[1])
		assert.False(t, ok, "%s: it is short", name)

		wasCut, _ := l.WereCut(texts)
		assert.False(t, wasCut, name)
		wasCut, floors := l.WereCut([]Text{{Text: short, Chars: left}})
		assert.True(t, wasCut, name)
		if l.Notice == "" {
			assert.Equal(t, float64(l.floor(6_000)), floors, "%s: the notice tells the length", name)
		}
	}
}

func TestTrimmedTextsAreKnownAgain(t *testing.T) {
	whole := strings.Repeat("x", 5_000)
	for _, trim := range []Trim{{Head: 10, Tail: 20}, {Head: 10, Tail: 20, Note: ", ask for a1b2"}, {}} {
		short := trim.Text(whole, 5_000)
		assert.Equal(t, trim.Chars(5_000), len(short))
		assert.True(t, trim.Made(short, len(short)))
		assert.False(t, trim.Made(short, len(short)+1), "as long as another text")
		assert.False(t, trim.Made("x"+short[1:len(short)-2], len(short)-2))
		assert.False(t, Trim{Head: 11, Tail: 20}.Made(short, len(short)), "by other options")
	}
}

func TestWithNote(t *testing.T) {
	assert.Equal(t, "[cleared]", WithNote("[cleared]", ""))
	assert.Equal(t, "[cleared, ask for a1b2]", WithNote("[cleared]", ", ask for a1b2"))
	assert.Equal(t, "cleared [ask for a1b2]", WithNote("cleared", ", ask for a1b2"))
}
