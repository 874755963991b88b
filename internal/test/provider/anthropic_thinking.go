package provider

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
)

// signature is what a thinking block is signed with: which of an answer's blocks it is, what it says,
// and what stood before it. It holds all that is needed to check it, as the real ones do.
type signature struct {
	Answer, Index, Size int    // of the answers, and of its blocks of thinking
	Text, Prefix        []byte // hashes of model and thinking, and of the prompt
}

// sign makes the signature of the i-th thinking block of an answer. Behind a compaction nothing stood before it.
func sign(r *Request, id string, a *Answer, i int) string {
	prefix := r.prefixes[len(r.prefixes)-1]
	if a.Compaction != "" {
		prefix = r.prefixes[0]
	}
	answer, _ := strconv.Atoi(id)
	plain, _ := json.Marshal(signature{answer, i, len(a.Thinking), thoughtHash(r.Model, a.Thinking[i]), prefix[:8]})
	return base64.StdEncoding.EncodeToString(plain)
}

func thoughtHash(model, text string) []byte {
	sum := sha256.Sum256([]byte(model + "\x00" + text))
	return sum[:8]
}

func readSignature(text string) (s signature, ok bool) {
	plain, err := base64.StdEncoding.DecodeString(text)
	return s, err == nil && json.Unmarshal(plain, &s) == nil
}

// checkThinkingOrder: where there is thinking in a message, it comes first.
func checkThinkingOrder(_ *Provider, m *messagesRequest, _ *Request) *Error {
	for i, t := range m.Messages {
		if blocks := t.written(); t.Role != "assistant" || len(blocks) == 0 || blocks[0].thinks() {
			continue
		}
		if slices.ContainsFunc(t.Content.blocks, func(b contentBlock) bool { return b.thinks() }) {
			return broken("ANT-THINK-FIRST", "messages.%d.content.0.type: If an assistant message contains any "+
				"thinking blocks, the first block must be `thinking` or `redacted_thinking`. Found `%s`.", i,
				t.Content.blocks[0].Type)
		}
	}
	return nil
}

// checkThinkingKept: with thinking on, the messages of the tool loop that goes on must begin with
// thinking. The first one always, later ones if their answer did.
func checkThinkingKept(p *Provider, m *messagesRequest, _ *Request) *Error {
	if !m.Thinking.on() {
		return nil
	}
	start := 0
	for i, t := range m.Messages {
		if t.Role == "user" && !slices.ContainsFunc(t.Content.blocks, func(b contentBlock) bool { return b.result() }) {
			start = i
		}
	}
	first := true
	for i := start; i < len(m.Messages); i++ {
		t := &m.Messages[i]
		blocks := t.written()
		if t.Role != "assistant" || len(blocks) == 0 {
			continue
		}
		must := first && m.Thinking.Type == "enabled"
		for _, c := range t.message().Calls {
			p.mu.Lock()
			must = must || p.thought[c.ID]
			p.mu.Unlock()
		}
		calls := slices.ContainsFunc(t.Content.blocks, func(b contentBlock) bool { return b.Type == "tool_use" })
		if b := blocks[0]; must && calls && !b.thinks() {
			return broken("ANT-THINK-MISSING", "messages.%d.content.0.type: Expected `thinking` or "+
				"`redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must "+
				"start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). "+
				"We recommend you include thinking blocks from previous turns. To avoid this requirement, disable "+
				"`thinking`.", i, b.Type)
		}
		first = false
	}
	return nil
}

// checkSignatures verifies what comes back: unchanged thinking everywhere, all of it in the latest
// assistant message, and, if thinking is bound to it, all that stood before.
func checkSignatures(p *Provider, m *messagesRequest, r *Request) *Error {
	latest := -1
	for i, t := range m.Messages {
		if t.Role == "assistant" {
			latest = i
		}
	}
	for i := range m.Messages {
		if err := checkTurnSignatures(p, m, r, i, i == latest); err != nil {
			return err
		}
	}
	return nil
}

func checkTurnSignatures(p *Provider, m *messagesRequest, r *Request, i int, latest bool) *Error {
	next, size := 0, 0
	modified := func(k int) *Error {
		return broken("ANT-THINK-MODIFIED", "messages.%d.content.%d: `thinking` or `redacted_thinking` blocks in the "+
			"latest assistant message cannot be modified. These blocks must remain as they were in the original "+
			"response.", i, k)
	}
	for k, b := range m.Messages[i].Content.blocks {
		if b.Type != "thinking" {
			continue
		}
		s, ok := readSignature(b.Signature)
		isOfText := ok && bytes.Equal(s.Text, thoughtHash(m.Model, b.Thinking))
		rule := ""
		switch {
		case latest && (b.Signature == "" || ok && (!isOfText || s.Index != next)):
			return modified(k)
		case !isOfText:
			rule = "ANT-THINK-SIG"
		case p.o.BindThinking && !bytes.Equal(s.Prefix, r.prefixes[i][:8]):
			rule = "ANT-THINK-PREFIX"
		}
		if rule != "" {
			return broken(rule, "messages.%d.content.%d: Invalid `signature` in `thinking` block", i, k)
		}
		next, size = next+1, s.Size
	}
	if latest && next != size {
		return modified(next)
	}
	return nil
}
