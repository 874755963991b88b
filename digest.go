package winnow

import (
	"context"
	"iter"

	"github.com/winnowgo/winnow/internal/digest"
)

// Digest returns the summarizer that needs no LLM. It quotes the newest requests of people and the model's last words,
// and lists the identifiers that are most likely to be needed again. A [Manager] adds the user's rules, files, failures
// and what is in force, as to any summary. req.Previous comes first, in at most half of the room. The digest has at
// most req.MaxTokens tokens (0: 4 000). It is deterministic, takes linear time, and never fails.
func Digest() Summarizer { return digester{} }

// digester is the summarizer of Digest. The manager recognizes it by its type, because it costs nothing and never
// fails.
type digester struct{}

// isDigest reports whether s is the summarizer of Digest.
func isDigest(s Summarizer) bool {
	_, is := s.(digester)
	return is
}

func (d digester) Summarize(_ context.Context, req SummaryRequest) (string, error) {
	return d.digest(req), nil
}

// summarize also says that the text was made without an LLM.
func (d digester) summarize(_ context.Context, req SummaryRequest) (answer, error) {
	return answer{d.digest(req), true}, nil
}

func (digester) digest(req SummaryRequest) string {
	return notesOf(req.Previous, func(yield func(*Message) bool) {
		for i := range req.Messages {
			if !yield(&req.Messages[i]) {
				return
			}
		}
	}).Write(req.MaxTokens)
}

// notesOf returns what a digest may say of previous, an earlier summary, and of messages.
func notesOf(previous string, messages iter.Seq[*Message]) *digest.Notes {
	n := digest.New()
	n.Earlier(previous)
	for m := range messages {
		n.Next()
		noteMessage(n, m)
	}
	n.End()
	return n
}

// noteMessage adds m to the notes.
func noteMessage(n *digest.Notes, m *Message) {
	if m.Summary {
		n.Earlier(messageParts(m))
		return
	}
	from := sourceOf(m)
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case KindText:
			n.Scan(p.Text, from)
		case KindThinking:
			n.Scan(p.Text, digest.FromThinking)
		}
	}
	switch from { // injected and system messages are not quoted: only their identifiers may be needed
	case digest.FromUser:
		n.Asked(messageParts(m))
	case digest.FromAssistant:
		n.Said(messageParts(m))
		for p := range callsOf(m) {
			n.Called(p.Name, p.Arguments)
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
