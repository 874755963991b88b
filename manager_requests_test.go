package winnow_test

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// What the manager sends in recorded sessions, as one number: a change that is to leave requests as they are leaves it
// as it is. With -v there is a number for each session.
//
//	go test -run TestRequestsOfCorpus -requests -corpus all -v .
var requestsSum = flag.Bool("requests", false, "sum up the requests of recorded sessions")

func TestRequestsOfCorpus(t *testing.T) {
	if !*requestsSum {
		t.Skip("on request: -requests")
	}
	all := sha256.New()
	requests := 0
	for _, file := range corpusFiles(t) {
		h := readCorpus(t, file)
		for _, window := range []int{32_000, 128_000} {
			one := sha256.New()
			c := newClock()
			m := newManager(t, window, &winnow.Options{Now: c.Now})
			for n := range h {
				if h[n].Role != winnow.RoleAssistant {
					continue
				}
				c.follow(h[n].Time)
				r, err := m.Prepare(t.Context(), h[:n])
				requests++
				if err != nil {
					require.True(t, errors.As(err, new(*winnow.OverflowError)), "%v", err)
					fmt.Fprintln(one, "overflow")
					continue
				}
				require.NoError(t, winnow.WriteMessages(one, r.Messages))
			}
			t.Logf("%x %6d %s", one.Sum(nil)[:8], window, filepath.Base(file))
			all.Write(one.Sum(nil))
		}
	}
	t.Logf("%x: all of %d requests", all.Sum(nil), requests)
}

// A host with an empty or blank history gets an empty request: that is not an error, and no message is made up.
func TestManagerOfNothing(t *testing.T) {
	for name, h := range map[string][]winnow.Message{"nothing": nil, "blank": {userSays(" \n"), modelSays("")}} {
		m := newManager(t, 8_000, &winnow.Options{Now: newClock().Now})
		for range 2 {
			r := prepare(t, m, h)
			assert.Empty(t, r.Messages, name)
			assert.Zero(t, r.Tokens, name)
			assert.Equal(t, m.Plan(h).Messages, r.Messages, name)
		}
		r := prepare(t, m, append(slices.Clip(h), userSays("Hello.")))
		assert.Len(t, r.Messages, 1, name)
		assert.Equal(t, 0, r.FirstChanged, name)
	}
}
