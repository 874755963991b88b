package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/adapters/transport"
)

// body is one of an answer that knows whether it was closed.
type body struct {
	io.Reader
	open *atomic.Int32
	once sync.Once
}

func (b *body) Close() error {
	b.once.Do(func() { b.open.Add(-1) })
	return nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

const (
	callStream = `data: {"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"recall","arguments":"{}"}}]}}]}` +
		"\n\n" + `data: {"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
	textStream = `data: {"id":"a","choices":[{"index":0,"delta":{"content":"So."}}]}` + "\n\n"
)

// Whoever goes away in the middle, no body stays open, and a client that has closed is not answered any more.
func TestRecallClosesBodies(t *testing.T) {
	for _, tt := range []struct {
		reason             string
		second             func(r *http.Request) (*http.Response, error) // nil: textStream
		closeEarly, cancel bool
		want               error
		rounds             int32
	}{
		{reason: "to its end", rounds: 2},
		{reason: "closed in front of the first byte", closeEarly: true, want: http.ErrBodyReadAfterClose, rounds: 1},
		{reason: "closed while the model is asked again", want: http.ErrBodyReadAfterClose, rounds: 2},
		{reason: "cancelled while the model is asked again", cancel: true, want: context.Canceled, rounds: 2},
		{reason: "broken off in the second answer", want: io.ErrUnexpectedEOF, rounds: 2},
		{reason: "no second answer", want: errors.ErrUnsupported, rounds: 2},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			var open, rounds atomic.Int32
			asked, goOn := make(chan bool), make(chan bool)
			o := options(window, 0)
			o.Recall = true
			tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
				n := rounds.Add(1)
				from := io.Reader(strings.NewReader(callStream))
				if n > 1 {
					from = strings.NewReader(textStream)
					switch {
					case tt.want == io.ErrUnexpectedEOF:
						from = io.MultiReader(from, broken{})
					case tt.want == errors.ErrUnsupported:
						return nil, tt.want
					case tt.want != nil && !tt.closeEarly:
						close(asked)
						select {
						case <-goOn:
						case <-r.Context().Done():
							return nil, r.Context().Err()
						}
					}
				}
				open.Add(1)
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: &body{Reader: from, open: &open}}, nil
			}), o)
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://provider.test/v1/chat/completions", strings.NewReader(oddChat))
			res, err := tr.RoundTrip(r)
			require.NoError(t, err)
			if tt.closeEarly {
				require.NoError(t, res.Body.Close())
			} else {
				go func() {
					select {
					case <-asked:
					case <-ctx.Done():
						return
					}
					if tt.cancel {
						cancel()
						return
					}
					_ = res.Body.Close()
					close(goOn)
				}()
			}
			got, err := io.ReadAll(res.Body)
			require.ErrorIs(t, err, tt.want)
			if tt.want == nil || tt.want == io.ErrUnexpectedEOF {
				assert.Equal(t, textStream, string(got))
			} else {
				assert.Empty(t, got)
			}
			_ = res.Body.Close()
			assert.Zero(t, open.Load())
			assert.Equal(t, tt.rounds, rounds.Load())
		})
	}
}

// A long argument of a client's call takes as long for each of its pieces as a short one.
func TestRecallOfLongCalls(t *testing.T) {
	took := func(n int) time.Duration {
		text := stream(oddChunk(oddCall("0", "c", "read", ""), "null")) +
			strings.Repeat(stream(oddChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"some text "}}]}`, "null")), n)
		begin := time.Now()
		got, _ := spliced(t, "/v1/chat/completions", oddChat, text)
		assert.Equal(t, text, got)
		return time.Since(begin)
	}
	took(1_000)
	assert.Less(t, took(40_000), 3*time.Second, "12 s where each piece was added to all that came before it")
}
