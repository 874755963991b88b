package winnow_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/identifier"
)

// Long transcripts for benchmarks.

// transcriptKind says what is wrong with a transcript.
type transcriptKind int

const (
	clean             transcriptKind = iota
	dirty                            // of 600 results 30 missing, 20 twice, 20 late, 20 orphans
	mixedScripts                     // a fifth of the results is not ASCII
	dirtyMixedScripts                // both
	varied                           // nothing, and no text says what another one does, see varyTexts
)

// transcript returns the transcript of an agent of about n messages: for each 2 000 of them 600 calls and
// results of 0.2 to 40 KB, 5 MB of text in all. The same n gives the same messages.
func transcript(n int, kind transcriptKind) []winnow.Message {
	r := rand.New(rand.NewPCG(uint64(n), 5))
	calls := n * 3 / 10
	// 10 messages: 3 steps of a call and its result in a turn of a question, and an answer; and a short chat.
	var h []winnow.Message
	for c := 0; c < calls; c += 3 {
		h = append(h, userSays(prose(r, 400)))
		for k := c; k < min(c+3, calls); k++ {
			id := "toolu_" + itoa(100_000+k)
			h = append(h, modelSends(textPart(prose(r, 150)), callPart(id, toolNames[k%len(toolNames)])))
			h = append(h, winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: toolNames[k%len(toolNames)], Parts: []winnow.Part{textPart(prose(r, resultBytes(r)))}})
		}
		h = append(h, modelSays(prose(r, 600)), userSays(prose(r, 100)), modelSays(prose(r, 300)))
	}
	if kind == varied {
		varyTexts(h)
	}
	if kind == dirty || kind == dirtyMixedScripts {
		h = spoil(r, h)
	}
	if kind == mixedScripts || kind == dirtyMixedScripts {
		mixScripts(h)
	}
	return h
}

// varyTexts gives each message a text of its own, of the same length. All texts of the other transcripts are cut from
// one: most of what a result says, an earlier one has said, and nearly nothing in it is a name. In a varied one, as in
// the results of recorded sessions, there are 15 names in a kilobyte, and each is mentioned 5 times on average.
func varyTexts(h []winnow.Message) {
	v := vocabulary{rand.New(rand.NewPCG(uint64(len(h)), 6)), 8 * len(h)}
	for i := range h {
		for k := range h[i].Parts {
			switch p := &h[i].Parts[k]; {
			case p.Kind == winnow.KindToolCall:
				p.Arguments = []byte(`{"path":"` + v.path() + `"}`)
			case h[i].Role == winnow.RoleTool:
				p.Text = v.text(len(p.Text), v.r.IntN(7))
			default:
				p.Text = v.text(len(p.Text), 0)
			}
		}
	}
}

// vocabulary writes texts with a number of names, of which some are mentioned far more often than others.
type vocabulary struct {
	r     *rand.Rand
	names int
}

// text returns n bytes of lines: of prose, of a numbered file, of a log, or of a listing.
func (v vocabulary) text(n, kind int) string {
	var b strings.Builder
	for k := 1; b.Len() < n; k++ {
		switch kind {
		case 1:
			b.WriteString("  " + itoa(k) + "\tif " + v.word() + ", err := s.Load(ctx, " + v.name() + "); err != nil { // " + v.word() + " " + v.word() + "\n")
		case 2:
			b.WriteString("2026-03-01T12:00:" + itoa(10+k%50) + "Z INFO " + v.path() + ":" + itoa(v.r.IntN(900)) + ": served " + v.name() + " in " + itoa(v.r.IntN(90)) + "ms\n")
		case 3:
			b.WriteString("-rw-r--r-- 1 root root " + itoa(v.r.IntN(9000)) + " Mar  1 12:00 " + v.path() + "\n")
		default:
			b.WriteString("The " + v.word() + " of the " + v.word() + " is not what " + v.name() + " expects, so " + v.word() + " tells why " + v.word() + " is one.\n")
		}
	}
	return strings.Clone(b.String()[:n])
}

// number returns that of a name: the first ones are the most frequent.
func (v vocabulary) number() int {
	f := v.r.Float64()
	return int(float64(v.names) * f * f * f)
}

func (v vocabulary) name() string {
	k := v.number()
	return wordOf(k) + "_" + wordOf(k>>12)
}

func (v vocabulary) path() string {
	k := v.number()
	return "src/" + wordOf(k>>5) + "/" + wordOf(k*37) + ".go"
}

func (v vocabulary) word() string { return wordOf(v.r.IntN(1 << 12)) }

// wordOf is one of 4 096 words.
func wordOf(n int) string {
	const syllables = "ba co di fu ge ha ki lo me nu pa ro si te vu za"
	return syllables[3*(n&15):][:2] + syllables[3*(n>>4&15):][:2] + syllables[3*(n>>8&15):][:2]
}

// mixScripts writes each fifth result, in as many bytes, in English with dashes, Russian and Chinese.
func mixScripts(h []winnow.Message) {
	const unit = "— ошибка в строке, 一行汉字，和另外一行 “quoted” and plain words in a row of them; "
	results := 0
	for i := range h {
		if h[i].Role != winnow.RoleTool {
			continue
		}
		if results++; results%5 == 0 {
			text := strings.Repeat(unit, 1+len(h[i].Parts[0].Text)/len(unit))
			h[i].Parts = []winnow.Part{textPart(text)}
		}
	}
}

// resultBytes is 200 to 40 000, and 7 800 on average: many short ones and few long ones.
func resultBytes(r *rand.Rand) int {
	f := r.Float64()
	return 200 + int(39_800*f*f*f*f)
}

// prose is n bytes of lines such as tools print, in ASCII.
func prose(r *rand.Rand, n int) string {
	from := r.IntN(len(asciiText) - 40_001)
	return strings.Clone(asciiText[from : from+n]) // as long in memory as it is
}

var asciiText = numbered(2000)

// spoil takes results out, writes them twice, late and without a call.
func spoil(r *rand.Rand, h []winnow.Message) []winnow.Message {
	var at []int
	for i := range h {
		if h[i].Role == winnow.RoleTool {
			at = append(at, i)
		}
	}
	r.Shuffle(len(at), func(a, b int) { at[a], at[b] = at[b], at[a] })
	fate := map[int]int{}
	share := len(at) / 60 // 10 of 600
	for k, i := range at {
		switch {
		case k < 3*share:
			fate[i] = 1 // missing
		case k < 5*share:
			fate[i] = 2 // twice
		case k < 7*share:
			fate[i] = 3 // late
		case k < 9*share:
			fate[i] = 4 // followed by an orphan
		}
	}
	var out, late []winnow.Message
	for i, m := range h {
		switch fate[i] {
		case 0:
			out = append(out, m)
		case 1:
		case 2:
			out = append(out, m, m)
		case 3:
			late = append(late, m)
			continue
		case 4:
			orphan := toolSays("toolu_orphan_"+itoa(i), "left over")
			out = append(out, m, orphan)
		}
		if len(late) > 0 && m.Role == winnow.RoleUser {
			out, late = append(out, late...), nil
		}
	}
	return append(out, late...)
}

// TestVariedTranscript: there are as many names as in recorded sessions, each mentioned as often.
func TestVariedTranscript(t *testing.T) {
	bytes, mentions, names := 0, 0, map[string]bool{}
	for _, m := range transcript(2000, varied) {
		bytes += len(fullText(m))
		identifier.Scan(fullText(m), func(id string, _ identifier.Kind) {
			mentions++
			names[id] = true
		})
	}
	assert.InDelta(t, 5e6, bytes, 0.5e6, "bytes of text")
	assert.InDelta(t, 15, 1000*mentions/bytes, 3, "names in a kilobyte")
	assert.InDelta(t, 5, mentions/len(names), 2, "mentions of each")
}

func TestTranscript(t *testing.T) {
	h := transcript(2000, clean)
	results, bytes, longest, shortest := 0, 0, 0, 1<<30
	for _, m := range h {
		n := len(fullText(m))
		bytes += n
		if m.Role == winnow.RoleTool {
			results++
			longest, shortest = max(longest, n), min(shortest, n)
		}
	}
	assert.Equal(t, 2000, len(h), "messages")
	assert.Equal(t, 600, results, "results")
	assert.InDelta(t, 5e6, bytes, 0.5e6, "bytes of text")
	assert.GreaterOrEqual(t, shortest, 200, "the shortest result")
	assert.InDelta(t, 40_000, longest, 2000, "the longest result")
	assert.NoError(t, validateRequest(h), "a clean transcript")

	_, edits := winnow.RepairToolPairing(transcript(2000, dirty))
	reasons := map[string]int{}
	for _, e := range edits {
		switch {
		case e.Before == 0:
			reasons["missing"]++
		case e.After == 0:
			reasons[e.Reason]++
		default:
			reasons["late"]++
		}
	}
	assert.Equal(t, map[string]int{"missing": 30, "the call has its result already": 20, "answers no call": 20, "late": 20}, reasons, "what is wrong with a dirty one")
	assert.True(t, slices.EqualFunc(h, transcript(2000, clean), func(a, b winnow.Message) bool { return fullText(a) == fullText(b) }), "the same each time")
}
