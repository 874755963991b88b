package session

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/recall"
)

// A sub-agent has a session of its own, below the key of the session that began it. Its parent gets a capsule: the
// answer, cut to a size, with a handle by which the recall tool reads the sub-agent's log.

const (
	childMark   = ":subagent:" // as in the keys of package keys
	childHandle = "subagent:"  // begins the handle of a capsule

	// capsuleShare is what a capsule may take of its parent's window. Of 64 000 tokens that is 4 000, so that seven
	// answers in one step take less than half. Of 200 000 it is most answers whole.
	capsuleShare = 1.0 / 16
)

var childName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// childKey returns the key of a sub-agent. It lies below key, whatever the name is.
func childKey(key, name string) (string, error) {
	if !childName.MatchString(name) {
		return "", fmt.Errorf("%w: a sub-agent's name is 1 to 64 letters, digits, dots, dashes and underscores: %.80q",
			ErrKey, name)
	}
	return key + childMark + name, nil
}

// Child opens the session of a sub-agent of s, as [Store.Open] does. A name is 1 to 64 letters, digits, dots, dashes
// and underscores; the error for others is [ErrKey], so a model may choose it. The same name continues the same
// sub-agent.
func (s *Session) Child(ctx context.Context, name string) (*Session, error) {
	key, err := childKey(s.key, name)
	if err != nil {
		return nil, err
	}
	return s.store.Open(ctx, key)
}

// Capsule returns the result of the call that a sub-agent worked for: its newest answer, at most a sixteenth of the
// window of s, and the handle by which [Session.RunTool] reads its log (the manager's options must have Recall). Append
// it. IsError is set if the sub-agent has not answered, or has open calls. The error is [ErrNotFound] if there is no
// such sub-agent.
func (s *Session) Capsule(ctx context.Context, name string, call winnow.Part) (winnow.Message, error) {
	view, err := s.readChild(ctx, name)
	if err != nil {
		return winnow.Message{}, err
	}
	s.mu.Lock()
	m, err := s.ready()
	s.mu.Unlock()
	if err != nil {
		return winnow.Message{}, err
	}
	text := "[The sub-agent has not answered.]"
	for i := len(view.History) - 1; i >= 0; i-- {
		if h := &view.History[i]; h.Role == winnow.RoleAssistant {
			if said := (Answer{Message: *h}).Text(); said != "" {
				text = said
			}
			break
		}
	}
	result := Result(call.ID, call.Name, text)
	result.IsError = view.Interrupted() != nil
	estimator, err := s.estimator()
	if err != nil {
		return winnow.Message{}, err
	}
	list, _ := winnow.TruncateToolResults([]winnow.Message{result}, m.Window(),
		&winnow.TruncateOptions{MaxShare: capsuleShare, Estimator: estimator})
	const note = "\n[sub-agent %s, %d messages: recall %s%s shows them, in part with words, a pattern or lines]"
	list[0].Parts[0].Text += fmt.Sprintf(note, name, len(view.History), childHandle, name)
	return list[0], nil
}

// estimator returns the one that the manager has.
func (s *Session) estimator() (winnow.Estimator, error) {
	_, o := s.store.opts.Manager(s.key)
	switch {
	case o == nil:
		return winnow.NewEstimator("")
	case o.Estimator != nil:
		return o.Estimator, nil
	}
	return winnow.NewEstimator(winnow.FamilyForModel(o.Model))
}

// readChild reads the session of a sub-agent of s or, in a fork, of the sessions that it was forked from.
func (s *Session) readChild(ctx context.Context, name string) (*View, error) {
	for key := s.key; ; {
		of, err := childKey(key, name)
		if err != nil {
			return nil, err
		}
		view, err := s.store.Read(ctx, of)
		if !errors.Is(err, ErrNotFound) {
			return view, err
		}
		origin, inErr := s.store.origin(ctx, key)
		if inErr != nil || origin == "" {
			return nil, err
		}
		key = origin
	}
}

// origin returns the session that the newest log of a session was forked from, or "".
func (s *Store) origin(ctx context.Context, key string) (string, error) {
	for e, err := range s.Entries(ctx, key) { // the first is the header
		if err != nil || e.From == nil {
			return "", err
		}
		return e.From.Session, nil
	}
	return "", nil
}

// recallChild answers a call of the recall tool with a handle of a capsule. ok is false for other calls.
func (s *Session) recallChild(ctx context.Context, m *winnow.Manager, call winnow.Part) (result winnow.Message,
	ok bool, err error) {
	given := strings.TrimSpace(recall.ReadCall(call.Arguments).Given)
	name, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(given, recall.Name)), childHandle)
	if !ok {
		return winnow.Message{}, false, nil
	}
	view, err := s.readChild(ctx, name)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrKey) {
		result = Result(call.ID, call.Name, "["+recall.Name+": this conversation has no such sub-agent]")
		result.IsError = true
		return result, true, nil
	}
	if err != nil {
		return winnow.Message{}, true, err
	}
	result, err = m.RecallText(ctx, childHandle+name, "the sub-agent "+name, transcriptOf(view), call.Arguments)
	return result, true, err
}

// transcriptOf returns what a sub-agent's history shows, as text.
func transcriptOf(v *View) string {
	var b strings.Builder
	for i := range v.History {
		m := &v.History[i]
		fmt.Fprintf(&b, "%d. %s %s\n", i+1, m.Role, m.ToolName)
		for k := range m.Parts {
			switch p := &m.Parts[k]; p.Kind {
			case winnow.KindText:
				b.WriteString(p.Text + "\n")
			case winnow.KindToolCall:
				fmt.Fprintf(&b, "%s %s\n", p.Name, p.Arguments)
			}
		}
	}
	return b.String()
}
