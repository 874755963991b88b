// Package hosts simulates unreliable hosts, providers and summarizers, and finds promises that a manager breaks.
//
// A [Script] is a conversation in steps: changes of the history by the host, calls of the manager, and events of the
// provider, the summarizer and the clock. [Random] writes one from a seed, [Run] plays it and checks every request, and
// [Shrink] finds the fewest steps that still break a promise. The checks share no code with the library.
package hosts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Script is one conversation. Steps that make no sense in their place do nothing, so that any step can be left out.
type Script struct {
	Setting Setting
	Steps   []Step
}

// Setting is what stays the same in a conversation. The zero value is a plain host with a window of 4 000 tokens.
type Setting struct {
	// "": it keeps a log. copies, drops, rebuilds, keeps: see [world.list] and [world.accept]
	Host  string `json:"host,omitempty"`
	NoIDs bool   `json:"noIDs,omitempty"` // messages have no ID
	IDs   int    `json:"ids,omitempty"`   // calls use as many ids again and again; -1: they have none, 0: each its own
	Clock bool   `json:"clock,omitempty"` // a system message in front of each request says what time it is

	Window     int     `json:"window,omitempty"` // tokens (4 000)
	Turns      int     `json:"turns,omitempty"`
	Reserve    int     `json:"reserve,omitempty"`
	Overhead   int     `json:"overhead,omitempty"`
	MaxBytes   int     `json:"maxBytes,omitempty"`
	Thinking   string  `json:"thinking,omitempty"`
	Model      int     `json:"model,omitempty"` // one of a few names, where Thinking is set; 0: none
	FoldAbove  float64 `json:"foldAbove,omitempty"`
	KeepRecent int     `json:"keepRecent,omitempty"`
	WholeSteps int     `json:"wholeSteps,omitempty"`
	Summarizer int     `json:"summarizer,omitempty"` // its window, tokens
	NoCache    bool    `json:"noCache,omitempty"`
	Off        bool    `json:"off,omitempty"`        // no compaction in Prepare
	Background bool    `json:"background,omitempty"` //
	Digest     bool    `json:"digest,omitempty"`     // no summarizer
	Rules      bool    `json:"rules,omitempty"`      // of the host, for every summary
	Flush      string  `json:"flush,omitempty"`      // what the host does before a compaction: asks, fails, panics
	Tools      int     `json:"tools,omitempty"`      // one of a few [winnow.ToolOptions]
	Truncate   int     `json:"truncate,omitempty"`   // one of a few [winnow.TruncateOptions]
	Estimator  int     `json:"estimator,omitempty"`  // 0: a quarter of the characters, 1: the standard one
	Journal    bool    `json:"journal,omitempty"`    // the host keeps a journal
	Minify     int     `json:"minify,omitempty"`     // odd: results as they came
	Recall     bool    `json:"recall,omitempty"`     // the model may ask for what was left out
}

// Step is one thing that happens.
type Step struct {
	Do   string `json:"do"`
	As   string `json:"as,omitempty"`   // how, in words
	N    int    `json:"n,omitempty"`    // how much: characters, messages, seconds, tokens
	At   int    `json:"at,omitempty"`   // to which message, counted from the newest
	Many int    `json:"many,omitempty"` // how many calls
	Seed int    `json:"seed,omitempty"` // of the texts
}

// is reports whether As contains a word.
func (s *Step) is(word string) bool {
	for w := range strings.FieldsSeq(s.As) {
		if w == word {
			return true
		}
	}
	return false
}

// String returns the script in the form that [Parse] reads: JSON, with the setting in the first line and one step in
// each further line.
func (s Script) String() string {
	var b strings.Builder
	line := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // they are strings, numbers and flags
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	line(s.Setting)
	for _, step := range s.Steps {
		line(step)
	}
	return b.String()
}

// Parse reads a script. Empty lines and lines that begin with # are left out.
func Parse(text []byte) (Script, error) {
	var s Script
	first := true
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		var err error
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if first {
			err = d.Decode(&s.Setting)
		} else {
			var step Step
			err = d.Decode(&step)
			if err == nil && steps[step.Do] == nil {
				err = fmt.Errorf("no step is called %q", step.Do)
			}
			s.Steps = append(s.Steps, step)
		}
		if err != nil {
			return s, fmt.Errorf("line %d: %w", number, err)
		}
		first = false
	}
	return s, nil
}
