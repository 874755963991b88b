package winnow

import (
	"context"
	"iter"
	"strings"

	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/summary"
	"github.com/winnowgo/winnow/internal/tokencount"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// What stands in for a summary without an LLM.

func (d digester) Summarize(_ context.Context, req SummaryRequest) (string, error) {
	return d.digest(req), nil
}

func (digester) digest(req SummaryRequest) string {
	said := &sections.Dialogue{}
	previous := said.Take(req.Previous) // as the last digest has it
	notes := notesOf(previous, func(yield func(*Message) bool) {
		for i := range req.Messages {
			if !yield(&req.Messages[i]) {
				return
			}
		}
	})
	limit := digest.Limit(req.MaxTokens)
	if req.Said == "" {
		dialogueIn(req.Messages, &minifier{files: &toolcall.Common}).add(said, len(req.Messages))
		section, _ := said.Section(tokencount.Cautious, sections.Room{
			Old: limit / 4, Free: limit / 2, Whole: limit - summary.Least,
		})
		notes.Front = strings.TrimSpace(section)
	}
	text := notes.Text(limit)
	ids, _ := sections.Identifiers(notes.Table, text, limit-tokencount.Cautious(text), limit, tokencount.Cautious)
	return text + ids
}

// notesOf returns what a digest may say of previous, an earlier summary, and of messages.
func notesOf(previous string, messages iter.Seq[*Message]) *digest.Notes {
	n := digest.New()
	n.Earlier(previous)
	for m := range messages {
		n.Next()
		noteMessage(n, m)
	}
	return n
}

func noteMessage(n *digest.Notes, m *Message) {
	if m.Summary {
		n.Earlier(messageParts(m))
		return
	}
	eachMention(m, n.Scan)
	if m.Role == RoleAssistant {
		n.Said(messageParts(m))
	}
}

// eachMention calls f for the texts and the arguments of m.
func eachMention(m *Message, f func(s string, from digest.Source)) {
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case KindText:
			f(p.Text, sourceOf(m))
		case KindThinking:
			f(p.Text, digest.FromThinking)
		case KindToolCall:
			f(string(p.Arguments), digest.FromArguments)
		}
	}
}

// sourceOf says whom the texts of m are from.
func sourceOf(m *Message) digest.Source {
	switch {
	case m.Summary:
		return digest.FromPrevious
	case m.Role == RoleUser && !m.Injected:
		return digest.FromUser
	case m.Role == RoleAssistant:
		return digest.FromAssistant
	case returnsContent(m):
		return digest.FromResult
	}
	return digest.FromHost
}
