package winnow

import (
	"bytes"
	"encoding/base64"
	"slices"

	"github.com/winnowgo/winnow/internal/minify"
)

// edit is what is sent in place of a message of the history, and why. An [Edit] reports it.
type edit struct {
	parts  []Part // in place of the message's own; nothing else of it changes. nil: text alone
	text   string
	key    key // of the message with them
	tokens int
	op     Op
	reason string
	forms  minify.Forms // of redundancy that are gone, for OpMinify

	undecoded bool   // from a snapshot, which has no tokens of it, and may be damaged
	body      uint32 // bytes of a request's body; 0: not asked for yet

	// the key, as it is sent, of the earlier message that shows the lines left out here; nil: none were left out for
	// that
	repeats *key
}

// read sets the parts, the key and the tokens of p by m, the message that it edits. A snapshot may have another key.
func (p *edit) read(m *Message, e Estimator, h *hasher) {
	if p.forms != 0 {
		parts, _, _ := minifiedParts(m.Parts, p.forms, "")
		if parts == nil {
			parts = slices.Clone(m.Parts)
		}
		p.setParts(parts)
	}
	sent := *m
	sent.Parts, sent.Source = p.sent(), nil
	p.key, p.tokens, p.undecoded = h.key(&sent), estimateWith(e, sent), false
}

// isRepeat reports whether p leaves out what an earlier message shows. p may be nil.
func (p *edit) isRepeat() bool { return p != nil && p.repeats != nil }

// isCut reports whether p shows only the ends of a result. p may be nil.
func (p *edit) isCut() bool { return p != nil && (p.op == OpTruncate || p.op == OpTrim) }

// report returns the Edit that reports p: it is of message m, which was at index i of the history and has fact f.
func (p *edit) report(i int, m *Message, f *fact) Edit {
	return Edit{Op: p.op, Index: i, ID: m.ID, Before: max(1, f.tokens), After: max(1, p.tokens), Reason: p.reason}
}

// newEdit returns the edit that puts parts in the place of a message's own.
func newEdit(parts []Part) *edit {
	p := &edit{}
	p.setParts(parts)
	return p
}

// withOwnArguments gives parts, a list of the caller's own, arguments in memory of their own, and returns it. A host
// that decodes its log again into the same memory overwrites its bytes.
func withOwnArguments(parts []Part) []Part {
	for i := range parts {
		parts[i].Arguments = bytes.Clone(parts[i].Arguments)
	}
	return parts
}

// setParts makes p send parts. Most edits send a single part with nothing but a text: only that text is kept.
func (p *edit) setParts(parts []Part) {
	if len(parts) == 1 && sameParts(&parts[0], &Part{Text: parts[0].Text}) && parts[0].Source == nil {
		p.parts, p.text = nil, parts[0].Text
		return
	}
	p.parts, p.text = parts, ""
}

// sent returns the parts that are sent.
func (p *edit) sent() []Part {
	if p.parts == nil {
		return []Part{{Text: p.text}}
	}
	return p.parts
}

// What an edit, and each part of it, takes in a snapshot besides its texts, in bytes: keys, the reason and the names of
// the fields.
const savedEditBytes, savedPartBytes = 200, 60

// size returns about how many bytes p takes in a snapshot. It is the same for an edit that was restored.
func (p *edit) size() int {
	switch {
	case p.forms != 0: // its text is not stored: it is made from the message's own
		return savedEditBytes
	case p.parts == nil:
		return savedEditBytes + savedPartBytes + base64.StdEncoding.EncodedLen(len(p.text))
	}
	n := savedEditBytes
	for i := range p.parts {
		part := &p.parts[i]
		n += savedPartBytes + base64.StdEncoding.EncodedLen(len(part.Text)+len(part.Arguments))
		n += len(part.Signature) + len(part.ID) + len(part.Name)
	}
	return n
}

// partsLook is how many parts of a message are searched for the original of a part of an edit.
const partsLook = 64

// partsFor returns the parts that are sent in place of those of m, each with the Source that the host has on that part
// now. The parts in earlier requests are not changed.
func (p *edit) partsFor(m *Message) []Part {
	parts := p.sent()
	if p.parts == nil {
		return parts
	}
	parts = slices.Clone(parts)
	next := 0 // parts keep their order
	for i := range parts {
		parts[i].Source = nil
		for k := next; k < min(len(m.Parts), next+partsLook); k++ {
			if sameParts(&parts[i], &m.Parts[k]) {
				parts[i].Source, next = m.Parts[k].Source, k+1
				break
			}
		}
	}
	return parts
}

// haveSameCalls reports whether a and b hold calls with the same ids, in the same order. Edits never change them.
func haveSameCalls(a, b []Part) bool {
	k := 0
	for i := range a {
		if a[i].Kind != KindToolCall {
			continue
		}
		for k < len(b) && b[k].Kind != KindToolCall {
			k++
		}
		if k == len(b) || a[i].ID != b[k].ID {
			return false
		}
		k++
	}
	return !slices.ContainsFunc(b[k:], func(p Part) bool { return p.Kind == KindToolCall })
}

// sameParts reports whether a provider is sent the same for a and b.
func sameParts(a, b *Part) bool {
	switch {
	case a.Kind != b.Kind || a.Text != b.Text || a.Signature != b.Signature:
		return false
	case a.ID != b.ID || a.Name != b.Name || !bytes.Equal(a.Arguments, b.Arguments):
		return false
	case a.MediaType != b.MediaType || a.Bytes != b.Bytes:
		return false
	}
	isSameSize := a.Width == b.Width && a.Height == b.Height
	return isSameSize && a.Pages == b.Pages && a.Seconds == b.Seconds && a.Tokens == b.Tokens
}
