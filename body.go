package winnow

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/markup"
)

// The size of a request's body in bytes. Some providers refuse a body that is too large, however few tokens it has:
// images are cheap in tokens and large in bytes.

// bytes estimates the size of the request's body, without what is not in the history, such as the schemas of tools.
func (d *draft) bytes() int {
	n := 0
	for _, x := range d.items {
		n = count.Add(n, x.size())
	}
	return n
}

// fitsBody reports whether the body, and how many images it has, are within their limits, as far as these are known.
func (d *draft) fitsBody() bool {
	limit := d.bodyLimit()
	return (limit == 0 || d.bytes() <= limit) && d.fitsImages()
}

func (d *draft) fitsImages() bool { return d.ledger.images == 0 || d.images() <= d.ledger.images }

// images returns how many images the request has.
func (d *draft) images() (n int) {
	for _, x := range d.items {
		for k := range x.sent.Parts {
			if x.sent.Parts[k].Kind == KindImage {
				n++
			}
		}
	}
	return n
}

// leaveOutSurplus leaves out images, the oldest first, until the provider takes how many there are: of old steps down
// to a low-water mark, of the newest step no more than necessary.
func (d *draft) leaveOutSurplus() {
	n, most := d.images(), d.ledger.images
	request := newestRequest(d.sent())
	for _, step := range []struct{ end, goal int }{
		{newestAnswers(d.sent(), 1), count.Share(most, imagesLowWater)}, {len(d.items), most},
	} {
		if n <= most {
			return
		}
		for i := 0; i < step.end && n > step.goal; i++ {
			if i != request {
				n -= d.leaveOutFirst(i, n-step.goal)
			}
		}
	}
}

// leaveOutFirst replaces the first images of message i, at most n, by a line each, and returns how many these were.
func (d *draft) leaveOutFirst(i, n int) (gone int) {
	m := *d.items[i].sent
	line := d.imageLine(i)
	parts := partsWithoutImages(&m, func(p *Part) string {
		gone++
		return line(p)
	}, n)
	if gone > 0 {
		m.Parts, m.Source = parts, nil
		d.edit(i, m, estimateWith(d.opts.Estimator, m), OpClear, "its images are left out: the provider takes fewer")
	}
	return gone
}

// plannedBody is the share of a body's limit that a request is planned for if its text alone is too large. The other
// tenth is for bytes that are not proportional to tokens: a summary may have more line ends than the text that it
// stands for.
const plannedBody = 0.9

// tokensForBody returns how many tokens the next try may plan for, if err says that the body of a request was too
// large. The tokens are in proportion to the bytes that the body may have. For any other error tokensForBody returns 0.
// A plan with fewer tokens calls for a summary, which helps where no image or result is left to shrink.
func tokensForBody(err error) int {
	var e *OverflowError
	if !errors.As(err, &e) || e.MaxBytes == 0 || e.Bytes <= e.MaxBytes {
		return 0
	}
	return max(1, int(plannedBody*float64(e.Tokens)*float64(e.MaxBytes)/float64(e.Bytes)))
}

// imageLine returns a function that writes what stands for an image of message i: its kind, its size and its handle.
func (d *draft) imageLine(i int) func(*Part) string {
	note := d.recallNote(i)
	return func(p *Part) string { return describeImage(p) + note + "]" }
}

// describeImage begins a line about an image that is left out.
func describeImage(p *Part) string {
	text := "[Image left out: " + markup.Attribute(cmp.Or(p.MediaType, "unknown kind"))
	if p.Width > 0 && p.Height > 0 {
		text += fmt.Sprintf(", %d×%d", p.Width, p.Height)
	}
	return text
}

// A body that is too large is shrunk to these shares of its limit in one go. Otherwise a conversation of screenshots
// would lose one image, and with it the prompt cache, in every request. Old screenshots are worth little. An agent that
// takes one of 400 KB in each turn, within 10 MB, rewrites its prefix in 8 of 120 requests at 0.5, and in 12 at 0.7.
// Results are worth more.
const (
	imagesLowWater  = 0.5
	resultsLowWater = 0.7
)

// Where few images fit, half of them soon come again. So at least 15 are removed at a time, as long as 3 stay. With 15
// at a time, 8 of 120 requests rewrite the prefix. Anthropic's example of a computer-use agent sends the newest 3.
const leastImagesGone, leastImagesLeft = 15, 3

// shrinkBody shrinks a body that is too large, and reports whether it fits then. The oldest images become markers, then
// the oldest results are cleared, both down to a low-water mark. What the model has not seen follows only if the limit
// cannot be met otherwise: images, then results, which are cut before they are cleared.
func (d *draft) shrinkBody() bool {
	if !d.fitsImages() {
		d.leaveOutSurplus()
	}
	limit, size := d.bodyLimit(), d.bytes()
	if limit == 0 || size <= limit {
		return d.fitsImages()
	}
	d.showRepeats()
	size = d.bytes()
	request := newestRequest(d.sent())
	dropImages := func(i int) int {
		if i == request {
			return 0
		}
		return d.dropImages(i)
	}
	fewImages := min(count.Share(limit, imagesLowWater), max(0, size-d.bytesOfOldImages()))
	cutResult := func(i int) int { return d.cutForBody(i, size-limit) }
	for _, step := range []struct {
		drop   func(i int) int
		unseen bool // it may take from what the model has not seen
		goal   int  // bytes
	}{
		{dropImages, false, fewImages},
		{d.clearResult, false, count.Share(limit, resultsLowWater)},
		// These stop at the limit itself: no more is dropped than necessary.
		{dropImages, true, limit},
		{cutResult, true, limit},
		{d.clearResult, true, limit},
	} {
		if size <= limit {
			return true
		}
		for i := 0; i < len(d.items) && size > step.goal; i++ { // the oldest first
			if step.unseen || !d.isUnseen(i) {
				size -= step.drop(i)
			}
		}
	}
	return size <= limit
}

// bytesOfOldImages returns the bytes of the oldest leastImagesGone images, or of fewer, so that leastImagesLeft stay.
func (d *draft) bytesOfOldImages() (bytes int) {
	var sizes []int
	for _, x := range d.items {
		for k := range x.sent.Parts {
			if p := &x.sent.Parts[k]; p.Kind == KindImage {
				sizes = append(sizes, p.Bytes)
			}
		}
	}
	return count.Sum(sizes[:min(leastImagesGone, max(0, len(sizes)-leastImagesLeft))])
}

// isOptionalImage reports whether p is an image that may be left out. A signed image was made by a model and is sent
// back as it came.
func isOptionalImage(p *Part) bool { return p.Kind == KindImage && p.Signature == "" }

// dropImages replaces each image of message i that may be left out by a line, and returns the bytes that this saved.
func (d *draft) dropImages(i int) int {
	parts := partsWithoutImages(d.items[i].sent, d.imageLine(i), -1)
	if parts == nil {
		return 0
	}
	return d.replaceForBody(i, parts, "its images are left out: the request body is too large")
}

// partsWithoutImages returns the parts of m with a line in the place of each of the first n images that may be left
// out. It returns nil if there is none.
func partsWithoutImages(m *Message, line func(*Part) string, n int) (parts []Part) {
	if m.Pinned || m.Role == RoleSystem {
		return nil
	}
	for k := range m.Parts {
		if n == 0 || !isOptionalImage(&m.Parts[k]) {
			continue
		}
		n--
		if parts == nil {
			parts = append(parts, m.Parts...)
		}
		parts[k] = Part{Text: line(&m.Parts[k])}
	}
	return parts
}

// withoutImages returns message i with a line for each of its images, and its tokens. ok is false if that saves no
// tokens.
func (d *draft) withoutImages(i int) (m Message, tokens int, ok bool) {
	m = *d.items[i].sent
	if !hasImage(&m) {
		return m, d.items[i].tokens(), false
	}
	parts := partsWithoutImages(&m, d.imageLine(i), -1)
	if parts == nil {
		return m, d.items[i].tokens(), false
	}
	m.Parts, m.Source = parts, nil
	tokens = estimateWith(d.opts.Estimator, m)
	return m, tokens, tokens < d.items[i].tokens()
}

// cutForBody cuts message i, if it is a result, so that it has `over` bytes less. It returns the bytes that this
// saved.
func (d *draft) cutForBody(i, over int) int {
	before := d.items[i].size()
	left := float64(max(0, before-over)) / float64(max(1, before))
	d.cut(i, d.squeeze(count.Share(d.items[i].tokens(), left)), "the request body is too large")
	return before - d.items[i].size()
}

// clearResult replaces message i by the placeholder if it is a result and not pinned. It returns the bytes that this
// saved.
func (d *draft) clearResult(i int) int {
	if m := d.items[i].sent; m.Role != RoleTool || m.Pinned {
		return 0
	}
	return d.replaceForBody(i, []Part{{Text: excerpt.WithNote(d.opts.Prune.Placeholder, d.recallNote(i))}},
		"cleared: the request body is too large")
}

// replaceForBody replaces the parts of message i by parts, and returns the bytes that this saved. It changes nothing
// where that would save no bytes, or would cost more tokens. Only a message with an image may cost more tokens, because
// a marker may be estimated higher than its image.
func (d *draft) replaceForBody(i int, parts []Part, reason string) int {
	m := *d.items[i].sent
	before := messageBytes(&m)
	m.Parts, m.Source = parts, nil
	saved := before - messageBytes(&m)
	tokens := estimateWith(d.opts.Estimator, m)
	if saved <= 0 || tokens > d.items[i].tokens() && !hasImage(d.items[i].sent) {
		return 0
	}
	d.edit(i, m, tokens, OpClear, d.orUnseen(i, reason))
	return saved
}

// bodyLimit returns the lowest known limit of a body in bytes: the host's, the provider's or a guessed one. 0: no limit
// is known.
func (d *draft) bodyLimit() int {
	return count.Least(d.ledger.toldBody(d.settings), d.accounting.Body.Most)
}
