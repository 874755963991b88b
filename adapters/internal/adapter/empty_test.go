package adapter

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWithoutEmptyTexts(t *testing.T) {
	for _, tt := range []struct{ in, want, reason string }{
		{`{"content":[{"text":"","type":"text"},{"text":"x","type":"text"}]}`, `{"content":[{"text":"x","type":"text"}]}`, "in a list"},
		{`{"source":{"content":[{"text":" \n","type":"text"},{"type":"image"}]}}`, `{"source":{"content":[{"type":"image"}]}}`, "at every depth"},
		{`{"content":[{"text":"","type":"text"},{"text":"","type":"text"}]}`, `{"content":[{"text":"[empty]","type":"text"}]}`, "no list becomes empty"},
		{`{"content":[{"text":"","type":"other"}],"n":1.10}`, "", "only what is a text"},
		{`{"content":[],"text":""}`, "", "nothing to leave out"},
		{`{"text"`, "", "no JSON"},
	} {
		got, found := WithoutEmptyTexts([]byte(tt.in))
		if tt.want == "" {
			assert.False(t, found, tt.reason)
			assert.Equal(t, tt.in, string(got), tt.reason)
			continue
		}
		assert.True(t, found, tt.reason)
		assert.JSONEq(t, tt.want, string(got), tt.reason)
	}
}
