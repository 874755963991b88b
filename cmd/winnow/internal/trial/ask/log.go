package ask

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Key names one thing that is asked.
type Key struct {
	Question string `json:"question"`
	Ask      string `json:"ask"`  // in which form
	Hash     string `json:"hash"` // of the body of the request, SHA-256
}

// Entry is a line of the log: what became of a request.
type Entry struct {
	Key
	State   State   `json:"state"`
	Dollars float64 `json:"dollars,omitempty"` // that it cost; of what was only sent, or lost, what it may have
	Answer  *Answer `json:"answer,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// State is how far a request has come.
type State string

const (
	Sent     State = "sent"     // and no more is known: the program ended
	Answered State = "answered" // and paid for
	Lost     State = "lost"     // sent, and perhaps paid for, but the answer did not come
	Refused  State = "refused"  // and not paid for: it may be asked again
)

// Log is a file with a line for each request and each answer. It is the evidence of a trial, and what one that was
// stopped goes on from: nothing in it is asked again. It has no key of a provider. It is safe for concurrent use.
type Log struct {
	file *os.File

	mu      sync.Mutex
	entries map[Key]Entry
	spent   float64
}

// head is the first line.
type head struct {
	Trial int    `json:"trial"` // the version of the form
	Model string `json:"model"`
	API   string `json:"api"`
	Host  string `json:"host"`
}

const version = 1

// OpenLog opens or makes the log of a trial of a model. That of another model, or at another host, is an error.
func OpenLog(name string, c *Client) (*Log, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	l := &Log{file: file, entries: map[Key]Entry{}}
	if err := l.read(head{version, c.Model, c.API.Name(), c.Host()}); err != nil {
		return nil, fmt.Errorf("%s: %w", name, errors.Join(err, file.Close()))
	}
	return l, nil
}

func (l *Log) read(want head) error {
	r := bufio.NewReader(l.file)
	first, err := r.ReadBytes('\n')
	if err != nil && len(bytes.TrimSpace(first)) == 0 {
		return l.write(want)
	}
	var h head
	if json.Unmarshal(first, &h) != nil || h.Trial != version {
		return errors.New("it is no log of a trial; -log names another file")
	}
	isWhole := true
	for {
		line, err := r.ReadBytes('\n')
		var e Entry
		if json.Unmarshal(line, &e) == nil && e.State != "" {
			l.take(e)
		}
		if err == io.EOF {
			isWhole = len(line) == 0
			break
		}
		if err != nil {
			return err
		}
	}
	if h != want {
		for _, e := range l.entries {
			if e.State != Refused {
				return fmt.Errorf("it is the log of a trial of %s with the API %q at %s; -log names another file",
					h.Model, h.API, h.Host)
			}
		}
		clear(l.entries) // nothing was asked
		return errors.Join(l.file.Truncate(0), l.write(want))
	}
	if !isWhole { // the program was killed while it wrote
		_, err = l.file.WriteString("\n")
		return err
	}
	return nil
}

func (l *Log) take(e Entry) {
	l.spent += e.Dollars - l.entries[e.Key].Dollars
	l.entries[e.Key] = e
}

// Add writes a line. What the request cost so far is replaced by what this line says.
func (l *Log) Add(e Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.write(e); err != nil {
		return err
	}
	l.take(e)
	return nil
}

func (l *Log) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := l.file.Write(append(b, '\n')); err != nil {
		return err
	}
	return l.file.Sync()
}

// Find returns what became of a request. What was refused has not been asked.
func (l *Log) Find(k Key) (Entry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.entries[k]
	return e, ok && e.State != Refused
}

// Spent is what all requests have cost, in dollars.
func (l *Log) Spent() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spent
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }
