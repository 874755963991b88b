package session

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// isWrittenAsJSON fails unless writeMessage writes what package json writes.
func isWrittenAsJSON(t *testing.T, m *winnow.Message) {
	t.Helper()
	var x encoder
	want, err := x.marshal(m)
	require.NoError(t, err)
	got, ok := writeMessage([]byte("before"), m)
	require.True(t, ok, "%s", want)
	require.Equal(t, "before"+string(want), string(got))
}

// TestWriteMessage: every field of a message is written as package json writes it. A field that is new to the struct
// fails here until the writer knows it.
func TestWriteMessage(t *testing.T) {
	for _, m := range messagesAsWritten() {
		isWrittenAsJSON(t, &m)
	}
}

// TestWriteMessageLeavesTheRest: messages that package json refuses or writes differently are left to it.
func TestWriteMessageLeavesTheRest(t *testing.T) {
	call := func(arguments string) winnow.Message {
		return winnow.Message{Parts: []winnow.Part{{Kind: winnow.KindToolCall, Arguments: json.RawMessage(arguments)}}}
	}
	for _, c := range []struct {
		why string
		m   winnow.Message
	}{
		{"no JSON", call(`{"a":`)},
		{"white space, which is taken out", call(`{"a": 1}`)},
		{"bytes that are not UTF-8", call("\"\xff\"")},
		{"details that are not JSON", winnow.Message{Details: json.RawMessage(`x`)}},
		{"a year that has five digits", winnow.Message{Time: time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)}},
	} {
		_, ok := writeMessage(nil, &c.m)
		assert.False(t, ok, c.why)
	}
}

// FuzzWriteMessage: a message of any form is written as package json writes it, or left to it.
func FuzzWriteMessage(f *testing.F) {
	for _, m := range messagesAsWritten() {
		text, err := json.Marshal(&m)
		require.NoError(f, err)
		f.Add(text)
	}
	for _, c := range otherForms {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var m winnow.Message
		if json.Unmarshal(text, &m) != nil {
			return
		}
		got, ok := writeMessage(nil, &m)
		if !ok {
			return
		}
		var x encoder
		want, err := x.marshal(&m)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	})
}
