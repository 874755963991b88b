package transcript_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/transcript"
)

func TestParseIndex(t *testing.T) {
	list, err := transcript.ParseIndex([]byte(`{
		"agent:main:main": {"sessionId":"s1","updatedAt":1767225600000,"inputTokens":120,"outputTokens":30,"totalTokens":9000,
			"contextTokens":200000,"compactionCount":2,"memoryFlushCompactionCount":1,"displayName":"Anna","new":{"a":1}},
		"agent:main:telegram:group:\u0041": {"sessionId":"s2","sessionFile":"/elsewhere/s2-topic-7.jsonl","origin":{"label":"a group"}},
		"agent:main:cron:x": {"updatedAt":1}
	}`))
	require.NoError(t, err)
	require.Len(t, list, 2, "an entry without a session is left out")
	a := list[0]
	assert.Equal(t, "agent:main:main", a.Key)
	assert.Equal(t, "Anna", a.Label)
	assert.Equal(t, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), a.Updated)
	assert.Equal(t, winnow.Usage{Input: 120, Output: 30}, a.Usage)
	assert.Equal(t, []int{9000, 200000, 2, 1}, []int{a.Total, a.ContextTokens, a.Compactions, a.FlushedAt})
	assert.Equal(t, "d/s1.jsonl", a.Path("d"))
	assert.Contains(t, string(a.Entry), `"new":{"a":1}`, "what is not known is carried")
	assert.Equal(t, "agent:main:telegram:group:A", list[1].Key)
	assert.Equal(t, "a group", list[1].Label)
	assert.Equal(t, "d/s2-topic-7.jsonl", list[1].Path("d"), "beside the index, wherever it was written")
}

func TestParseIndexOfSomethingElse(t *testing.T) {
	for _, text := range []string{``, `[]`, `{"a":1}`, `{"a":{}`, `<html>`} {
		_, err := transcript.ParseIndex([]byte(text))
		assert.ErrorIs(t, err, transcript.ErrIndex, text)
	}
	list, err := transcript.ParseIndex([]byte(`{}`))
	assert.NoError(t, err)
	assert.Empty(t, list)
}

// FuzzParseIndex: for any file, every path stays in the directory.
func FuzzParseIndex(f *testing.F) {
	f.Add([]byte(`{"k":{"sessionId":"../../x","sessionFile":"..\\..\\y"}}`))
	f.Add([]byte(`{"k":{"sessionId":"..","sessionFile":"..","updatedAt":-1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := transcript.ParseIndex(data)
		if err != nil {
			return
		}
		for _, l := range list {
			assert.Equal(t, "d", filepath.Dir(l.Path("d")))
		}
	})
}
