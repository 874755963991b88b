package winnow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// sourceFile is the text of a file. Its lines from `edited` on, if that is positive, were changed.
func sourceFile(name string, lines, edited int) string {
	var b strings.Builder
	for i := range lines {
		state := "as it was"
		if edited > 0 && i >= edited && i < edited+3 {
			state = "changed"
		}
		fmt.Fprintf(&b, "\tstatement_%s_%d(%s) // what it does, and why\n", name, i, state)
	}
	return b.String()
}

func reads(id, file string) winnow.Message {
	return modelSends(callWith(id, "Read", `{"file_path":"src/`+file+`"}`))
}

func writes(id, file, text string) winnow.Message {
	arguments, _ := json.Marshal(map[string]string{"file_path": "src/" + file, "content": text})
	return modelSends(callWith(id, "Write", string(arguments)))
}

func edits(id, file, before, after string) winnow.Message {
	arguments, _ := json.Marshal(map[string]string{"file_path": "src/" + file, "old_string": before, "new_string": after})
	return modelSends(callWith(id, "Edit", string(arguments)))
}

// readTwice is a history in which a file is read, changed and read again.
func readTwice() []winnow.Message {
	return named(list(userSays("Mend it."), reads("a", "one.go"), readResult("a", sourceFile("one", 60, 0)), modelCalls("b"), toolSays("b", "ok"),
		reads("c", "one.go"), readResult("c", sourceFile("one", 60, 30))))
}

func readResult(id, text string) winnow.Message { return toolOf(id, "Read", text) }

// A note names the earlier result by its command as it was, or by its ends, and by its path whole.
func TestNameOfRepeatedResult(t *testing.T) {
	t.Parallel()
	long := "src/" + strings.Repeat("directory/", 8) + "one.go"
	for _, tt := range []struct{ arguments, want, reason string }{
		{`{"command":"cd \"a b\" && make > log"}`, `Bash cd "a b" && make > log`, "no character is another one"},
		{`{"command":"cd /srv/app && go test -run TestSomethingThatHasALongName ./internal/package/... 2>&1 | tail -40 | sort -u"}`,
			"Bash cd /srv/app && go test -run … -40 | sort -u", "both ends, and no half of a path"},
		{`{"command":"` + long + `"}`, "Bash " + long, "a command that is one path is whole too"},
		{`{"command":"cat ` + long + `"}`, "Bash cat " + long, "so is a path that a command names alone"},
		{`{"file_path":"` + long + `"}`, "Bash " + long, "a path is whole"},
		{`{}`, "Bash", "nothing but the tool is known"},
	} {
		h := append(list(userSays("Run it.")), callOf("a", "Bash", tt.arguments, sourceFile("one", 60, 0))...)
		h = named(append(h, callOf("b", "Bash", tt.arguments, sourceFile("one", 60, 30))...))
		r := prepare(t, newManager(t, 100_000, &winnow.Options{Estimator: byChars, Now: newClock().Now}), h)
		first, _, _ := strings.Cut(r.Messages[4].Parts[0].Text, "\n")
		assert.Equal(t, "[30 lines left out: the earlier result of "+tt.want+" has the same]", first, tt.reason)
	}
}

// viewed is text as a viewer shows it that begins with line 1 of a file.
func viewed(text string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		fmt.Fprintf(&b, "%6d→%s", n, line)
	}
	return b.String()
}

// A file that is read again is sent without the lines that the first result shows; what changed is there. When an edit
// has shifted the lines of a file, a viewer numbers them anew.
func TestLinesWithOtherNumbers(t *testing.T) {
	t.Parallel()
	file := sourceFile("one", 60, 0)
	shifted := strings.Join(slices.Insert(strings.SplitAfter(file, "\n"), 20, "\tnew_statement()\n", "\tanother()\n"), "")
	same := func(n int, differs string) string {
		return fmt.Sprintf("[%d lines left out: the earlier result of Read src/some.go has the same%s]\n", n, differs)
	}
	added := "    21→\tnew_statement()\n    22→\tanother()\n"
	for _, tt := range []struct{ reason, first, second, want string }{
		{"two new lines", viewed(file), viewed(shifted), same(20, "") + added + same(40, "")},
		{"they are gone again", viewed(shifted), viewed(file), same(20, "") + same(40, " in its lines 23-62")},
		{"the first had no numbers", file, viewed(shifted), same(20, "") + added + same(40, "")},
		{"the second has none", viewed(shifted), file, same(20, "") + same(40, " in its lines 23-62")},
		{"few lines of it", viewed(file), strings.Join(strings.SplitAfter(viewed(shifted), "\n")[21:34], ""),
			"    22→\tanother()\n" + same(12, " in its lines 21-32")},
		{"lines are gone, and nothing has numbers", file, part("one", 0, 20) + part("one", 40, 60), same(20, "") + same(20, " in its lines 41-60")},
		{"lines in another order", file, part("one", 30, 60) + part("one", 0, 30), same(30, " in its lines 31-60") + same(30, " in its lines 1-30")},
		{"lines were changed where they stand", file, part("one", 0, 20) + strings.Repeat("changed\n", 5) + part("one", 25, 60),
			same(20, "") + strings.Repeat("changed\n", 5) + same(35, "")},
	} {
		m := newManager(t, 100_000, &winnow.Options{Estimator: byChars, Now: newClock().Now})
		h := readsOf(tt.first, tt.second)
		prepare(t, m, h[:3])
		r := prepare(t, m, h)
		assert.Equal(t, tt.want, fullText(r.Messages[4]), tt.reason)
		assert.Equal(t, 3, r.FirstChanged, "nothing that was sent changes")
		requestCheck{estimator: byChars}.check(t, h, r)
		sameWire(t, prepare(t, newManager(t, 100_000, &winnow.Options{Estimator: byChars, Now: newClock().Now}), h).Messages, r.Messages, tt.reason)
		checkShown(t, h, r)
	}
}

// A file that the model wrote is read without the lines that the arguments of the call show, as long as the call is sent
// whole.
func TestLinesOfCalls(t *testing.T) {
	t.Parallel()
	file := sourceFile("one", 60, 0) + "\t\"quotes\", \\escapes\\ and \u65e5\u672c\n"
	inCall := func(n int, differs string) string {
		return fmt.Sprintf("[%d lines left out: the earlier call of Write src/one.go has the same%s]\n", n, differs)
	}
	both := writes("w", "one.go", file)
	both.Parts = append(writes("v", "two.go", sourceFile("two", 60, 0)).Parts, both.Parts...)
	for _, tt := range []struct {
		reason, read, want string
		call               winnow.Message
	}{
		{"as it was written", file, inCall(61, ""), writes("w", "one.go", file)},
		{"with numbers", viewed(file), inCall(61, ""), writes("w", "one.go", file)},
		{"a part of it", part("one", 20, 40), inCall(20, " in its lines 21-40"), writes("w", "one.go", file)},
		{"of two calls the right one", file, inCall(61, ""), both},
		{"an edit that has the old text and the new one", file, file, edits("w", "one.go", file, sourceFile("one", 60, 20))},
		{"arguments of another file", file, file, writes("w", "two.go", sourceFile("two", 60, 0))},
		{"arguments that are not shown whole", file, file, writes("w", "one.go", strings.ReplaceAll(file, "\n", "\n\n"))},
	} {
		o := &winnow.Options{Estimator: byChars, Now: newClock().Now}
		h := list(userSays("Write it."), tt.call)
		for _, p := range tt.call.Parts {
			h = append(h, toolSays(p.ID, "Written."))
		}
		h = named(append(h, reads("r", "one.go"), readResult("r", tt.read)))
		m := newManager(t, 100_000, o)
		prepare(t, m, h[:len(h)-2])
		r := prepare(t, m, h)
		assert.Equal(t, tt.want, fullText(r.Messages[len(h)-1]), tt.reason)
		sameWire(t, prepare(t, newManager(t, 100_000, o), h).Messages, r.Messages, tt.reason)
		checkShown(t, h, r)
	}
}

// Once the call is no longer sent as it was, the result is sent whole: a record stands for it, or the host changed it.
func TestLinesOfCallsComeBack(t *testing.T) {
	t.Parallel()
	c := newClock()
	file := part("one", 0, 90)
	h := list(userSays("Write it."), writes("w", "one.go", file), toolSays("w", "Written."))
	for k := range 2 {
		h = append(h, reads("more"+itoa(k), "more.go"), readResult("more"+itoa(k), part("more"+itoa(k), 0, 20)))
	}
	h = named(append(h, reads("r", "one.go"), readResult("r", file)))
	isShownBy := func(m *winnow.Manager) {
		prepare(t, m, h[:3])
		require.Equal(t, 1, checkShown(t, h, prepare(t, m, h)))
	}
	o := &winnow.Options{Estimator: byChars, Now: c.Now, FoldAbove: -1}

	m := newManager(t, 60_000, o)
	isShownBy(m)
	changed := slices.Clone(h)
	changed[1] = writes("w", "one.go", "redacted")
	r := prepare(t, m, named(changed))
	assert.Equal(t, file, fullText(r.Messages[len(r.Messages)-1]), "the host changed it")

	m = newManager(t, 60_000, o)
	isShownBy(m)
	c.pass(time.Hour)
	r = prepare(t, m, h)
	require.False(t, holds(r, &h[1]))
	assert.Equal(t, file, fullText(r.Messages[len(r.Messages)-1]), "a record stands for it")
}

// Results that must stay as they came do so. A result that shares too few lines with an earlier one stays, too.
func TestLinesThatWereShownStay(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		options winnow.Options
		change  func(h []winnow.Message)
	}{
		{"the host wants it so", winnow.Options{NoMinify: true}, nil},
		{"results of this tool are not touched", winnow.Options{Tools: &winnow.ToolOptions{Keep: []string{"Read"}}}, nil},
		{"a pin", winnow.Options{}, func(h []winnow.Message) { h[6].Pinned = true }},
		{"an error", winnow.Options{}, func(h []winnow.Message) { h[6].IsError = true }},
		{"another file", winnow.Options{}, func(h []winnow.Message) { h[6].Parts = []winnow.Part{textPart(sourceFile("two", 60, 0))} }},
		{"too little", winnow.Options{}, func(h []winnow.Message) {
			h[6].Parts = []winnow.Part{textPart(sourceFile("one", 3, 0) + sourceFile("two", 60, 0))}
		}},
	} {
		h := readTwice()
		if tt.change != nil {
			tt.change(h)
		}
		tt.options.Estimator, tt.options.Now = byChars, newClock().Now
		r := prepare(t, newManager(t, 100_000, &tt.options), h)
		assert.Equal(t, fullText(h[6]), fullText(r.Messages[6]), tt.reason)
	}
}

// Once the earlier result is no longer sent as it was, the later one is sent whole, whatever the reason.
func TestLinesThatWereShownComeBack(t *testing.T) {
	for _, tt := range []struct {
		reason string
		change func(h []winnow.Message) []winnow.Message
	}{
		{"the host redacted it", func(h []winnow.Message) []winnow.Message {
			h[2].Parts = []winnow.Part{textPart("[redacted]")}
			return h
		}},
		{"the host dropped its step", func(h []winnow.Message) []winnow.Message { return slices.Delete(h, 1, 3) }},
		{"a summary stands for it", func(h []winnow.Message) []winnow.Message {
			return slices.Replace(h, 1, 3, winnow.Message{Role: winnow.RoleUser, Summary: true, ID: "s", Parts: []winnow.Part{textPart("Read.")}})
		}},
		{"the later one is pinned", func(h []winnow.Message) []winnow.Message { h[6].Pinned = true; return h }},
	} {
		m := newManager(t, 100_000, &winnow.Options{Estimator: byChars, Now: newClock().Now})
		h := readTwice()
		require.Contains(t, fullText(prepare(t, m, h).Messages[6]), "left out")
		h = tt.change(slices.Clone(h))
		r := prepare(t, m, h)
		assert.Equal(t, fullText(h[len(h)-1]), fullText(r.Messages[len(r.Messages)-1]), tt.reason)
		again := prepare(t, m, append(slices.Clone(h), modelSays("Done.")))
		sameWire(t, r.Messages, again.Messages[:len(r.Messages)], tt.reason)
	}
}

var (
	leftOutNote   = regexp.MustCompile(`^\[(\d+) lines left out: the earlier (?:result|call) of .* has the same(?: in its lines \d+-\d+)?\]$`)
	numberInFront = regexp.MustCompile(`(?m)^ *(\d+)→`)
)

const tenthNumbers = "[line numbers below 1000: only every 10th is shown]"

// checkShown checks that the lines that a result of r leaves out stand together in an earlier result of r, but for their
// numbers. It returns how many results leave lines out.
func checkShown(t testing.TB, h []winnow.Message, r *winnow.Request) (results int) {
	t.Helper()
	bare := func(s string) string { // without numbers
		return numberInFront.ReplaceAllString(strings.ReplaceAll(s, tenthNumbers+"\n", ""), "")
	}
	var shown []string          // by each message so far, bare
	text := map[string]string{} // of each result as it came
	for i := range h {
		if h[i].Role == winnow.RoleTool {
			text[h[i].ToolCallID] = fullText(h[i])
		}
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		sent := fullText(*m)
		if m.Role != winnow.RoleTool || !strings.Contains(sent, " lines left out: the earlier ") {
			continue
		}
		results++
		whole := strings.Split(text[m.ToolCallID], "\n")
		for _, line := range strings.Split(sent, "\n") {
			n := 1
			switch found := leftOutNote.FindStringSubmatch(line); {
			case found != nil:
				n, _ = strconv.Atoi(found[1])
				require.LessOrEqual(t, n, len(whole))
				run := strings.Join(whole[:n], "\n")
				for len(shown) < i {
					shown = append(shown, bare(shownText(t, r.Messages[len(shown)])))
				}
				require.True(t, slices.ContainsFunc(shown, func(s string) bool {
					return strings.Contains(s, bare(run))
				}), "no earlier message shows what message %d leaves out:\n%s", i, sent)
			case line == tenthNumbers:
				n = 0
			default:
				require.Equal(t, bare(whole[0]), bare(line), "message %d:\n%s", i, sent)
			}
			whole = whole[n:]
		}
		require.Empty(t, whole)
	}
	return results
}

// shownText is the text of a result, or of a file that calls write.
func shownText(t testing.TB, m winnow.Message) string {
	if m.Role == winnow.RoleTool {
		return fullText(m)
	}
	text := ""
	for _, p := range m.Parts {
		if p.Kind == winnow.KindToolCall {
			var a struct{ Content string }
			require.NoError(t, json.Unmarshal(p.Arguments, &a))
			text += a.Content
		}
	}
	return text
}

// rereads is the history of an agent that reads parts of some files again and again, with changes in between. In
// half of the histories, a viewer puts numbers in front of the lines.
func rereads(random *rand.Rand, steps int) []winnow.Message {
	var h []winnow.Message
	areViewed := random.IntN(2) == 0
	files := []string{"alpha", "beta", "gamma"}
	edited, added := map[string]int{}, map[string]int{}
	for i := range steps {
		if i%(5+random.IntN(10)) == 0 {
			h = append(h, userSays("Request "+itoa(i)+": go on."))
		}
		id, file := "call_"+itoa(i), files[random.IntN(len(files))]
		text := strings.Repeat("\tnew_statement_of_"+file+"()\n", added[file]) + sourceFile(file, 80, edited[file])
		if areViewed {
			text = viewed(text)
		}
		lines := strings.SplitAfter(text, "\n")
		from := random.IntN(3) * random.IntN(30)
		if random.IntN(4) == 0 {
			written := strings.Repeat("\tnew_statement_of_"+file+"()\n", added[file]) + sourceFile(file, 80, edited[file])
			h = append(h, writes("w"+id, file+".go", written), toolSays("w"+id, "Written."))
		}
		if random.IntN(3) == 0 {
			edited[file] = 1 + random.IntN(75)
			added[file] += random.IntN(2)
		}
		h = append(h, reads(id, file+".go"), readResult(id, strings.Join(lines[from:], "")))
	}
	return named(h)
}

// No request leaves out lines that it does not show elsewhere: while the history grows, when results are folded, cut or
// summarized, after a refusal, a pause, a rewind, a pin and a restart.
func TestShownLinesStand(t *testing.T) {
	t.Parallel()
	left, seeds := 0, count(10, 8)
	for seed := range uint64(seeds) {
		random := rand.New(rand.NewPCG(seed, 7))
		c := newClock()
		o := &winnow.Options{
			Estimator: byChars, Now: c.Now, FoldAbove: []float64{0, -1, 0.05}[seed%3],
			Recall: seed%5 == 0, Summarizer: says("## Goal\nRead on."),
			Compact: &winnow.CompactOptions{Off: seed%4 == 0, KeepRecent: 6_000},
		}
		window := []int{20_000, 40_000, 200_000}[random.IntN(3)]
		m, h := newManager(t, window, o), rereads(random, 60)
		for n := 1; n <= len(h); n++ {
			switch random.IntN(12) {
			case 0:
				c.pass(time.Hour)
			case 1:
				n = max(1, n-1-2*random.IntN(4)) // a rewind
			case 2:
				h[random.IntN(n)].Pinned = random.IntN(4) > 0 && n < 40
			case 3:
				m = restarted(t, window, o, snapshotOf(t, m))
			}
			for n < len(h) && h[n-1].Role == winnow.RoleAssistant {
				n++
			}
			in := slices.Clone(h[:n])
			r, err := m.Prepare(t.Context(), in)
			if err != nil {
				require.ErrorIs(t, err, winnow.ErrOverflow, "seed %d, message %d", seed, n)
				break
			}
			left += checkShown(t, in, r)
			for err == nil && random.IntN(6) == 0 {
				said := []string{"prompt is too long", "413 request entity too large",
					fmt.Sprintf("prompt is too long: %d tokens > %d maximum", r.Tokens+1, r.Tokens*2/3)}[random.IntN(3)]
				if r, err = m.Recover(t.Context(), in, errors.New(said)); err == nil {
					checkShown(t, in, r)
				}
			}
			c.pass(time.Second)
		}
	}
	assert.Greater(t, left, 5*seeds, "results that leave lines out")
}

// part is the text of some lines of a file.
func part(file string, from, to int) string {
	return strings.Join(strings.SplitAfter(sourceFile(file, to, 0), "\n")[from:to], "")
}

// readsOf is a history that reads these texts, with an id of its own for each.
func readsOf(texts ...string) []winnow.Message {
	h := list(userSays("Read."))
	for i, text := range texts {
		id := "read_" + itoa(i) + "_" + itoa(len(text))
		h = append(h, reads(id, "some.go"), readResult(id, text))
	}
	return named(h)
}

// The placeholder of a cleared result gives the size of the whole result, with the lines that were left out.
func TestClearedResultThatRepeated(t *testing.T) {
	c := newClock()
	m := newManager(t, 40_000, &winnow.Options{FoldAbove: -1, Estimator: byChars, Now: c.Now})
	text := part("one", 0, 60) + part("two", 0, 60)
	h := inPlace(readsOf(part("one", 0, 60), text, part("three", 0, 40), part("four", 0, 40), part("five", 0, 40)))
	h = named(append(h, modelSays("I have read them."), userSays("What do they say?")))
	prepare(t, m, h[:3])
	require.Equal(t, 1, checkShown(t, h[:5], prepare(t, m, h[:5])))
	c.pass(time.Hour)
	r := prepare(t, m, h)
	assert.Contains(t, fullText(r.Messages[4]), fmt.Sprintf("[%d characters of an old result left out", len(text)))
}

// Only the newest results are compared.
func TestOnlyNewestResultsAreCompared(t *testing.T) {
	for _, between := range []int{46, 47} {
		texts := []string{part("one", 0, 60)}
		for k := range between {
			texts = append(texts, part("other"+itoa(k), 0, 6))
		}
		h := readsOf(append(texts, part("one", 0, 60))...)
		want := 1
		if between == 47 { // with the new one, 49 results
			want = 0
		}
		o := &winnow.Options{Estimator: byChars, Now: newClock().Now}
		assert.Equal(t, want, checkShown(t, h, prepare(t, newManager(t, 1_000_000, o), h)), "%d between", between)
		m := newManager(t, 1_000_000, o)
		for n := 1; n < len(h); n += 2 {
			prepare(t, m, h[:n])
		}
		assert.Equal(t, want, checkShown(t, h, prepare(t, m, h)), "%d between, step by step", between)
	}
}

// The edit of a result is forgotten when a record stands for the result, so that snapshots do not grow.
func TestFoldedResultsRepeatNothing(t *testing.T) {
	c := newClock()
	m := newManager(t, 100_000, &winnow.Options{Estimator: byChars, Now: c.Now, FoldAbove: -1})
	h := readsOf(part("one", 0, 90), part("one", 0, 90)+part("two", 0, 90))
	require.Equal(t, 1, checkShown(t, h, prepare(t, m, h)))
	state := snapshotOf(t, m)
	require.Contains(t, state, `"repeats"`)
	for k := range 12 {
		h = append(h, reads("more"+itoa(k), "more.go"), readResult("more"+itoa(k), part("more"+itoa(k), 0, 90)))
	}
	h = named(append(h, modelSays("I have read them."), userSays("What do they say?"))) // the work goes on with other files
	c.pass(time.Hour)
	require.False(t, holds(prepare(t, m, h), &h[4]), "a record stands for it")
	state = snapshotOf(t, m)
	assert.NotContains(t, state, `"repeats"`)
}

// A result that is sent whole again is held to the limit of one result, which may be lower by now.
func TestResultWholeAgainIsCut(t *testing.T) {
	const limit = 3_000
	c := newClock()
	o := &winnow.Options{Estimator: byChars, Now: c.Now, FoldAbove: -1}
	m := newManager(t, 100_000, o)
	h := readsOf(part("one", 0, 60), part("one", 0, 60)+part("two", 0, 20))
	require.Zero(t, checkShown(t, h[:3], prepare(t, m, h[:3])))
	require.Equal(t, 1, checkShown(t, h, prepare(t, m, h)))
	state := snapshotOf(t, m)
	o.Truncate = &winnow.TruncateOptions{MaxChars: limit}
	m = restarted(t, 100_000, o, state)
	h[2].Parts = []winnow.Part{textPart("redacted")}
	r := prepare(t, m, h)
	assert.Zero(t, checkShown(t, h, r), "the first result is gone")
	for i := range r.Messages {
		assert.LessOrEqual(t, chars(r.Messages[i]), limit, i)
	}
}
