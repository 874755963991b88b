// Command fleet lets three agent processes answer the same conversations, which are in PostgreSQL. A load balancer
// sends each question to any of them, and kills one of them every second with SIGKILL.
//
//	go run ./examples/fleet                       # in session/postgres; starts a server if it is installed
//	go run ./examples/fleet -url postgres://…     # uses yours, and creates a schema "winnow_fleet" in it
//
// At the end every question was asked once and answered once, in order. The model is a script.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/postgres"
	"github.com/winnowgo/winnow/session/postgres/internal/pgtest"
)

const (
	schema = "winnow_fleet"
	lease  = time.Second // the sessions of a killed process wait this long
)

func main() {
	if url := os.Getenv(workerVariable); url != "" {
		exitOn(work(context.Background(), url))
		return
	}
	url := flag.String("url", os.Getenv("WINNOW_POSTGRES"), "connection string (default: a server of its own)")
	sessions := flag.Int("sessions", 20, "how many conversations there are")
	duration := flag.Duration("for", 10*time.Second, "how long questions are asked")
	flag.Parse()
	exitOn(run(context.Background(), os.Stdout, *url, *sessions, *duration))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// run asks questions for a while, and then checks the database.
func run(ctx context.Context, out io.Writer, url string, sessions int, duration time.Duration) error {
	if url == "" {
		server, err := pgtest.Start()
		if err != nil {
			return err
		}
		defer server.Stop()
		url = server.URL()
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := postgres.Migrate(ctx, pool, schema); err != nil {
		return err
	}
	store, err := open(ctx, pool)
	if err != nil {
		return err
	}
	prefix := fmt.Sprintf("fleet:%d:", time.Now().UnixNano())
	b, err := newBalancer(url, prefix, sessions)
	if err != nil {
		return err
	}
	b.run(duration)
	fmt.Fprintf(out, "%d questions on %d sessions were answered by 3 processes, of which %d were killed. "+
		"A session went on in another process %d times.\n", b.answered.Load(), sessions, b.killed.Load(),
		b.moves.Load())
	if err := b.err(); err != nil {
		return err
	}
	return check(ctx, out, store, prefix, b.answered.Load())
}

func open(ctx context.Context, pool *pgxpool.Pool) (*session.Store, error) {
	b, err := postgres.New(ctx, pool, &postgres.Options{Schema: schema, Lease: lease})
	if err != nil {
		return nil, err
	}
	return session.New(b, nil), nil
}

// check requires each answered question exactly once, followed by its answer.
func check(ctx context.Context, out io.Writer, store *session.Store, prefix string, answered int64) error {
	turns := 0
	for st, err := range store.All(ctx, session.Query{Prefix: prefix}) {
		if err != nil {
			return err
		}
		view, err := store.Read(ctx, st.Key)
		if err != nil {
			return err
		}
		for i, m := range view.History {
			want := question(i / 2)
			if i%2 != 0 {
				want = answerTo(want)
			}
			if textOf(m) != want {
				return fmt.Errorf("message %d of %s is %q, not %q", i, st.Key, textOf(m), want)
			}
		}
		if len(view.History)%2 != 0 {
			return errors.New(st.Key + " ends with a question")
		}
		turns += len(view.History) / 2
	}
	if int64(turns) < answered {
		return fmt.Errorf("%d questions were answered, and the database has %d", answered, turns)
	}
	fmt.Fprintf(out, "The database has %d questions, each once and in order, and each with its answer.\n", turns)
	return nil
}

func question(n int) string { return fmt.Sprint("question ", n) }

func textOf(m winnow.Message) (text string) {
	for _, p := range m.Parts {
		text += p.Text
	}
	return text
}
