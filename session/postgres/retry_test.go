package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// TestRefused: what becomes of a statement that was answered with an error.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		code, why          string
		isPassing, unknown bool
	}{
		{"", "a proxy answered, without a code", false, true},
		{"5", "no code of PostgreSQL", false, false},
		{"08P01", "the pooler had no connection to the server", true, true},
		{"40001", "rolled back because of others", true, false},
		{"40003", "nobody knows whether it was committed", true, true},
		{"53100", "the disk is full", false, false},
		{"53300", "too many connections", true, false},
		{"57014", "somebody cancelled it", false, false},
		{"57P01", "the server stops", true, true},
		{"25006", "a standby", true, false},
		{"23505", "of the statement", false, false},
	} {
		err := &pgconn.PgError{Code: test.code}
		require.Equal(t, test.isPassing, isPassing(err), test.why)
		require.Equal(t, test.unknown, isUnknown(err), test.why)
	}
}
