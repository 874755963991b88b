package postgres_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/postgres"
)

// TestBytesPerTurn compares the bytes that a conversation of 100 turns writes with two other designs for the same
// messages: a snapshot of all messages at each step, and a row for each message.
func TestBytesPerTurn(t *testing.T) {
	const turns = 100
	ctx := t.Context()
	pool := newPool(t, serverURL(t))
	backend := newBackend(t, pool, postgres.Options{})
	s, err := session.New(backend, nil).Open(ctx, "k")
	require.NoError(t, err)
	snapshots, rows := 0, 0
	began := walOf(t, pool)
	write := func(m winnow.Message) {
		require.NoError(t, s.Append(ctx, m))
	}
	step := func() { // a node of a graph has ended
		text, err := json.Marshal(s.View().History)
		require.NoError(t, err)
		snapshots += len(text)
	}
	for n := range turns {
		write(session.User("a question about the results of the last call, and what to do next"))
		step()
		for _, m := range []winnow.Message{
			{Role: winnow.RoleAssistant, Parts: []winnow.Part{
				{Kind: winnow.KindToolCall, ID: twoKB(n).ToolCallID, Name: "grep"},
			}},
			answer("an answer of some length: " + textOf(twoKB(n))[:500]),
		} {
			_, err := s.Do(ctx, func(context.Context, []winnow.Message) (winnow.Message, error) { return m, nil })
			require.NoError(t, err)
			step()
			if m.Parts[0].Kind == winnow.KindToolCall {
				write(twoKB(n))
				step()
			}
		}
	}
	require.NoError(t, s.Close())
	log := walOf(t, pool) - began
	v, err := session.New(backend, nil).Read(ctx, "k")
	require.NoError(t, err)
	for _, m := range v.History {
		text, err := json.Marshal(m)
		require.NoError(t, err)
		rows += len(text)
	}
	st, err := session.New(backend, nil).Status(ctx, "k")
	require.NoError(t, err)
	t.Logf("a turn of %d bytes in 4 messages: the log has %d, with the manager's state; %d of the server's log (WAL); "+
		"snapshots of all messages at each of 4 steps %d", rows/turns, st.Bytes/turns, log/turns, snapshots/turns)
	require.Less(t, st.Bytes, int64(3*rows))
	require.Greater(t, int64(snapshots), 10*st.Bytes)
}

// walOf returns how much the server has written to its log.
func walOf(t *testing.T, pool *pgxpool.Pool) (bytes int64) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT (pg_current_wal_lsn() - '0/0')::bigint").Scan(&bytes))
	return bytes
}
