package transport

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type sent func(*http.Request) (*http.Response, error)

func (f sent) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What a conversation keeps of its newest request.
func TestMemory(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"model":"claude-opus-4-5","messages":[`)
	for i := range 400 {
		if i > 0 {
			b.WriteByte(',')
		}
		text := strings.Repeat(fmt.Sprintf(`a line of file %d, \"quoted\"\n`, i), 400)
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"text","text":"Go on with %d."}]},{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"read","input":{"path":"a%d"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":[{"type":"text","text":"%s"}]}]},{"role":"assistant","content":"Done."}`, i, i, i, i, text)
	}
	b.WriteString(`,{"role":"user","content":"And now?"}]}`)
	body := b.String()
	tr, err := New(sent(func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	}), nil)
	require.NoError(t, err)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := http.NewRequest(http.MethodPost, "http://x/v1/messages", bytes.NewReader([]byte(body)))
	require.NoError(t, err)
	res, err := tr.RoundTrip(r)
	require.NoError(t, err)
	_, _ = io.ReadAll(res.Body)
	_ = res.Body.Close()
	r, res = nil, nil // what the request has is not the conversation's
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	kept := float64(after.HeapAlloc) - float64(before.HeapAlloc)
	t.Logf("a body of %d bytes, %.2f times it kept, %.2f times it allocated", len(body), kept/float64(len(body)), float64(after.TotalAlloc-before.TotalAlloc)/float64(len(body)))
	assert.Less(t, kept, 1.5*float64(len(body)))
	runtime.KeepAlive(tr)
	runtime.KeepAlive(body)
}
