package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The proxy serves until it is stopped, and then an open answer comes to its end.
func TestProxyServes(t *testing.T) {
	asked, goOn := make(chan bool), make(chan bool)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-goOn
		_, _ = io.WriteString(w, "an answer")
	}))
	defer upstream.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	p := &program{stdout: in, stderr: io.Discard, now: time.Now}
	ended := make(chan int, 1)
	go func() { ended <- p.run(ctx, []string{"proxy", "-to", upstream.URL, "-listen", "127.0.0.1:0"}) }()
	line := make([]byte, 200)
	n, err := out.Read(line)
	require.NoError(t, err)
	address := regexp.MustCompile(`http://127\S+`).Find(line[:n])
	require.NotNil(t, address, "%s", line[:n])
	got := make(chan []byte, 1)
	go func() {
		res, err := http.Post(string(address)+"/v1/messages", "application/json", bytes.NewReader([]byte("{}")))
		if err != nil {
			got <- nil
			return
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		got <- b
	}()
	<-asked
	stop()
	select {
	case code := <-ended:
		t.Fatalf("it ended with %d while an answer was open", code)
	case <-time.After(50 * time.Millisecond):
	}
	close(goOn)
	assert.Equal(t, "an answer", string(<-got))
	assert.Equal(t, exitOK, <-ended)
}
