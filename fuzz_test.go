package winnow_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
	"github.com/winnowgo/winnow/internal/test/wire"
)

// The fuzzer's bytes are dice for histories and options, so that what it finds is a history that the
// invariants are about, and any bytes are one.

func addSeeds(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("one call, one result, and then some bytes to roll"))
	for seed := range byte(6) { // every byte a die
		b := make([]byte, 700)
		for i := range b {
			b[i] = byte(i*i)*seed + byte(i>>3)
		}
		f.Add(b)
	}
}

func FuzzRepairToolPairing(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) { checkStage(t, repairStage, historyFrom(histories.FromBytes(b))) })
}

func FuzzLimitHistoryTurns(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		d := histories.FromBytes(b)
		checkStage(t, limitStage(d.IntN(7)-1), historyFrom(d))
	})
}

// number rolls an option: mostly a plain one, at times one that nobody means.
func number(d dice, plain int) int {
	switch d.IntN(8) {
	case 6:
		return -1 - d.IntN(1000)
	case 7:
		return 1 << (20 + d.IntN(43))
	}
	return d.IntN(plain)
}

func share(d dice) float64 { return float64(d.IntN(14)-2) / 10 }

func someOf(d dice, patterns ...string) []string { return patterns[:d.IntN(len(patterns)+1)] }

func estimator(d dice) winnow.Estimator {
	return []winnow.Estimator{nil, winnow.CharsPerToken(1), winnow.EstimatorFunc(quarterOfText), winnow.EstimatorFunc(byBytes)}[d.IntN(4)]
}

// byBytes gives a character of another script more tokens, as tokenizers do.
func byBytes(m winnow.Message) int { return 3 + len(fullText(m))/3 }

func FuzzPruneContext(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		d := histories.FromBytes(b)
		o := &winnow.PruneOptions{
			KeepLastAssistants: number(d, 5), SoftTrimRatio: share(d), HardClearRatio: share(d), MinPrunableToolChars: number(d, 5000),
			SoftTrimMaxChars: number(d, 3000), SoftTrimHeadChars: number(d, 1000), SoftTrimTailChars: number(d, 1000), NoHardClear: d.IntN(4) == 3,
			Placeholder: []string{"", "[…]", "a placeholder that is longer than many a result"}[d.IntN(3)],
			AllowTools:  someOf(d, "*e*", "exec", "W*"), DenyTools: someOf(d, "read", "*"), Estimator: estimator(d),
		}
		checkStage(t, pruneStage("fuzz", number(d, 5000), o), historyFrom(d))
	})
}

func FuzzTruncateToolResults(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		d := histories.FromBytes(b)
		o := &winnow.TruncateOptions{
			MaxShare: share(d), MaxChars: number(d, 5000), MinKeepChars: number(d, 1000),
			Notice: []string{"", "\n[cut]", "…"}[d.IntN(3)], HeadOnly: d.IntN(2) == 1, Estimator: estimator(d),
		}
		checkStage(t, truncateStage("fuzz", number(d, 10_000), o), historyFrom(d))
	})
}

// What is read can be written and read again, and is then the same; nothing panics.
func FuzzReadMessages(f *testing.F) {
	f.Add([]byte(`{"role":"user","parts":[{"text":"hi"}]}`))
	f.Add([]byte("[{\"role\":\"tool\",\"parts\":[{\"kind\":\"text\",\"text\":\"x\"}],\"toolCallId\":\"a\"},\n {\"role\":\"system\",\"parts\":null}]"))
	f.Add([]byte(`{"role":"assistant","parts":[{"kind":"toolCall","id":"a","name":"f","arguments": { "a" : 1 }}],"usage":{"input":3},"time":"2026-01-02T03:04:05.678+02:00"}`))
	f.Add([]byte(`{"role":"assistant","parts":[{"kind":"thinking","text":"\ud83d","signature":"s"}],"details":[1,null]} {"role":`))
	f.Add([]byte("\xef\xbb\xbf[]"))
	f.Add([]byte(`{"role":"user","parts":[{"text":"` + "\xff" + `"}],"parts":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		first, err := winnow.ReadMessages(bytes.NewReader(b))
		if err != nil {
			require.Contains(t, err.Error(), "line ", "the place of an error")
		}
		var once, twice bytes.Buffer
		require.NoError(t, winnow.WriteMessages(&once, first))
		second, err := winnow.ReadMessages(bytes.NewReader(once.Bytes()))
		require.NoError(t, err, "%s", once.Bytes())
		require.NoError(t, winnow.WriteMessages(&twice, second))
		require.Equal(t, once.String(), twice.String(), "written again")
		require.Len(t, second, len(first))
		if !bytes.Contains(b, []byte("rguments")) && !bytes.Contains(b, []byte("etails")) { // raw JSON is written compact
			sameMessages(t, withoutClock(first), withoutClock(second), "read again")
		}
	})
}

// withoutClock compares times as instants: a zone has no name in JSON.
func withoutClock(h []winnow.Message) []winnow.Message {
	h = deepCopy(h)
	for i := range h {
		h[i].Time = h[i].Time.UTC()
	}
	return h
}

// Arguments that are JSON stay as they are, and no others do.
func FuzzRepairArguments(f *testing.F) {
	for _, s := range []string{
		``, `{}`, ` { } `, `{}x`, `{`, `}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":"b"}`, "{ \"a\" : \"b\" ,\n\t\"c\" : 12 }\r\n",
		`{"a":true,"b":false,"c":null}`, `{"a":tru}`, `{"a":truex}`, `{"a":0}`, `{"a":01}`, `{"a":-1}`, `{"a":1.5e3}`, `{"a":1.}`, `{"a":"b\n\"\\\/c"}`,
		`{"a":"\u00e9"}`, `{"a":"\u00e"}`, `{"a":"\x"}`, `{"a":"\`, "{\"a\":\"\x01\"}", "{\"a\":\"\xff\"}", `{"a":"字"}`, `{"a":{"b":[1,2]}}`, `{"a":"b"`, `{"a":"b}`,
		`{"a":1 2}`, `{"a" "b"}`, `{a:1}`, `[1]`, `"s"`, `12`, `null`, `{"a":"b"}{"c":"d"}`, `{"a":1,"a":2}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		h := list(userSays("go"), modelSends(winnow.Part{Kind: winnow.KindToolCall, ID: "a", Name: "exec", Arguments: raw}), toolSays("a", "done"))
		out, edits := winnow.RepairToolPairing(h)
		got := out[1].Parts[0].Arguments
		if len(raw) == 0 || json.Valid(raw) {
			require.Equal(t, raw, []byte(got))
			require.Empty(t, edits)
			return
		}
		require.True(t, json.Valid(got), "%q", got)
		require.Len(t, edits, 1)
	})
}

// What the tests of the package share with those of other packages: random histories, and what providers refuse.

type dice = histories.Dice

var (
	randomHistory = histories.Random
	historyFrom   = histories.From
	toolNames     = histories.ToolNames

	isSound    = histories.IsSound
	failedTurn = histories.Failed
	hasContent = histories.HasContent
	leads      = histories.Leads
	validText  = histories.ValidText
)

// validateRequest returns what providers would refuse in messages, or nil.
func validateRequest(messages []winnow.Message) error { return wire.Rules{}.Check(messages) }
