package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

func TestBar(t *testing.T) {
	for _, tt := range []struct {
		tokens, budget, window int
		want                   string
		reason                 string
	}{
		{0, 24_000, 32_000, "························|        ", "nothing is sent"},
		{1, 24_000, 32_000, "█·······················|        ", "what is there at all gets a cell"},
		{12_000, 24_000, 32_000, "████████████············|        ", "half"},
		{24_000, 24_000, 32_000, "████████████████████████|        ", "full"},
		{99_000, 24_000, 32_000, "████████████████████████|        ", "never beyond the budget"},
		{5, 10, 10, "████████████████················|", "no reserve"},
	} {
		assert.Equal(t, tt.want, bar(tt.tokens, tt.budget, tt.window), tt.reason)
	}
}

// TestLive: at a terminal the seconds are shown while something is under way, and are gone at the end.
func TestLive(t *testing.T) {
	ticked := make(chan struct{})
	var out buffer
	out.seen = func(all string) {
		if strings.Contains(all, " s ") {
			out.seen = nil
			close(ticked)
		}
	}
	s := newScreen(&out)
	s.live, s.window = true, 100
	s.begin("asking")
	select {
	case <-ticked:
	case <-time.After(10 * time.Second):
		t.Fatal("no seconds are shown")
	}
	s.end(", done")
	s.print("next\n")
	_, end, _ := strings.Cut(out.String(), "\x1b[K")
	assert.Equal(t, "asking, done\nnext\n", end)
}

func TestLines(t *testing.T) {
	var out buffer
	s := newScreen(&out)
	s.window = 100
	s.sends(&winnow.Request{Tokens: 10, Budget: 50, Edits: []winnow.Edit{{Op: winnow.OpClear}, {Op: winnow.OpClear}, {Op: winnow.OpLimit}}})
	s.says("agent", "Two\nlines.")
	s.says("agent", " ")
	s.called(winnow.Part{Name: "run", Arguments: []byte(`{"command": "a\nb"}`)}, &winnow.Message{Parts: []winnow.Part{{Text: "née"}}})
	assert.Equal(t, "   1   ████············|                      10 of 50, 2 cleared\n"+
		"agent  Two\n       lines.\n"+
		"       run {\"command\": \"a\\nb\"}: 3 characters\n", out.String())
	assert.Equal(t, []string{"0", "999", "1 000", "1 234 567", "-12", "-123 456"},
		[]string{number(0), number(999), number(1_000), number(1_234_567), number(-12), number(-123_456)})
	assert.Equal(t, "ab…", oneLine("abcd", 3))
}
