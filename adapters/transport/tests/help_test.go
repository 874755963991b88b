package transport_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func read(r *http.Request) []byte {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	return b
}

func answer(status int, contentType, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body))}
}

// post sends a body and returns the answer's status and body.
func post(t *testing.T, tr http.RoundTripper, path, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://provider.test"+path, bytes.NewReader([]byte(body)))
	r.RequestURI = ""
	res, err := tr.RoundTrip(r)
	require.NoError(t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode, string(text)
}
