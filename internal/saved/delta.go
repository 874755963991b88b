package saved

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/winnowgo/winnow/internal/place"
)

// Delta is what a snapshot holds now and did not hold at the delta before. Sent has the keys from From on; Names,
// Edits and Records have the new ones. Everything else is written in full, because it is small.
type Delta struct {
	Snapshot                   // Deltas is the number of this one, from 1
	From           int         `json:"from"`
	Gone           []place.Key `json:"gone,omitempty"`        // edits that are of no use any more
	GoneRecords    []place.Key `json:"goneRecords,omitempty"` // likewise, by their runs
	SameCheckpoint bool        `json:"sameCheckpoint,omitempty"`
	Whole          bool        `json:"whole,omitempty"` // it takes the place of all that is before it
}

var errNoSuccessor = errors.New("it does not follow what is before it")

// Add adds a delta. One that s holds already changes nothing.
func (s *Snapshot) Add(text []byte) error {
	var d Delta
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	switch {
	case d.Winnow != Version || d.Deltas <= 0:
		return fmt.Errorf("no delta of version %d", Version)
	case d.Deltas <= s.Deltas:
		return nil
	case d.Whole: // deltas between the two may be there or not: their writing failed
		*s = d.Snapshot
		return nil
	case d.Deltas != s.Deltas+1, d.From < 0, d.From > len(s.Sent):
		return errNoSuccessor
	}
	sent, edits, checkpoint, names := append(s.Sent[:d.From:d.From], d.Sent...), s.Edits, s.Checkpoint, s.Names
	for _, n := range d.Names {
		names = AddNames(names, n)
	}
	if edits == nil {
		edits = map[place.Key]Edit{}
	}
	for _, k := range d.Gone {
		delete(edits, k)
	}
	maps.Copy(edits, d.Edits)
	records := slices.DeleteFunc(s.Records, func(r Record) bool { return slices.Contains(d.GoneRecords, r.Run) })
	records = append(records, d.Records...)
	*s = d.Snapshot
	s.Sent, s.Edits, s.Records, s.Names = sent, edits, records, names
	if d.SameCheckpoint {
		s.Checkpoint = checkpoint
	}
	return nil
}
