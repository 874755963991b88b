package winnow_test

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/runes"
)

// A record lists only names that stand in the history in the same form and not as parts of longer ones, and has lines
// only for calls that were made, with whole paths.
func TestRecordsOfSessionsAreTrue(t *testing.T) {
	t.Parallel()
	names, lines := 0, 0
	for k, file := range corpusFiles(t) {
		if k%3 != 0 {
			continue
		}
		h := readCorpus(t, file)
		var b strings.Builder
		tools := map[string]bool{}
		for i := range h {
			for _, p := range h[i].Parts {
				b.WriteString(p.Text)
				b.Write(p.Arguments)
				b.WriteByte('\n')
				tools[p.Name] = p.Name != ""
			}
		}
		history := b.String()
		c := newClock()
		m := newManager(t, 32_000, &winnow.Options{Now: c.Now})
		checked := map[string]bool{}
		for n := range h {
			if h[n].Role != winnow.RoleAssistant {
				continue
			}
			c.follow(h[n].Time)
			r, err := m.Prepare(t.Context(), h[:n])
			if err != nil {
				continue
			}
			for _, text := range recordsIn(r.Messages) {
				if checked[text] {
					continue
				}
				checked[text] = true
				_, body, _ := strings.Cut(text, "\n")
				for line := range strings.SplitSeq(body, "\n") {
					if list, ok := strings.CutPrefix(line, "Names: "); ok {
						for name := range strings.FieldsSeq(list) {
							names++
							unescaped := strings.NewReplacer("&lt;", "<", "&#91;", "[").Replace(name)
							isThere := holdsWhole(history, name) || holdsWhole(history, unescaped)
							assert.True(t, isThere, "%s: %q", filepath.Base(file), name)
						}
						continue
					}
					tool, _, _ := strings.Cut(line, " ")
					isCall := tools[tool] || tools[markup.Escape(tool)]
					isOther := strings.HasPrefix(line, "Said: ") || strings.HasPrefix(line, "Inserted by the host, ")
					assert.True(t, line == "" || isOther || isCall, "%s: %.80q", filepath.Base(file), line)
					telling, _, _ := strings.Cut(line, " → ")
					for path := range strings.FieldsSeq(telling) {
						if !strings.Contains(path, "/") || strings.ContainsAny(path, "…&\"\\") {
							continue
						}
						isCut := strings.HasSuffix(path, "...")
						if isOther {
							path = strings.TrimRight(path, ".,:;)")
						}
						assert.True(t, isCut || holdsWhole(history, path), "%s: %q", filepath.Base(file), path)
					}
					lines++
				}
			}
		}
	}
	t.Logf("%d names, %d lines", names, lines)
	assert.Positive(t, names)
	assert.Positive(t, lines)
}

// holdsWhole reports whether a text holds name where it is not part of a longer word. A letter in front of it may be an
// escape of JSON, and Chinese puts no space between words.
func holdsWhole(text, name string) bool {
	continues := func(a, b rune) bool {
		isOfWord := func(r rune) bool { return r < 0x800 && (r == '_' || runes.IsLetterOrDigit(r)) }
		return isOfWord(a) && isOfWord(b)
	}
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	for at := 0; ; at++ {
		k := strings.Index(text[at:], name)
		if k < 0 {
			return false
		}
		at += k
		before, n := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(name):])
		isEscape := strings.HasSuffix(text[:at-n], `\`) || isRuneEscape(text[max(0, at-len(`\u0026`)):at])
		if (isEscape || !continues(before, first)) && !continues(last, after) {
			return true
		}
	}
}

// isRuneEscape reports whether s is a character in JSON by its number: the & of an address.
func isRuneEscape(s string) bool {
	digits, ok := strings.CutPrefix(s, `\u`)
	return ok && len(digits) == 4 && strings.Trim(digits, "0123456789abcdefABCDEF") == ""
}

func TestHoldsWhole(t *testing.T) {
	t.Parallel()
	assert.True(t, holdsWhole(`{"url":"?a=1\u0026utm_medium=x"}`, "utm_medium"), "behind the escape of an ampersand")
	assert.False(t, holdsWhole(`a26utm_medium`, "utm_medium"), "a part of a longer name")
}
