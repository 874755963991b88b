package winnow_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/runes"
)

// Where records fill the window, the older ones become bare and one, so that a conversation can go on for ever
// without a summarizer.
func TestRecordsBecomeBare(t *testing.T) {
	t.Parallel()
	c := newClock()
	o := winnow.Options{
		FoldAbove: -1, Estimator: byChars, Now: c.Now, Compact: &winnow.CompactOptions{Off: true},
		NoMinify: true,
	}
	m := newManager(t, 12_000, &o)
	h := runs(800)
	most, last := 0, 0
	var r *winnow.Request
	for n := 3; n <= len(h); n += 2 {
		c.pass(10 * time.Second)
		state := []byte(snapshotOf(t, m))
		var err error
		r, err = m.Prepare(t.Context(), h[:n])
		require.NoError(t, err, "%d messages", n)
		if n%50 == 3 {
			requestCheck{estimator: byChars}.check(t, h[:n], r)
			twin := newManager(t, 12_000, &o)
			require.NoError(t, twin.Restore(state))
			sameWire(t, r.Messages, prepare(t, twin, h[:n]).Messages, "restored")
		}
		last = len(recordsIn(r.Messages))
		most = max(most, last)
	}
	texts := recordsIn(r.Messages)
	assert.Greater(t, most, 3)
	assert.NotContains(t, texts[0], "\n", "of the oldest only how much there was is left")
	assert.Contains(t, texts[len(texts)-1], "\nSaid: ")
	assert.Contains(t, texts[0], "earlier messages")
}

// Many short records become bare too: as they are, they would keep all later requests from fitting.
func TestShortRecordsBecomeBare(t *testing.T) {
	t.Parallel()
	m := newManager(t, 6_000, &winnow.Options{
		Estimator: byChars, Now: newClock().Now, Cache: &winnow.CacheOptions{None: true},
		Compact: &winnow.CompactOptions{Off: true}, NoMinify: true,
	})
	h := []winnow.Message{userSays("Read it all.")}
	for i := range 150 {
		id, name := "call_"+itoa(i), itoa(i)+".go"
		call := callPart(id, "read")
		call.Arguments = []byte(`{"path":"src/package` + itoa(i) + "/file" + name + `"}`)
		result := toolSays(id, strings.Repeat("some text of src/part"+name+", which is not worth much\n", 1+i%7))
		result.ToolName = "read"
		h = append(h, modelSends(textPart(strings.Repeat("word ", 12)), call), result)
		if i%5 == 4 {
			h = append(h, modelSends(textPart("Read.")), userSays("Go on."))
		}
	}
	h = named(h)
	steps(h, func(in []winnow.Message) {
		r, err := m.Prepare(t.Context(), in)
		require.NoError(t, err, "%d messages", len(in))
		requestCheck{estimator: byChars}.check(t, in, r)
	})
}

// The manager sees a history for the first time, and it is many times as long as the window: the newest records keep
// their lines.
func TestRecordsOfLongHistories(t *testing.T) {
	t.Parallel()
	m := newManager(t, 20_000, &winnow.Options{Estimator: byChars, Now: newClock().Now, NoMinify: true})
	r := m.Plan(transcript(4_000, clean))
	require.True(t, r.NeedsCompaction)
	lined, bare := 0, 0
	for _, text := range recordsIn(r.Messages) {
		if strings.Contains(text, "\n") {
			lined++
		} else {
			assert.Zero(t, lined, "the newest keep their lines")
			bare++
		}
	}
	assert.Positive(t, lined)
	assert.Positive(t, bare)
}

// What a person says stands between records, which stay apart.
func TestRecordsStayApart(t *testing.T) {
	t.Parallel()
	m := folding(t, winnow.Options{})
	h := runs(20)
	h = named(slices.Insert(h, 11, userSays("And mind the gap.")))
	var r *winnow.Request
	steps(h, func(in []winnow.Message) { r = prepare(t, m, in) })
	assert.True(t, holds(r, &h[11]))
	at := slices.IndexFunc(r.Messages, func(x winnow.Message) bool { return x.ID == h[11].ID })
	assert.NotEmpty(t, recordsIn(r.Messages[:at]))
	assert.NotEmpty(t, recordsIn(r.Messages[at:]))
	requestCheck{estimator: byChars}.check(t, h, r)
}

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
