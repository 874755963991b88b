package postgres_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/postgres"
)

var (
	numbers    = flag.Duration("numbers", 0, "how long each rate of the store is measured")
	numbersLog = flag.Int64("numbers-log", 1<<30, "bytes of the log that is opened")
)

// leastSQL is the least that an append can be: it compares, moves and inserts.
const leastSQL = `
WITH head AS (UPDATE bare SET size = size + octet_length($3::bytea) WHERE id = $1 AND size = $2 RETURNING id)
INSERT INTO bare_lines SELECT id, $2, $3::bytea FROM head`

// step does one append for a client.
type step func() error

// rate runs the steps of clients at the same time and returns how many there were in a second.
func rate(t *testing.T, steps []step, d time.Duration) float64 {
	var n atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for _, s := range steps {
		wg.Go(func() {
			for time.Since(began) < d {
				if err := s(); err != nil {
					t.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(n.Load()) / time.Since(began).Seconds()
}

// twoKB is a result of 2 KB, as tools give them.
func twoKB(n int) winnow.Message {
	text := strings.Repeat("internal/store/append.go:118: the batch is written in one call\n", 30)
	return session.Result(fmt.Sprint("call_", n), "grep", text)
}

func TestNumbers(t *testing.T) {
	if *numbers == 0 {
		t.Skip("measured with -numbers 3s")
	}
	cluster := ownCluster(t, "shared_buffers=256MB", "max_wal_size=4GB")
	config, err := pgxpool.ParseConfig(cluster.URL())
	require.NoError(t, err)
	config.MaxConns = 80
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), `CREATE TABLE bare (id bigint PRIMARY KEY, size bigint) WITH (fillfactor = 60)`)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `CREATE TABLE bare_lines (id bigint, at bigint, data bytea, PRIMARY KEY (id, at))`)
	require.NoError(t, err)
	for _, prepare := range []bool{false, true} {
		b := newBackend(t, pool, postgres.Options{Prepare: prepare})
		for _, clients := range []int{1, 8, 64} {
			measureRates(t, pool, b, fmt.Sprintf("prepared=%v", prepare), clients)
		}
	}
	measureOpen(t, pool, newBackend(t, pool, postgres.Options{}))
}

func measureRates(t *testing.T, pool *pgxpool.Pool, b *postgres.Backend, name string, clients int) {
	ctx := t.Context()
	store := session.New(b, nil)
	line := make([]byte, 2200)
	for i := range line {
		line[i] = byte('a' + i%20)
	}
	line[len(line)-1] = '\n'
	var own, statement, least []step
	for c := range clients {
		s, err := store.Open(ctx, fmt.Sprintf("session %d of %d", c, clients))
		require.NoError(t, err)
		m := twoKB(1)
		own = append(own, func() error { return s.Append(ctx, m) })
		turn, err := b.Turn(ctx, fmt.Sprintf("bare %d of %d", c, clients))
		require.NoError(t, err)
		bare, err := postgres.BareAppend(ctx, turn, line)
		require.NoError(t, err)
		statement = append(statement, bare)
		id, at := rand.Int64(), int64(0)
		_, err = pool.Exec(ctx, "INSERT INTO bare VALUES ($1, 0)", id)
		require.NoError(t, err)
		least = append(least, func() error {
			_, err := pool.Exec(ctx, leastSQL, id, at, line)
			at += int64(len(line))
			return err
		})
		defer s.Close()
		defer turn.Release()
	}
	const rounds = 7
	var rates [3][]float64
	var ofStatement, ofLeast []float64
	for range rounds {
		var now [3]float64
		for i, steps := range [][]step{own, statement, least} {
			now[i] = rate(t, steps, *numbers)
			rates[i] = append(rates[i], now[i])
		}
		ofStatement, ofLeast = append(ofStatement, now[0]/now[1]), append(ofLeast, now[0]/now[2])
	}
	t.Logf("%s, %2d clients: Append %6.0f/s, its statement %6.0f/s (%.2f), the least statement, prepared, %6.0f/s (%.2f)",
		name, clients, median(rates[0]), median(rates[1]), median(ofStatement), median(rates[2]), median(ofLeast))
}

func median(numbers []float64) float64 {
	slices.Sort(numbers)
	return numbers[len(numbers)/2]
}

// measureOpen opens a session whose log is long and whose history is short.
func measureOpen(t *testing.T, pool *pgxpool.Pool, b *postgres.Backend) {
	ctx := context.Background()
	const active = 1 << 20
	w := &logWriter{t: t, b: b}
	w.begin("large")
	for w.at < *numbersLog {
		w.message(1000)
		w.flush(8 << 20)
	}
	kept, at := w.message(1000), w.last
	w.entry("compaction", fmt.Sprintf(`"summary":"what was before","firstKept":{"id":"e%d","at":%d}`, kept, at))
	m, err := winnow.New(200_000, nil)
	require.NoError(t, err)
	state, err := m.Snapshot()
	require.NoError(t, err)
	text, err := json.Marshal(entry.FullState{State: state})
	require.NoError(t, err)
	w.entry("state", `"full":`+string(text))
	for end := w.at + active; w.at < end; {
		w.message(2000)
	}
	w.flush(0)
	require.NoError(t, w.turn.Release())
	_, err = pool.Exec(ctx, "CHECKPOINT") // what was written is not measured
	require.NoError(t, err)
	store := session.New(b, nil)
	var took []time.Duration
	messages := 0
	for range 15 {
		began := time.Now()
		s, err := store.Open(ctx, "large")
		require.NoError(t, err)
		took = append(took, time.Since(began))
		messages = len(s.View().History)
		require.Empty(t, s.View().Damage)
		require.NoError(t, s.Close())
	}
	slices.Sort(took)
	t.Logf("opening a log of %d MB with %d messages in use: median %s, shortest %s",
		w.at>>20, messages, took[len(took)/2], took[0])
}

// logWriter writes the lines of a long log.
type logWriter struct {
	t     *testing.T
	b     *postgres.Backend
	turn  backend.Turn
	log   backend.Log
	lines []byte
	seq   int
	at    int64 // where the next line begins
	last  int64 // where the last one does
}

func (w *logWriter) begin(key string) {
	var err error
	w.turn, err = w.b.Turn(context.Background(), key)
	require.NoError(w.t, err)
	w.log, err = w.turn.Log(context.Background())
	require.NoError(w.t, err)
	w.entry("session", fmt.Sprintf(`"format":1,"key":%q`, key))
}

// entry adds a line in the form of the store.
func (w *logWriter) entry(kind, body string) int {
	w.seq++
	parent := ""
	if w.seq > 1 {
		parent = fmt.Sprintf(`"parentId":"e%d",`, w.seq-1)
	}
	line := fmt.Sprintf(`{"seq":%d,"id":"e%[1]d",%s"type":%q,"time":"2026-11-22T12:00:00Z",%s`, w.seq, parent, kind, body)
	line += fmt.Sprintf(",\"crc\":\"%08x\"}\n", crc32.Checksum([]byte(line), crc32.MakeTable(crc32.Castagnoli)))
	w.lines = append(w.lines, line...)
	w.last, w.at = w.at, w.at+int64(len(line))
	return w.seq
}

// message adds a message of size bytes, which hardly compresses.
func (w *logWriter) message(size int) int {
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%016x ", rand.Uint64())
	}
	return w.entry("message", fmt.Sprintf(`"message":{"role":"user","parts":[{"text":%q}]}`, b.String()))
}

// flush appends the lines if they have more than over bytes.
func (w *logWriter) flush(over int) {
	if len(w.lines) > over {
		require.NoError(w.t, w.log.Append(context.Background(), w.at-int64(len(w.lines)), w.lines, false))
		w.lines = w.lines[:0]
	}
}
