package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// balancer sends questions to processes.
type balancer struct {
	url      string
	prefix   string // of the keys
	sessions int
	answered atomic.Int64
	killed   atomic.Int64
	moves    atomic.Int64

	mu      sync.Mutex
	workers [3]*worker
	errs    []error
}

// worker is a process that answers.
type worker struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	mu      sync.Mutex
	next    int
	waiting map[int]chan job
	isGone  bool
}

var errGone = errors.New("the process was killed")

func newBalancer(url, prefix string, sessions int) (*balancer, error) {
	b := &balancer{url: url, prefix: prefix, sessions: sessions}
	for i := range b.workers {
		var err error
		if b.workers[i], err = startWorker(url); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func startWorker(url string) (*worker, error) {
	w := &worker{cmd: exec.Command(os.Args[0]), waiting: map[int]chan job{}}
	w.cmd.Env = append(os.Environ(), workerVariable+"="+url)
	w.cmd.Stderr = os.Stderr
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.in = in
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	go w.listen(out)
	return w, nil
}

// listen passes replies to those who wait for them, until the process ends.
func (w *worker) listen(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var j job
		if json.Unmarshal(lines.Bytes(), &j) != nil {
			continue // it was killed while it wrote the line
		}
		w.mu.Lock()
		if c := w.waiting[j.ID]; c != nil {
			c <- j
			delete(w.waiting, j.ID)
		}
		w.mu.Unlock()
	}
	_ = w.cmd.Wait() // it was killed, or its input ended
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isGone = true
	for _, c := range w.waiting {
		close(c)
	}
	w.waiting = nil
}

// ask sends a question and waits for the answer.
func (w *worker) ask(key, text string) (string, error) {
	reply := make(chan job, 1)
	w.mu.Lock()
	if w.isGone {
		w.mu.Unlock()
		return "", errGone
	}
	w.next++
	w.waiting[w.next] = reply
	err := json.NewEncoder(w.in).Encode(job{ID: w.next, Key: key, Text: text})
	w.mu.Unlock()
	if err != nil {
		return "", errGone
	}
	j, ok := <-reply
	switch {
	case !ok:
		return "", errGone
	case j.Failed != "":
		return "", errors.New(j.Failed)
	}
	return j.Text, nil
}

// run asks questions for a while, one after another in each session.
func (b *balancer) run(duration time.Duration) {
	end := time.Now().Add(duration)
	var askers sync.WaitGroup
	for i := range b.sessions {
		askers.Go(func() { b.converse(fmt.Sprint(b.prefix, i), end) })
	}
	done := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() { b.killEverySecond(done) })
	askers.Wait()
	close(done)
	killer.Wait()
	for _, w := range b.workers {
		w.in.Close()
	}
}

// converse asks the questions of one session. Each goes to any process, and to another one if that is killed.
func (b *balancer) converse(key string, end time.Time) {
	last := -1
	for n := 0; time.Now().Before(end); n++ {
		for {
			i := rand.IntN(len(b.workers))
			b.mu.Lock()
			w := b.workers[i]
			b.mu.Unlock()
			answer, err := w.ask(key, question(n))
			if errors.Is(err, errGone) {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			if err == nil && answer != answerTo(question(n)) {
				err = fmt.Errorf("%s: %q was answered with %q", key, question(n), answer)
			}
			if err != nil {
				b.fail(err)
				return
			}
			if b.answered.Add(1); last >= 0 && last != i {
				b.moves.Add(1)
			}
			last = i
			break
		}
	}
}

func (b *balancer) killEverySecond(done chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Second):
		}
		i := rand.IntN(len(b.workers))
		b.mu.Lock()
		w := b.workers[i]
		b.mu.Unlock()
		err := w.cmd.Process.Kill()
		if err == nil {
			b.killed.Add(1)
			w, err = startWorker(b.url)
		}
		if err != nil {
			b.fail(err)
			return
		}
		b.mu.Lock()
		b.workers[i] = w
		b.mu.Unlock()
	}
}

func (b *balancer) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errs = append(b.errs, err)
}

func (b *balancer) err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return errors.Join(b.errs...)
}
