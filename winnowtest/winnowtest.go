// Package winnowtest has what tests of agents and adapters need.
//
// An agent is tested against a [Model], which answers by a script, counts, bills, and refuses what is too long in the
// words of a real provider. A [Summarizer] is a fake whose summaries are accepted, a [Conversation] a long session in a
// line. [Model.Check] and [CheckRequest] say what an agent does wrong: the example of Model is a whole test.
//
// An adapter is the pair of functions that turn a host's own messages into winnow's and back:
//
//	func TestAdapter(t *testing.T) {
//		winnowtest.Run(t, winnowtest.Adapter[mine.Message]{Import: Import, Export: Export, Valid: Valid})
//	}
//
// Run takes every history of [Histories] through the adapter and looks for errors that occur in practice: lost content,
// values that come back changed although nothing changed them, equal values that are not recognized when they are
// imported again, and lists that the provider refuses after a stage.
package winnowtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/winnowgo/winnow"
)

// Adapter is the adapter under test. T is the host's message, or the element of its lists.
type Adapter[T any] struct {
	Import func([]T) []winnow.Message
	Export func([]winnow.Message) []T

	// Valid returns an error for a list that a provider would refuse. It is not called for an empty list. Some
	// histories begin or end with an answer of the model. If your provider refuses the former, Export puts a message
	// in front. Accept the latter: such a history is not sent before somebody says more. nil: any list is valid.
	Valid func([]T) error

	// Copy returns equal values that share no memory with values, as if a host had read its history from a file. nil: a
	// copy through package json.
	Copy func(values []T) ([]T, error)

	// Marshal returns the bytes that are sent for a value. nil: [json.Marshal].
	Marshal func(T) ([]byte, error)
}

// Values is a list of the host's own values for a test, with content that only they can hold: cache markers,
// signatures, citations, unknown fields. It has to be valid.
type Values[T any] struct {
	Name   string
	Values []T
}

// Run checks a with every history of [Histories] and with the given values, each in a subtest.
func Run[T any](t *testing.T, a Adapter[T], values ...Values[T]) {
	t.Helper()
	for _, h := range Histories() {
		t.Run(h.Name, func(t *testing.T) {
			if err := a.CheckHistory(h.Messages); err != nil {
				t.Errorf("%s\n%v", h.Reason, err)
			}
		})
	}
	for _, v := range values {
		t.Run(v.Name, func(t *testing.T) {
			if err := a.CheckValues(v.Values); err != nil {
				t.Error(err)
			}
		})
	}
}

// CheckHistory repairs history, exports it and checks that the result is valid, that nothing is lost, that history is
// unchanged, and that the values pass [Adapter.CheckValues]. The error lists all findings.
func (a Adapter[T]) CheckHistory(history []winnow.Message) error {
	var f findings
	before := snapshot(history)
	repaired, _ := winnow.RepairToolPairing(history)
	values := a.Export(repaired)
	f.add("valid", a.valid(values))
	f.add("nothing lost", nothingLost(repaired, a.Import(values)))
	if snapshot(history) != before {
		f.add("history is not written", errors.New("the export changed what it was given"))
	}
	f.add("exported values", a.CheckValues(values))
	return f.err()
}

// CheckRoundTrip imports values and checks that they come back byte for byte. It is the fastest part of
// [Adapter.CheckValues], for very many histories.
func (a Adapter[T]) CheckRoundTrip(values []T) error {
	before, err := a.marshal(values)
	if err != nil {
		return err
	}
	return a.same(before, a.Export(a.Import(values)))
}

// CheckValues imports values. It checks that they come back byte for byte, that equal values give equal messages, that
// these need no repair, that the list is valid after each stage, that the stage leaves unedited values the same, and
// that values itself is unchanged. The error lists all findings.
func (a Adapter[T]) CheckValues(values []T) error {
	var f findings
	before, err := a.marshal(values)
	if err != nil {
		return err
	}
	imported := a.Import(values)
	if _, edits := winnow.RepairToolPairing(imported); len(edits) > 0 {
		f.add("imported as it is sent", fmt.Errorf("the repair changes message %d: %s", edits[0].Index,
			edits[0].Reason))
	}
	f.add("round trip", a.same(before, a.Export(imported)))
	f.add("recognised again", a.recognised(values, imported))
	f.add("stored and restored", a.valid(a.Export(withoutSource(imported))))
	for _, s := range stages(imported) {
		changed, edits := s.run(imported)
		out := a.Export(changed)
		f.add("valid after "+s.name, a.valid(out))
		f.add("untouched by "+s.name, a.untouched(before, out, len(edits)))
	}
	f.add("values are not written", a.same(before, values))
	return f.err()
}

func (a Adapter[T]) valid(values []T) error {
	if a.Valid == nil || len(values) == 0 {
		return nil
	}
	return a.Valid(values)
}

func (a Adapter[T]) marshal(values []T) ([]string, error) {
	out := make([]string, len(values))
	for i := range values {
		var b []byte
		var err error
		if a.Marshal != nil {
			b, err = a.Marshal(values[i])
		} else {
			b, err = json.Marshal(values[i])
		}
		if err != nil {
			return nil, fmt.Errorf("value %d cannot be written: %w", i, err)
		}
		out[i] = string(b)
	}
	return out, nil
}

// same reports values that differ from those written before.
func (a Adapter[T]) same(before []string, values []T) error {
	after, err := a.marshal(values)
	if err != nil {
		return err
	}
	for i := range min(len(before), len(after)) {
		if before[i] != after[i] {
			return fmt.Errorf("value %d is changed\nfrom %s\nto   %s", i, clip(before[i]), clip(after[i]))
		}
	}
	if len(before) != len(after) {
		return fmt.Errorf("%d values became %d", len(before), len(after))
	}
	return nil
}

// recognised checks that a copy of values gives the same messages.
func (a Adapter[T]) recognised(values []T, imported []winnow.Message) error {
	cp := a.Copy
	if cp == nil {
		cp = copyJSON[T]
	}
	copies, err := cp(values)
	if err != nil {
		return fmt.Errorf("the values cannot be copied: %w", err)
	}
	want, got := snapshots(imported), snapshots(a.Import(copies))
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			return fmt.Errorf("message %d of equal values is another\nfirst %s\nthen  %s", i, clip(want[i]),
				clip(got[i]))
		}
	}
	if len(want) != len(got) {
		return fmt.Errorf("%d messages, and %d of equal values", len(want), len(got))
	}
	return nil
}

func copyJSON[T any](values []T) ([]T, error) {
	b, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	var out []T
	err = json.Unmarshal(b, &out)
	return out, err
}

// untouched checks that no more values changed than edits were made. An edit changes at most one message, and with it
// one value.
func (a Adapter[T]) untouched(before []string, values []T, edits int) error {
	after, err := a.marshal(values)
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(before))
	for _, s := range before {
		known[s] = true
	}
	changed, first := 0, ""
	for _, s := range after {
		if !known[s] {
			if changed++; first == "" {
				first = s
			}
		}
	}
	if changed > edits {
		return fmt.Errorf("%d edits changed %d values, among them %s", edits, changed, clip(first))
	}
	return nil
}
