package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
)

// workerVariable holds the connection string of a process that answers questions.
const workerVariable = "WINNOW_FLEET_WORKER"

// job is a question, on a line of a worker's input, and the reply on a line of its output.
type job struct {
	ID     int    `json:"id"`
	Key    string `json:"key,omitempty"`
	Text   string `json:"text"` // the question; the answer
	Failed string `json:"failed,omitempty"`
}

// work answers questions until its input ends.
func work(ctx context.Context, url string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := open(ctx, pool)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	replies := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var j job
		if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
			return err
		}
		wg.Go(func() {
			r := job{ID: j.ID}
			var err error
			if r.Text, err = reply(ctx, store, j.Key, j.Text); err != nil {
				r.Failed = err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			_ = replies.Encode(r) // if nobody reads any more, the input ends too
		})
	}
	wg.Wait()
	return nil
}

// reply answers a question in its conversation. A killed process may have got the question before; then the log says
// how far it got.
func reply(ctx context.Context, store *session.Store, key, text string) (string, error) {
	s, err := store.Open(ctx, key) // waits for its turn
	if err != nil {
		return "", err
	}
	defer s.Close()
	history := s.View().History
	n := len(history)
	switch {
	case n > 1 && textOf(history[n-2]) == text: // only the reply was lost
		return textOf(history[n-1]), nil
	case n > 0 && s.Interrupted() != nil && textOf(history[n-1]) == text: // stored, but not answered
	default:
		if err := s.Append(ctx, session.User(text)); err != nil {
			return "", err
		}
	}
	answer, err := s.Do(ctx, model)
	return answer.Text(), err
}

// model stands for a language model.
func model(_ context.Context, request []winnow.Message) (winnow.Message, error) {
	time.Sleep(20 * time.Millisecond)
	text := answerTo(textOf(request[len(request)-1]))
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: text}}}, nil
}

func answerTo(text string) string { return "the answer to " + text }
