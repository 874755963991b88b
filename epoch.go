package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
)

// When what was sent is rewritten. A rewrite makes the provider write what lies behind it to its cache
// again, so that all that is stale is dropped together: at an epoch.

const (
	// lowWater is the share of the room that an epoch goes down to when a request does not fit, so that the
	// next ones do and their prefix stays in the prompt cache.
	lowWater = 0.5
	// Where an epoch cannot get below this share of the room, the next one would follow soon: a summary is
	// made at once, instead of after several rewrites that each free less. In the recorded sessions 0.7 and
	// 0.8 cost the same.
	crampedShare = 0.8
)

// rewrite is step 6. The reasons for an epoch are: the provider's cache is cold, so that all is written again
// anyway; the request does not fit; it pays.
func (d *draft) rewrite() {
	cold, none := d.isCold(), d.opts.Cache.None
	if d.opts.Thinking == ThinkingBound && d.fits() && slices.ContainsFunc(d.view.messages, hasThinking) {
		return // the price of an epoch is what the model thought
	}
	switch {
	case cold || !d.fits():
	case d.base != d.ledger.checkpoint: // behind a new summary all is written again
		d.epochSearch, d.cause = epochSearch{}, "behind a new summary everything is written to the cache again"
		d.drop(d.staleParts(false, 0))
		return
	default:
		d.cause = "carrying it further costs more than writing the cache again"
		d.rewriteIfItPays()
		return
	}
	d.epochSearch = epochSearch{}
	if cold {
		d.cause = "nothing is in the prompt cache"
		d.drop(d.staleParts(!none, 0))
		d.leanRecords(recordsShare)
		d.pruneAndCut()
	}
	pressed := !d.fits()
	if pressed {
		d.makeRoom()
	}
	wasIdle := cold && !none && !d.ledger.sentAt.IsZero()
	d.isCramped = (pressed || wasIdle) && d.view.total > count.Share(d.room(), crampedShare)
}

// makeRoom is the epoch of a request that does not fit. What is stale goes whatever it saves; of what is not,
// the oldest, until there is room for the next requests too.
func (d *draft) makeRoom() {
	d.isPressed, d.cause = true, "the request did not fit"
	goal := count.Share(d.room(), lowWater)
	d.dropTo(goal)
	if !d.fits() {
		d.pruneAndCut()
	}
	if !d.fits() {
		d.clearTo(goal)
	}
}

// dropTo drops what is stale, and of what is not the oldest, until the messages take at most so many tokens.
func (d *draft) dropTo(goal int) {
	d.drop(d.staleParts(false, 0))
	for d.view.total > goal && d.leanRecords(recordsShare) {
	}
	if d.view.total <= goal {
		return
	}
	list, left := d.staleParts(true, 0), d.view.total
	n := 0
	for n < len(list) && left > goal {
		left -= list[n].saving
		n++
	}
	d.drop(list[:n])
}

// pruneAndCut does what the options of the pure stages say.
func (d *draft) pruneAndCut() {
	o := d.opts
	if isSpared := o.Keep == KeepAll && d.isBelowStale(); !isSpared {
		d.prune(*o.Prune, d.windowEstimate())
	}
	t := newTruncation(*o.Truncate, d.windowEstimate())
	for i := range d.view.messages {
		d.cut(i, t, "the result is larger than one result may be")
	}
}

// isDue reports whether a search is due when there are so many answers.
func (l epochSearch) isDue(answers int) bool { return l.at == 0 || answers < l.at || answers >= l.next }

// rewriteIfItPays is the epoch of a request that fits while the cache is warm.
func (d *draft) rewriteIfItPays() {
	now := countAnswers(d.whole().messages)
	if !d.epochSearch.isDue(now) {
		return
	}
	tried := d.dropWhatPays(d.staleParts(false, 0))
	d.epochSearch = epochSearch{at: now, next: now + d.nextEpoch(tried)}
}

// dropWhatPays drops of the list what pays now. What a part saves is not known before its remainder is made:
// tried is what those save that were made and not used, by message; 0 for one that is not worth an edit.
func (d *draft) dropWhatPays(list []stalePart) (tried map[int]int) {
	from := d.whenItPays(list, 0)
	if from == len(list) {
		return nil
	}
	parts := d.remainders(list[from:])
	exact := make([]stalePart, len(parts))
	tried = make(map[int]int, len(list)-from)
	for _, s := range list[from:] {
		tried[s.index] = 0
	}
	next := from
	for k := range parts {
		exact[k] = parts[k].stalePart
		next = noteTried(tried, list, next, &exact[k])
	}
	d.replace(parts[d.whenItPays(exact, 0):])
	return tried
}

// noteTried notes what a part saves, which was made of those of the list from some one after next on, and returns the
// first that it was not made of. What a run saves is shared out as it was estimated of its atoms.
func noteTried(tried map[int]int, list []stalePart, next int, part *stalePart) (behind int) {
	for list[next].index < part.index {
		next++
	}
	if part.end == 0 {
		tried[part.index] = part.saving
		return next + 1
	}
	behind, estimated := next, 0
	for behind < len(list) && list[behind].index < part.end {
		estimated += list[behind].saving
		behind++
	}
	for _, s := range list[next:behind] {
		tried[s.index] = part.saving * s.saving / max(1, estimated)
	}
	return behind
}

// whenItPays returns the first of the list with which an epoch pays after so many more requests, or len(list).
//
// An epoch that begins at a message costs the difference between writing and reading for all that is kept
// behind it, once. What it would save in each request is the price of reading what it drops. How many
// requests are still to come nobody knows; a conversation that has gone on for long goes on for long. So an
// epoch pays when what its parts have cost since they became stale is what it costs itself: then it was at
// most twice as dear as the best decision in hindsight, whenever the conversation ends. (This is the rule for
// renting or buying; Karlin et al., Competitive Snoopy Caching, 1988.)
func (d *draft) whenItPays(list []stalePart, later int) int {
	v := d.view
	read, write := d.prices()
	best, from := 0.0, len(list)
	paid, saving, keptBehind := 0.0, 0, 0
	next := len(v.messages)
	for k := len(list) - 1; k >= 0; k-- {
		p := &list[k]
		for next > p.index {
			next--
			keptBehind = count.Add(keptBehind, v.tokens[next])
		}
		if p.overdue+later < 0 {
			continue
		}
		saving = count.Add(saving, p.saving)
		paid += read * float64(p.saving) * float64(p.overdue+later)
		price := (write-read)*float64(keptBehind-saving) - read*float64(saving)
		if gain := paid - price; gain > best {
			best, from = gain, k
		}
	}
	return from
}

// prices are those of a token that was sent before, and of one that was not.
func (d *draft) prices() (read, write float64) {
	c := d.opts.Cache
	if c.None {
		return 1, 1
	}
	return c.ReadPrice, c.WritePrice
}

// maxLook is how many requests ahead an epoch is looked for. In a long history it is an eighth of the
// messages: the look at them costs, shared out over the requests until then, what eight messages cost.
const maxLook = 16

// nextEpoch returns after how many more answers an epoch may pay: with what is in the request now. What comes
// meanwhile makes it dearer. tried is what dropWhatPays found out.
func (d *draft) nextEpoch(tried map[int]int) int {
	most := max(maxLook, len(d.view.messages)/8)
	list := d.staleParts(false, most)
	for k := range list {
		if saving, ok := tried[list[k].index]; ok {
			list[k].saving = saving
		}
	}
	low, high := 1, most
	for low < high { // what was paid only grows
		middle := (low + high) / 2
		if d.whenItPays(list, middle) < len(list) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}
