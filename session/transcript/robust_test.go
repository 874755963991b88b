package transcript_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/agents"
	"github.com/winnowgo/winnow/internal/test/histories"
	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/internal/test/wire"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/transcript"
	"github.com/winnowgo/winnow/session/upkeep"
)

// FuzzParse: no file makes it fail, and its result survives an import and an export unchanged. The seeds are long: run
// it with -fuzzminimizetime 10x.
func FuzzParse(f *testing.F) {
	for i, form := range agents.Forms {
		h := histories.Random(uint64(i))
		o := agents.Options{Noise: true, Branches: true, Compact: true}
		f.Add(agents.Write(form, h[:min(len(h), 12)], o, rand.New(rand.NewPCG(1, uint64(i)))).Data)
	}
	for _, text := range hostile {
		f.Add([]byte(text))
	}
	f.Fuzz(checkFile)
}

// checkFile checks that any file survives an import and an export unchanged, and that its request is valid.
func checkFile(t *testing.T, data []byte) {
	got, err := transcript.Parse(data)
	if err != nil {
		return
	}
	ctx := context.Background()
	store := session.NewMemory(nil)
	require.NoError(t, upkeep.Import(ctx, store, "k", got.Entries))
	got.Messages()
	back, err := transcript.Parse(export(t, store, "k"))
	require.NoError(t, err)
	require.NoError(t, upkeep.Import(ctx, store, "again", back.Entries))
	assert.Equal(t, entriesOf(t, store, "k"), entriesOf(t, store, "again"))
	s, err := store.Open(ctx, "k")
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Append(ctx, session.User("Go on.")))
	view := s.View()
	assert.Empty(t, view.Damage)
	r, err := s.Prepare(ctx)
	if err != nil {
		return // it may be larger than the window
	}
	assert.NoError(t, wire.Rules{Bytes: true, Lead: histories.Leads(view.History)}.Check(r.Messages))
}

// TestDisorder: lines that are lost, doubled, moved or take each other's ids lose nothing else and break nothing.
func TestDisorder(t *testing.T) {
	for _, form := range agents.Forms {
		t.Run(string(form), func(t *testing.T) {
			for seed := range times.Of(uint64(40)) {
				r := rand.New(rand.NewPCG(seed, 11))
				h := histories.Random(seed)
				o := agents.Options{Noise: true, Branches: true, Compact: seed%2 == 0}
				data := agents.Write(form, h[:min(len(h), 40)], o, r).Data
				for range 1 + r.IntN(6) {
					data = disorder(data, r)
				}
				t.Run(fmt.Sprint(seed), func(t *testing.T) { checkFile(t, data) })
			}
		})
	}
}

var anyID = regexp.MustCompile(`"[0-9a-f]{8}(-0000-4000-8000-000000000000)?"|"call_\d+"|"msg_[0-9a-f]{8}"`)

// disorder returns lines with one thing wrong with them.
func disorder(data []byte, r *rand.Rand) []byte {
	all := bytes.SplitAfter(data, []byte("\n"))
	i, j := r.IntN(len(all)), r.IntN(len(all))
	switch r.IntN(5) {
	case 0:
		all = slices.Delete(all, i, i+1)
	case 1:
		all = slices.Insert(all, i, all[j])
	case 2:
		all[i], all[j] = all[j], all[i]
	case 3: // one id takes the place of another
		ids := anyID.FindAll(data, -1)
		if len(ids) > 0 {
			from, to := ids[r.IntN(len(ids))], ids[r.IntN(len(ids))]
			all[i] = bytes.ReplaceAll(all[i], from, to)
			all[j] = bytes.ReplaceAll(all[j], from, to)
		}
	case 4: // a value of another kind
		all[i] = bytes.Replace(all[i], []byte(`:"`), []byte(`:5,"was":"`), 1)
	}
	return bytes.Join(all, nil)
}

// hostile are files as no program should write them.
var hostile = []string{
	`{"type":"session","id":"x","timestamp":"t"}` + "\n" + `{"type":"message","id":"a","parentId":"a","message":{"role":"user","content":"me before me"}}`,
	`{"type":"session","version":3,"id":"x","timestamp":"t"}` + "\n" + `{"type":"compaction","id":"a","firstKeptEntryId":"nobody","summary":"s"}`,
	`{"type":"session","version":3,"id":"x","timestamp":"t"}` + "\n" + `{"type":"message","id":"e9007199254740991","message":{"role":"user","content":"the last number"}}`,
	`{"type":"session","version":3,"id":"x","timestamp":"t"}` + "\n" + `{"type":"custom","id":"a","customType":"winnow.session","data":{"type":"session","key":"k"}}`,
	`{"type":"session","version":3,"id":"x","timestamp":"t"}` + "\n" + `{"type":"message","id":"a","message":{"role":"user","content":[{"type":"text","text":"x"}]},"winnow":{"type":"leaf","message":null,"id":""}}`,
	`{"type":"session","id":"","timestamp":""}` + "\n" + `{"type":"compa` + "\xda" + `ction"}` + "\n" + `{"type":"custom","customType":"pi.label","data":{}}`,
	`{"type":"user","uuid":"a","parentUuid":"b","message":{"content":[{"type":"tool_result","tool_use_id":"1"},{"type":"tool_result","tool_use_id":"1"},{"type":"text"}]}}`,
	`{"type":"system","uuid":"a","subtype":"compact_boundary"}` + "\n" + `{"type":"user","uuid":"b","parentUuid":"a","isCompactSummary":true,"message":{"content":"s"}}`,
	`{"timestamp":"t","type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[]}]}}`,
	`{"timestamp":"t","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":99}}`,
	`{"timestamp":"t","type":"response_item","payload":{"type":"function_call","arguments":"{","call_id":"\ud800"}}`,
	`{"seq":1,"id":"e1","type":"session","format":1,"key":"k"}` + "\n" + `{"seq":2,"id":"e2","type":"message","parentId":"e1","message":{"role":"user","parts":null},"exact":[{"part":3,"text":"eA=="}]}`,
}
