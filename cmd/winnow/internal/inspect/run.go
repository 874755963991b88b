// Package inspect replays a recorded agent session through a [winnow.Manager] and shows how the context grew and was
// cut, how much of it was cached and what it cost, as one HTML page that needs no network, or as text.
package inspect

import (
	"io"
	"time"

	"github.com/winnowgo/winnow/internal/test/recording"
)

// Input is a session to show.
type Input struct {
	Name    string
	Session *recording.Session
	Basis   Basis
	Now     time.Time // time of the report
}

// WriteText replays a session and prints the report for a terminal. It returns how many requests do not fit.
func WriteText(w io.Writer, in Input) (overflows int, err error) { return write(w, in, writeText) }

// WritePage replays a session and writes the report as an HTML page.
func WritePage(w io.Writer, in Input) (overflows int, err error) { return write(w, in, writePage) }

func write(w io.Writer, in Input, as func(io.Writer, *report) error) (overflows int, err error) {
	r, err := newReport(in)
	if err != nil {
		return 0, err
	}
	return r.Overflows, as(w, r)
}

func newReport(in Input) (*report, error) {
	r, err := replay(in.Session, in.Basis)
	if err != nil {
		return nil, err
	}
	r.Name, r.Made = in.Name, in.Now
	return r, nil
}
