package winnow

import (
	"errors"
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/cut"
)

// The size of a request's body in bytes, for providers that refuse what is too large however few tokens
// it has: images are cheap in tokens and large in bytes.

// bytes is about the size of the request's body, without what is not in the history.
func (d *draft) bytes() int {
	v := d.view
	n := 0
	for i, f := range v.facts {
		body := f.body
		if p := v.edited[i]; p != nil {
			if p.body == 0 {
				p.body = bodySize(&v.messages[i])
			}
			body = p.body
		}
		n = count.Add(n, int(body))
	}
	return n
}

// fitsBody reports whether the body is within its limit, as far as one is known.
func (d *draft) fitsBody() bool {
	limit := d.bodyLimit()
	return limit == 0 || d.bytes() <= limit
}

// plannedBody is how much of a body's limit a request is planned for whose text alone is too large: a tenth is
// for what is not proportional, such as a summary with more line ends than the text that it stands for.
const plannedBody = 0.9

// bodyTokens is how many tokens a request may have so that its body fits, by what this one has: a summary helps
// where neither images nor results are left to shrink. 0: it fits.
func (d *draft) bodyTokens() int {
	limit, bytes := d.bodyLimit(), d.bytes()
	if limit == 0 || bytes <= limit {
		return 0
	}
	return plannedTokens(d.tokens(), limit, bytes)
}

// tokensForBody is bodyTokens for a request that could not be made. It is 0 if that was not for its body.
func tokensForBody(err error) int {
	var e *OverflowError
	if !errors.As(err, &e) || e.MaxBytes == 0 || e.Bytes <= e.MaxBytes {
		return 0
	}
	return plannedTokens(e.Tokens, e.MaxBytes, e.Bytes)
}

// plannedTokens is how many tokens a body within limit bytes is planned for, by one that has these tokens and bytes.
func plannedTokens(tokens, limit, bytes int) int {
	return max(1, int(plannedBody*float64(tokens)*float64(limit)/float64(bytes)))
}

const imageMarker = "[Image left out: the request was too large]"

// A body that is too large goes down to these shares of its limit in one go. A conversation of screenshots would
// otherwise lose one image, and with it the prompt cache, in every request. Old screenshots are worth little: an agent
// that takes one of 400 KB a turn, within 10 MB, has its prefix rewritten 8 times in 120 requests at a half, and 12
// times at 0.7. Results are worth more.
const (
	imagesLowWater  = 0.5
	resultsLowWater = 0.7
)

// Where few images fit, half of them are soon there again. So at least 15 go, as long as 3 stay. Anthropic's
// example of a computer-use agent sends the newest 3. 15 at a time are 8 rewrites in 120 requests.
const leastImagesGone, leastImagesLeft = 15, 3

// shrinkBody shrinks a body that is too large: the oldest images become markers, then the oldest results are cleared,
// both down to a low-water mark. What the newest step brought goes only where the limit cannot be met otherwise.
func (d *draft) shrinkBody() bool {
	limit, size := d.bodyLimit(), d.bytes()
	if limit == 0 || size <= limit {
		return true
	}
	newest, all := d.newestStep(), len(d.view.messages)
	request := newestRequest(d.view.messages)
	dropImages := func(i int) int { return d.dropImages(i, request) }
	fewImages := min(count.Share(limit, imagesLowWater), max(0, size-d.bytesOfOldImages()))
	for _, step := range []struct {
		drop func(i int) int
		end  int // of the messages that it may take from
		goal int // bytes
	}{
		{dropImages, newest, fewImages},
		{d.clearResult, newest, count.Share(limit, resultsLowWater)},
		// No low water below: of what the model works with no more goes than has to.
		{dropImages, all, limit},
		{d.clearResult, all, limit},
	} {
		if size <= limit {
			return true
		}
		for i := 0; i < step.end && size > step.goal; i++ { // the oldest first
			size -= step.drop(i)
		}
	}
	return size <= limit
}

// bytesOfOldImages is what the oldest images have of the body: leastImagesGone of them, less if fewer than
// leastImagesLeft would stay.
func (d *draft) bytesOfOldImages() (bytes int) {
	var sizes []int
	for i := range d.view.messages {
		for k := range d.view.messages[i].Parts {
			if p := &d.view.messages[i].Parts[k]; p.Kind == KindImage {
				sizes = append(sizes, p.Bytes)
			}
		}
	}
	return count.Sum(sizes[:min(leastImagesGone, max(0, len(sizes)-leastImagesLeft))])
}

// newestStep returns the position of the newest message of the model, or 0: what follows is what it works with.
func (d *draft) newestStep() int {
	v := d.view
	for i := len(v.messages) - 1; i >= 0; i-- {
		if v.messages[i].Role == RoleAssistant {
			return i
		}
	}
	return 0
}

// dropImages puts a marker in the place of each image of message i, and returns the bytes that it saved. Pins, system
// messages and the newest request, which is at position request, keep theirs, and signed images, which a model made,
// are sent back as they came.
func (d *draft) dropImages(i, request int) int {
	m := d.view.messages[i]
	if m.Pinned || m.Role == RoleSystem || i == request {
		return 0
	}
	var parts []Part
	for k := range m.Parts {
		if m.Parts[k].Kind != KindImage || m.Parts[k].Signature != "" {
			continue
		}
		if parts == nil {
			parts = append(parts, m.Parts...)
		}
		parts[k] = Part{Text: imageMarker}
	}
	if parts == nil {
		return 0
	}
	return d.replaceForBody(i, parts, "its images are left out: the request body is too large")
}

// clearResult puts the placeholder in the place of message i if it is a result, and returns the bytes that it saved.
func (d *draft) clearResult(i int) int {
	if m := &d.view.messages[i]; m.Role != RoleTool || m.Pinned {
		return 0
	}
	return d.replaceForBody(i, []Part{{Text: cut.WithNote(d.opts.Prune.Placeholder, d.recallNote(i))}},
		"cleared: the request body is too large")
}

// hasImage reports whether m shows an image.
func hasImage(m *Message) bool {
	return slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Kind == KindImage })
}

// replaceForBody puts parts in the place of those of message i, and returns the bytes that it saved. What would save
// nothing, or cost more tokens, stays: an image is the exception, because its marker may be estimated higher.
func (d *draft) replaceForBody(i int, parts []Part, reason string) int {
	m := d.view.messages[i]
	before := messageBytes(&m)
	m.Parts, m.Source = parts, nil
	saved := before - messageBytes(&m)
	tokens := estimateWith(d.opts.Estimator, m)
	if saved <= 0 || tokens > d.view.tokens[i] && !hasImage(&d.view.messages[i]) {
		return 0
	}
	d.project(i, m, tokens, OpClear, reason)
	return saved
}

// bodyLimit is the host's limit, the provider's or what is guessed, in bytes; 0: none is known.
func (d *draft) bodyLimit() int {
	return count.Least(d.ledger.toldBody(d.settings), d.accounting.body.Most)
}
