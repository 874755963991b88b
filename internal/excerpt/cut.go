package excerpt

import (
	"math"

	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/runes"
)

// Cuts shorten long texts to their ends, with a note that says how much is missing.

// Limits say how texts are cut.
type Limits struct {
	MinKeep  int    // characters that are kept of each text in any case
	Notice   string // stands behind what is cut; "": a text that says how much is missing
	Note     string // says in the notice how to get at what is missing; "": nothing is said of that
	HeadOnly bool   // only the beginning is kept
	BothEnds bool   // unless HeadOnly is set, the end is kept whether or not it reports something
}

// Text is one of the texts that share a room.
type Text struct {
	Text   string
	Index  int // where the caller has it
	Chars  int
	floor  int // characters below which it is not cut, the notice included
	budget int // characters that it may have, the notice included
}

// SetFloors finds out below which length each of the texts is not cut.
func (l *Limits) SetFloors(texts []Text) {
	for i := range texts {
		texts[i].floor = l.floor(texts[i].Chars)
	}
}

func (l *Limits) floor(chars int) int { return l.MinKeep + l.noticeChars(chars) }

// Share gives each text its part of a room in characters by its length, and at least its floor. chars is the length
// of all texts together. It reports whether no text can get shorter than it is now.
func (l *Limits) Share(texts []Text, chars int, room float64) (atFloor bool) {
	for i := range texts {
		texts[i].budget = 0
	}
	left, open := room, float64(chars)
	rounds := 8 // every round fixes at least one text; the few that a last round would fix matter little
	if l.HeadOnly {
		rounds = 0 // the reference lets texts at their floor add to the others
	}
	for range rounds {
		more := false
		for i := range texts {
			t := &texts[i]
			need := float64(min(t.Chars, t.floor))
			if t.budget == 0 && t.Chars > 0 && left*float64(t.Chars)/open < need {
				t.budget = int(need)
				left, open, more = left-need, open-float64(t.Chars), true
			}
		}
		if !more || left <= 0 {
			break
		}
	}
	atFloor = true
	for i := range texts {
		t := &texts[i]
		if t.budget == 0 {
			t.budget = max(t.floor, int(math.Floor(max(0, left)*(float64(t.Chars)/max(1, open)))))
		}
		atFloor = atFloor && (t.budget <= t.floor || t.Chars <= t.floor)
	}
	return atFloor
}

// Cut returns t within the room that [Limits.Share] gave it. It is false if t does not get shorter.
func (l *Limits) Cut(t *Text) (text string, ok bool) {
	if t.Chars <= t.budget {
		return "", false
	}
	keep := max(l.MinKeep, t.budget-l.noticeChars(t.Chars))
	var e Excerpt
	if l.HeadOnly {
		e = Excerpt{head: t.Text[:runes.LineEnd(t.Text, keep)]}
	} else {
		e = New(t.Text, keep, l.BothEnds)
	}
	text = e.String() + l.notice(t.Chars-e.Kept(), t.Chars)
	return text, len(text) < len(t.Text)
}

// WereCut reports whether any of the texts was cut before, and how many characters are kept of all of them in any case.
// The notice of a cut says how long the text was before it.
func (l *Limits) WereCut(texts []Text) (cut bool, floors float64) {
	for i := range texts {
		floor := texts[i].floor
		if whole, ok := l.wholeChars(texts[i].Text); ok {
			cut, floor = true, l.floor(whole)
		}
		floors += float64(floor)
	}
	return cut, floors
}

// Trim says how many characters of a text are kept at its beginning and at its end. Source of the form: the reference
// system.
type Trim struct {
	Head, Tail int
	Note       string // see Limits
}

// Text returns the ends of s, with a note. chars is how many characters s has.
func (t Trim) Text(s string, chars int) string {
	head, tail := s[:runes.Head(s, t.Head)], s[runes.Tail(s, t.Tail):]
	b := make([]byte, 0, len(head)+len(tail)+len(t.Note)+128)
	b = append(append(append(b, head...), trimGap...), tail...)
	return mem.String(t.appendNote(b, chars))
}

// Chars returns how many characters [Trim.Text] leaves of a text that has chars.
func (t Trim) Chars(chars int) int {
	var room [256]byte // on the stack: it is asked of each result
	return t.Head + len(trimGap) + t.Tail + len(t.appendNote(room[:0], chars))
}
