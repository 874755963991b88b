package ask

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Client asks one model at one provider.
type Client struct {
	API   API
	Model string
	Wait  func(ctx context.Context, d time.Duration) error // between two tries

	url, key  string
	http      *http.Client
	isReached atomic.Bool // once
}

// New returns a client for a model. Without an address it is the maker's, and the key must be in the environment, in
// variable or, if that is "", in that of the API. The key is sent to that address alone, and written nowhere.
func New(api API, model string, to *url.URL, variable string) (*Client, error) {
	c := &Client{API: api, Model: model, Wait: wait, http: &http.Client{
		Timeout:       longestAnswer,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // to another host
	}}
	if to == nil && api.home() == "" {
		return nil, fmt.Errorf("-api %s: -to says at which address", api.Name())
	}
	c.url = address(api, model, to)
	from := cmp.Or(variable, api.key())
	c.key = strings.TrimSpace(os.Getenv(from))
	if c.key == "" && (to == nil || variable != "") {
		return nil, fmt.Errorf("no key: the environment has no %s", from)
	}
	return c, nil
}

// Host is where the texts of the sessions go.
func (c *Client) Host() string {
	u, err := url.Parse(c.url)
	if err != nil {
		return c.url
	}
	return u.Host
}

const (
	longestAnswer = 10 * time.Minute
	longestBody   = 64 << 20 // bytes of an answer
	mostTries     = 6
	firstWait     = 2 * time.Second // doubled with each try, where the provider says nothing
	longestWait   = 2 * time.Minute // a provider that wants more time is not waited for
)

// RefusedError is what a provider says to a request that it does not answer. It is not paid for.
type RefusedError struct {
	Status int
	Text   string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("refused with status %d: %s", e.Status, e.Text)
}

// EndsTrial reports whether the next request would be refused too: the key or the model is wrong, or the provider
// answers nobody for now.
func (e *RefusedError) EndsTrial() bool {
	return e.Status == http.StatusUnauthorized || e.Status == http.StatusPaymentRequired ||
		e.Status == http.StatusForbidden || e.Status == http.StatusNotFound || isForNow(e.Status)
}

// ErrLost is the error of a request that was sent and whose answer did not come: it may have been paid for.
var ErrLost = errors.New("the answer was lost")

// Ask sends a body and returns the answer. What a provider refuses for now it is asked again, when it says so. Any
// other failure of a request that may have reached it is [ErrLost], and nothing is sent twice. If ctx ends, it waits no
// longer between two tries, but still for an answer that is on its way, because that is paid for.
func (c *Client) Ask(ctx context.Context, body []byte) (Answer, error) {
	pause := firstWait
	for try := 1; ; try++ {
		a, after, err := c.once(context.WithoutCancel(ctx), body)
		if after < 0 || try == mostTries || after > longestWait {
			return a, err
		}
		if stopped := c.Wait(ctx, cmp.Or(after, pause)); stopped != nil {
			return a, errors.Join(stopped, err)
		}
		pause = min(2*pause, longestWait)
	}
}

// once sends a body once. after says when to try again: never if it is negative, and 0 if the provider does not say.
func (c *Client) once(ctx context.Context, body []byte) (a Answer, after time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return a, -1, err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		c.API.sign(request.Header, c.key)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		if isUnreached(err) {
			if errors.Is(err, syscall.ECONNREFUSED) && !c.isReached.Load() {
				after = -1 // nobody is there: it is the wrong address
			}
			return a, after, c.clear(err)
		}
		return a, -1, fmt.Errorf("%w: %w", ErrLost, c.clear(err))
	}
	defer answer.Body.Close()
	c.isReached.Store(true)
	text, err := io.ReadAll(io.LimitReader(answer.Body, longestBody))
	switch {
	case answer.StatusCode != http.StatusOK:
		after = -1
		if isForNow(answer.StatusCode) {
			after = retryAfter(answer.Header)
		}
		return a, after, &RefusedError{answer.StatusCode, c.hide(firstWords(string(text)))}
	case err != nil:
		return a, -1, fmt.Errorf("%w: %w", ErrLost, err)
	}
	if a, err = c.API.read(text); err != nil {
		return a, -1, fmt.Errorf("%w: what came is no answer of the API %q: %w", ErrLost, c.API.Name(), err)
	}
	return a, -1, nil
}

// isForNow reports whether a provider with this status may answer later, and has not answered now.
func isForNow(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500
}

// isUnreached reports whether a request did not reach the provider.
func isUnreached(err error) bool {
	var of *net.OpError
	return errors.As(err, &of) && of.Op == "dial"
}

// retryAfter reads how long a provider wants to be left alone: seconds, or a time. 0: it does not say.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if n, err := strconv.ParseFloat(value, 64); err == nil && n > 0 && n < 1e6 {
		return time.Duration(n * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// clear takes the address out of an error of the client: it may hold what the user wrote there.
func (c *Client) clear(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	return fmt.Errorf("%s: %w", c.Host(), err)
}

// hide takes the key out of a text of the provider.
func (c *Client) hide(text string) string {
	if c.key == "" {
		return text
	}
	return strings.ReplaceAll(text, c.key, "(key)")
}

func firstWords(s string) string {
	const most = 500
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "")
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
