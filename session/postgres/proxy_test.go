package postgres_test

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

// cutMode is the moment at which a connection breaks.
type cutMode string

const (
	cutBefore cutMode = "before the statement reaches the server"
	cutDuring cutMode = "while the server is at it"
	cutAfter  cutMode = "after the server is done, before the client hears of it"
)

// pooler stands between clients and a server, as PgBouncer does in transaction mode: each transaction gets a connection
// to the server, and never the one that the client's transaction before it had. It can break connections.
type pooler struct {
	t        testing.TB
	url      string
	listener net.Listener
	wg       sync.WaitGroup

	mu      sync.Mutex
	idle    []*pgproto3.Frontend
	servers map[*pgproto3.Frontend]net.Conn
	clients map[net.Conn]bool

	statements atomic.Int64 // that came so far
	cutAt      atomic.Int64 // number of the statement at which the connection breaks; 0: none
	cutMode    cutMode

	refuse         atomic.Bool // all that clients ask for
	refuseAfterCut atomic.Bool
}

func newPooler(t testing.TB, url string) *pooler {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &pooler{t: t, url: url, listener: l, servers: map[*pgproto3.Frontend]net.Conn{}, clients: map[net.Conn]bool{}}
	p.wg.Go(p.accept)
	t.Cleanup(p.stop)
	return p
}

// address returns the connection string of the pooler.
func (p *pooler) address() string {
	return "postgres://winnow@" + p.listener.Addr().String() + "/postgres?sslmode=disable"
}

func (p *pooler) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.clients[conn] = true
		p.mu.Unlock()
		p.wg.Go(func() {
			_ = p.serve(conn) // it ends with one of the connections
			conn.Close()
			p.mu.Lock()
			delete(p.clients, conn)
			p.mu.Unlock()
		})
	}
}

func (p *pooler) stop() {
	p.listener.Close()
	p.mu.Lock()
	for conn := range p.clients {
		conn.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
	for _, conn := range p.servers {
		conn.Close()
	}
}

// connect opens a connection to the server.
func (p *pooler) connect() (*pgproto3.Frontend, error) {
	c, err := pgconn.Connect(p.t.Context(), p.url)
	if err != nil {
		return nil, err
	}
	h, err := c.Hijack()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.servers[h.Frontend] = h.Conn
	p.mu.Unlock()
	return h.Frontend, nil
}

// take returns a connection that is not last.
func (p *pooler) take(last *pgproto3.Frontend) (*pgproto3.Frontend, error) {
	p.mu.Lock()
	for i, f := range p.idle {
		if f != last {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			p.mu.Unlock()
			return f, nil
		}
	}
	p.mu.Unlock()
	return p.connect()
}

func (p *pooler) giveBack(f *pgproto3.Frontend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, f)
}

func (p *pooler) drop(f *pgproto3.Frontend) {
	p.mu.Lock()
	conn := p.servers[f]
	delete(p.servers, f)
	p.mu.Unlock()
	conn.Close()
}

var errCut = errors.New("the connection was cut")

// serve talks to one client.
func (p *pooler) serve(conn net.Conn) error {
	if p.refuse.Load() {
		return errCut
	}
	client := pgproto3.NewBackend(conn, conn)
	if _, err := client.ReceiveStartupMessage(); err != nil {
		return err
	}
	client.Send(&pgproto3.AuthenticationOk{})
	client.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
	client.Send(&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"})
	client.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if err := client.Flush(); err != nil {
		return err
	}
	var server, last *pgproto3.Frontend // server: nil between transactions
	defer func() {
		if server != nil {
			p.drop(server)
		}
	}()
	for {
		m, err := client.Receive()
		if _, ok := m.(*pgproto3.Terminate); ok || err != nil {
			return err
		}
		if p.refuse.Load() {
			return errCut
		}
		if server == nil {
			if server, err = p.take(last); err != nil {
				return err
			}
		}
		server.Send(m)
		switch m.(type) {
		case *pgproto3.Query, *pgproto3.Sync:
		default:
			continue
		}
		status, err := p.statement(client, server)
		if err != nil {
			return err
		}
		if status == 'I' {
			p.giveBack(server)
			last, server = server, nil
		}
	}
}

// statement sends what was collected and relays the answer.
func (p *pooler) statement(client *pgproto3.Backend, server *pgproto3.Frontend) (status byte, err error) {
	cut := p.statements.Add(1) == p.cutAt.Load()
	if cut && p.refuseAfterCut.Load() {
		p.refuse.Store(true)
	}
	if cut && p.cutMode == cutBefore {
		return 0, errCut
	}
	if err := server.Flush(); err != nil {
		return 0, err
	}
	if cut && p.cutMode == cutDuring {
		return 0, errCut
	}
	for {
		m, err := server.Receive()
		if err != nil {
			return 0, err
		}
		ready, ok := m.(*pgproto3.ReadyForQuery)
		if cut {
			if ok {
				return 0, errCut
			}
			continue
		}
		client.Send(m)
		if ok {
			return ready.TxStatus, client.Flush()
		}
	}
}
