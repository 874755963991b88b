package transport

import (
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
