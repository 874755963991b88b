package adapter

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/winnowgo/winnow"
)

// result is a value of an SDK with one result.
type result struct {
	Call  string `json:"call,omitempty"`
	Text  string `json:"text"`
	Extra string `json:"extra,omitempty"`
}

const madeUp = "made_"

// sources puts any number of results into one value, as some APIs do.
func sources() *Sources[[]result] {
	return &Sources[[]result]{
		ID: "test", Made: func(id string) bool { return strings.HasPrefix(id, madeUp) },
		Import: func(values [][]result) (out []winnow.Message) {
			for _, v := range values {
				for _, r := range v {
					m := winnow.Message{Role: winnow.RoleTool, ToolCallID: r.Call, Source: r}
					m.Parts = []winnow.Part{{Text: r.Text}}
					out = append(out, m)
				}
			}
			return out
		},
		Read: func(text json.RawMessage) (v []result, err error) { return v, json.Unmarshal(text, &v) },
	}
}

// TestSourcesGoToTheirOwnMessages decodes a stored value beside messages that read as its results do.
func TestSourcesGoToTheirOwnMessages(t *testing.T) {
	const ids, none = `[{"call":"a","text":"ok","extra":"1"},{"call":"b","text":"ok","extra":"2"}]`,
		`[{"text":"ok","extra":"1"},{"text":"ok","extra":"2"}]`
	for _, c := range []struct {
		name, value string
		ids         []string
		want        []string // of the sources; nil: none is restored
	}{
		{"in order", ids, []string{"a", "b"}, []string{"1", "2"}},
		{"in another order", ids, []string{"b", "a"}, []string{"2", "1"}},
		{"of another call", ids, []string{"a", "c"}, nil},
		{"of other calls", ids, []string{"c", "d"}, nil},
		{"of a call that was renamed", ids, []string{"a_2", "b"}, nil},
		{"without ids", none, []string{"", ""}, []string{"1", "2"}},
		{"with ids that an import made up", none, []string{madeUp + "1", madeUp + "2"}, []string{"1", "2"}},
		{"with ids of somebody else", none, []string{"a", "b"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var messages []winnow.Message
			for _, id := range c.ids {
				m := winnow.Message{Role: winnow.RoleTool, ToolCallID: id, Parts: []winnow.Part{{Text: "ok"}}}
				messages = append(messages, m)
			}
			first := json.RawMessage(`{"values":[` + c.value + `],"count":2}`)
			err := sources().Decode(messages, []json.RawMessage{first, json.RawMessage(`{"behind":1}`)})
			if err != nil {
				t.Fatal(err)
			}
			for i := range messages {
				got, ok := messages[i].Source.(result)
				if ok != (c.want != nil) || ok && got.Extra != c.want[i] {
					t.Errorf("the source of message %d, of call %q, is %+v", i, c.ids[i], messages[i].Source)
				}
			}
		})
	}
}
