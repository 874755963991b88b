package responses

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// says is an item of a message.
func says(role, text string) string {
	return fmt.Sprintf(`{"type":"message","role":"%s","content":"%s"}`, role, text)
}

// reads are n calls with their outputs.
func reads(from, n int) (items []string) {
	for i := from; i < from+n; i++ {
		items = append(items, fmt.Sprintf(`{"type":"function_call","call_id":"c%d","name":"read","arguments":"{}"}`, i),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":"%s"}`, i, strings.Repeat(fmt.Sprintf(`line %d of a file\n`, i), 60)))
	}
	return items
}

// TestBeginsAtCompaction: items with a compaction are prepared as the items from it on.
func TestBeginsAtCompaction(t *testing.T) {
	const sealed, older = `{"type":"compaction","id":"cmp_2","encrypted_content":"c2VhbGVk"}`, `{"type":"compaction","encrypted_content":"b2xk"}`
	list := func(items ...string) []string { return items }
	before := slices.Concat(list(says("user", "FIRST")), reads(0, 40), list(older), reads(40, 40))
	behind := slices.Concat(list(sealed, says("assistant", "I go on.")), reads(70, 20), list(says("user", "And now?")))
	call, output := `{"type":"function_call","call_id":"x","name":"read","arguments":"{}"}`, `{"type":"function_call_output","call_id":"x","output":"x"}`
	returned := []string{`{"type":"message","id":"msg_1","role":"user","status":"completed","content":[{"type":"input_text","text":"FIRST"}]}`, sealed, says("user", "And now?")}
	asTyped := func(items []Item) []Item {
		out := make([]Item, len(items))
		for i := range items {
			require.NoError(t, json.Unmarshal([]byte(jsonOf(t, items[i])), &out[i]))
		}
		return out
	}
	for _, tt := range []struct {
		name      string
		all, want []string
	}{
		{"what it stands for", slices.Concat(before, behind), behind},
		{"nothing", behind, behind},
		{"developers speak in front", slices.Concat(list(says("developer", "RULES")), before, behind), slices.Concat(list(says("developer", "RULES")), behind)},
		{"an output comes later", slices.Concat(before, list(call, sealed, output, says("user", "So?"))), list(sealed, call, output, says("user", "So?"))},
		{"what people said, as the endpoint returns it", returned, returned},
		{"the same, behind what it was made of", slices.Concat(before, returned), returned},
		{"what people said, as hosts write it", slices.Concat(list(says("user", "FIRST")), behind), behind},
	} {
		for form, read := range map[string]func([]Item) []Item{"JSON": func(items []Item) []Item { return items }, "typed": asTyped} {
			if form == "typed" && strings.Contains(strings.Join(tt.all, ""), "msg_1") {
				continue // the SDK's type of such a message has no id
			}
			prepared := func(items []string) *winnow.Request {
				m, err := winnow.New(400_000, &winnow.Options{FoldAbove: 1})
				require.NoError(t, err)
				r, err := m.Prepare(t.Context(), Import(read(raws(items...))))
				require.NoError(t, err)
				return r
			}
			got, want := prepared(tt.all), prepared(tt.want)
			sent := Export(got.Messages)
			require.NoError(t, valid(sent), tt.name)
			assert.Equal(t, jsonOf(t, read(raws(tt.want...))), jsonOf(t, sent), "%s, %s", tt.name, form)
			assert.Equal(t, []any{want.Tokens, want.Bytes, want.Counts, want.CostUnedited}, []any{got.Tokens, got.Bytes, got.Counts, got.CostUnedited}, "%s, %s", tt.name, form)
		}
	}
}

// TestCompactionOnTheServer talks to a model that compacts on the server whenever a request is large.
func TestCompactionOnTheServer(t *testing.T) {
	const compactAbove = 24_000 // bytes
	made, compactions := 0, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var wire struct{ Input []json.RawMessage }
		if !assert.NoError(t, json.NewDecoder(r.Body).Decode(&wire)) {
			return
		}
		size := 0
		items := make([]string, len(wire.Input))
		for i, item := range wire.Input {
			items[i], size = string(item), size+len(item)
		}
		if err := valid(raws(items...)); err != nil {
			t.Errorf("request %d: %v", made, err)
		}
		assert.Equal(t, compactions > 0, strings.Contains(items[0], fmt.Sprintf(`"SEALED %d"`, compactions)), "request %d begins with %.100s", made, items[0])
		made++
		output := fmt.Sprintf(`{"type":"function_call","id":"fc_%d","call_id":"c%d","name":"read","arguments":"{}","status":"completed"}`, made, made)
		if size > compactAbove {
			compactions++
			output = fmt.Sprintf(`{"type":"compaction","id":"cmp_%d","encrypted_content":"SEALED %d"},`, compactions, compactions) + output
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"resp_%d","status":"completed","output":[%s],"usage":{"input_tokens":%d,"output_tokens":7}}`, made, output, size/4)
	}))
	defer server.Close()
	client := clientOf(server.URL)
	m, err := winnow.New(20_000, &winnow.Options{Model: "gpt-5.2", FoldAbove: 1})
	require.NoError(t, err)
	h := Import(raws(says("user", "FIRST")))
	for range 80 {
		r, err := m.Prepare(t.Context(), h)
		require.NoError(t, err)
		answer, err := client.Responses.New(t.Context(), input(Export(r.Messages)))
		require.NoError(t, err)
		h = append(h, Response(answer)...)
		last := &h[len(h)-1]
		require.NotNil(t, last.Usage, "the answer's, and not the compaction's")
		h = append(h, winnow.Message{Role: winnow.RoleTool, ToolCallID: last.Parts[0].ID, Parts: []winnow.Part{{Text: strings.Repeat("a line of a file\n", 60)}}})
	}
	assert.Greater(t, compactions, 2)
}

// TestCompactionWithoutItsItem: a compaction that was read from a store without its item is sent as one.
func TestCompactionWithoutItsItem(t *testing.T) {
	m := Import(raws(`{"type":"compaction","encrypted_content":"c2VhbGVk"}`))[0]
	m.Source = nil
	assert.Equal(t, `[{"encrypted_content":"c2VhbGVk","type":"compaction"}]`, jsonOf(t, Export([]winnow.Message{m})))
	m.Parts[0].Text = "So far all went well." // of a provider that shows its summaries
	assert.Equal(t, "["+says("user", "So far all went well.")+"]", strings.Replace(jsonOf(t, Export([]winnow.Message{m})), `"content":"So far all went well.","role":"user","type":"message"`, `"type":"message","role":"user","content":"So far all went well."`, 1))
}
