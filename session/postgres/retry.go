package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Codes of PostgreSQL, appendix A of its manual.
const (
	undefinedTable    = "42P01"
	undefinedSchema   = "3F000"
	completionUnknown = "40003"
	diskFull          = "53100"
	readOnly          = "25006"
)

const (
	firstPause = 5 * time.Millisecond
	lastPause  = 500 * time.Millisecond

	// longestTry is how long one statement may take: a network that drops packets reports nothing.
	longestTry = 10 * time.Second
)

// retry runs f until it reaches the database, for as long as ctx and the backend's patience allow. f may take effect
// twice.
func (b *Backend) retry(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.Patience)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := try(ctx, f)
		if err == nil || !isPassing(err) {
			return err
		}
		if wait(ctx, pause) != nil {
			return fmt.Errorf("postgres: %w: %w", context.Cause(ctx), err)
		}
	}
}

func try(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, longestTry)
	defer cancel()
	return f(ctx)
}

// outlast returns a context that ends after most, or grace after ctx has ended.
func outlast(ctx context.Context, most, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return longer, func() { stop(); cancel() }
}

// wait waits between half of d and d.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d/2 + rand.N(d/2)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// isPassing reports whether err comes from the connection, the server's state or a lock, and not from the statement.
func isPassing(err error) bool {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return isOfConnection(err)
	}
	is := func(class string) bool { return strings.HasPrefix(refused.Code, class) } // a proxy may send no code
	switch {
	case is("08"), is("40"): // the connection; rolled back because of others
		return true
	case is("53"): // insufficient resources
		return refused.Code != diskFull
	case is("57P"): // an operator stops or starts the server, or it crashed
		return true
	}
	return refused.Code == readOnly // a standby: soon the primary will be reachable
}

// isOfConnection reports whether err, which the server did not send, occurred on the way to it.
func isOfConnection(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		isEndOfInput(err) || errors.Is(err, context.DeadlineExceeded)
}

func isEndOfInput(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// isUnknown reports whether a statement that failed with err may have been committed, or may still be.
func isUnknown(err error) bool {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) || pgconn.SafeToRetry(err) {
		return false // it was not sent
	}
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return true
	}
	switch code := refused.Code; {
	case code == "", code == completionUnknown: // "" comes from a proxy, and says nothing
		return true
	default:
		return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P")
	}
}
