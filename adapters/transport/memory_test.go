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

// readFiles is a body with so many turns, each of which reads a file of 12 KB.
func readFiles(turns int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"claude-opus-4-5","messages":[`)
	for i := range turns {
		text := strings.Repeat(fmt.Sprintf(`a line of file %d, \"quoted\"\n`, i), 400)
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"text","text":"Go on with %d."}]},{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"read","input":{"path":"a%d"}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":[{"type":"text","text":"%s"}]}]},{"role":"assistant","content":"Done."},`, i, i, i, i, text)
	}
	b.WriteString(`{"role":"user","content":"And now?"}]}`)
	return b.Bytes()
}

// What a request that goes on takes until it is answered, beside what the client has of it, and what the conversation
// keeps of it.
func TestMemory(t *testing.T) {
	var memory [3]runtime.MemStats
	measure := func(n int) {
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&memory[n])
	}
	tr, err := New(sent(func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		measure(1)
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	}), nil)
	require.NoError(t, err)
	send := func(body []byte) {
		r, err := http.NewRequest(http.MethodPost, "http://x/v1/messages", bytes.NewReader(body))
		require.NoError(t, err)
		res, err := tr.RoundTrip(r)
		require.NoError(t, err)
		_, _ = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	send(readFiles(1)) // the tables of tokens are loaded
	measure(0)
	send(readFiles(400))
	measure(2)
	body := readFiles(401)
	of := func(from, to int) float64 {
		return float64(int64(memory[to].HeapAlloc)-int64(memory[from].HeapAlloc)) / float64(len(body))
	}
	kept := of(0, 2)
	assert.Less(t, kept, 1.5)
	measure(0)
	send(body)
	measure(2)
	taken, allocated := of(0, 1), float64(memory[1].TotalAlloc-memory[0].TotalAlloc)/float64(len(body))
	t.Logf("a body of %d bytes: %.2f times it taken (%.2f allocated), %.2f times it kept", len(body), taken, allocated, kept)
	assert.Less(t, taken, 1.5)
	runtime.KeepAlive(tr)
	runtime.KeepAlive(body)
}
