package transport

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Headers that say something of the body, or that it is the same request, are true of what is sent.
func TestHeaders(t *testing.T) {
	const refusal = `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 13000 tokens > 9000 maximum"}}`
	short := []byte(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`)
	for _, tt := range []struct {
		name, header, value string
		body                []byte
		want                []string // what the header is, each time that it is sent
	}{
		{"an unchanged body has its digest", "Content-Digest", "sha-256=:x:", short, []string{"sha-256=:x:"}},
		{"an edited one has not", "Content-Digest", "sha-256=:x:", readFiles(30), []string{"", ""}},
		{"another body is another request", "Idempotency-Key", "k", readFiles(30), []string{"k", ""}},
		{"a body that is here is sent at once", "Expect", "100-continue", short, []string{""}},
		{"a signed body is passed on", "Authorization", "AWS4-HMAC-SHA256 Signature=x", readFiles(30), []string{"AWS4-HMAC-SHA256 Signature=x"}},
	} {
		var got []string
		var lengths []int
		tr, err := New(sent(func(r *http.Request) (*http.Response, error) {
			b, _ := io.ReadAll(r.Body)
			got, lengths = append(got, r.Header.Get(tt.header)), append(lengths, len(b))
			answer := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}
			if len(got) == 1 && len(tt.want) > 1 {
				answer.StatusCode, answer.Body = 400, io.NopCloser(strings.NewReader(refusal))
			}
			return answer, nil
		}), &Options{Manager: func(*http.Request, string) (int, *winnow.Options) { return 24_000, nil }})
		require.NoError(t, err)
		r, err := http.NewRequest(http.MethodPost, "http://x/v1/messages", strings.NewReader(string(tt.body)))
		require.NoError(t, err)
		r.Header.Set(tt.header, tt.value)
		res, err := tr.RoundTrip(r)
		require.NoError(t, err)
		assert.Equal(t, 200, res.StatusCode, tt.name)
		assert.Equal(t, tt.want, got, tt.name)
		if len(tt.want) == 1 {
			assert.Equal(t, len(tt.body), lengths[0], tt.name)
		}
	}
}

// A body that came in chunks has a length when it is sent on, because it is known, and some servers want it.
func TestChunkedBodies(t *testing.T) {
	tr, err := New(sent(func(r *http.Request) (*http.Response, error) {
		assert.Equal(t, int64(57), r.ContentLength)
		assert.Empty(t, r.TransferEncoding)
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}, nil
	}), nil)
	require.NoError(t, err)
	body := io.MultiReader(strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
	r, err := http.NewRequest(http.MethodPost, "http://x/v1/messages", body)
	require.NoError(t, err)
	r.ContentLength, r.TransferEncoding = -1, []string{"chunked"}
	_, err = tr.RoundTrip(r)
	require.NoError(t, err)
}
