package transport

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// The markers that a client sets are what its requests cost.
func TestPrices(t *testing.T) {
	const hour = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
	for _, tt := range []struct {
		name, model, block, beside string
		mark                       bool
		want                       *winnow.CacheOptions
	}{
		{"five minutes", "claude-opus-4-5", `"cache_control":{"type":"ephemeral"}`, "", false, nil},
		{"an hour", "claude-opus-4-5", hour, "", false, &winnow.CacheOptions{TTL: time.Hour, WritePrice: 2}},
		{"automatic", "claude-opus-4-5", `"x":1`, hour, false, &winnow.CacheOptions{TTL: time.Hour, WritePrice: 2}},
		{"none", "claude-opus-4-5", `"x":1`, "", false, &winnow.CacheOptions{None: true}},
		{"none but in the system prompt", "claude-opus-4-5", `"x":1`, `"system":[{"type":"text","text":"s",` + hour + `}]`, true, &winnow.CacheOptions{None: true}},
		{"none, and they are set here", "claude-opus-4-5", `"x":1`, "", true, nil},
		{"another model caches by itself", "glm-5", `"x":1`, "", false, nil},
	} {
		body := `{"model":"` + tt.model + `","messages":[{"role":"user","content":[{"type":"text","text":"a",` + tt.block + `}]}]`
		if tt.beside != "" {
			body += "," + tt.beside
		}
		q, err := parse(httptest.NewRequest("POST", "/v1/messages", strings.NewReader("")), messagesForm, []byte(body+"}"))
		require.NoError(t, err, tt.name)
		assert.Equal(t, tt.want, q.prices(tt.mark), tt.name)
	}
}

// TestMarkedPrompt: MarkCache sets a marker behind what stands in front of the messages, because a request whose messages
// change is read up to there at least.
func TestMarkedPrompt(t *testing.T) {
	const marker = `,"cache_control":{"type":"ephemeral"}`
	for _, tt := range []struct{ name, body, want string }{
		{"a text", `"system":"Be \"brief\"."`, `"system":[{"type":"text","text":"Be \"brief\"."` + marker + `}]`},
		{"blocks", `"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"tools":[{"name":"x"}]`,
			`"system":[{"type":"text","text":"a"},{"type":"text","text":"b"` + marker + `}],"tools":[{"name":"x"}]`},
		{"tools alone", `"tools":[{"name":"x"},{"name":"y","defer_loading":true}]`, `"tools":[{"name":"x"` + marker + `},{"name":"y","defer_loading":true}]`},
		{"a tool that takes one", `"system":"s","tools":[{"name":"x","input_schema":{"properties":{"cache_control":{}}}}]`,
			`"system":[{"type":"text","text":"s"` + marker + `}],"tools":[{"name":"x","input_schema":{"properties":{"cache_control":{}}}}]`},
		{"a blank text", `"system":" "`, `"system":" "`},
		{"the client's own", `"system":[{"type":"text","text":"a"},{"type":"text","text":"b"` + marker + `}]`, `"system":[{"type":"text","text":"a"},{"type":"text","text":"b"` + marker + `}]`},
	} {
		const rest = `{"model":"claude-opus-5-5",%s,"messages":[{"role":"user","content":"Hi."}]}`
		q, err := parse(httptest.NewRequest("POST", "/v1/messages", strings.NewReader("")), messagesForm, fmt.Appendf(nil, rest, tt.body))
		require.NoError(t, err, tt.name)
		got, _ := q.body(q.history, true)
		want, _, _ := strings.Cut(fmt.Sprintf(rest, tt.want), `"messages"`)
		assert.Equal(t, want, string(got[:min(len(got), len(want))]), tt.name)
	}
}
