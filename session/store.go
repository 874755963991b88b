package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/dir"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/internal/jsonl"
	"github.com/winnowgo/winnow/session/resets"
)

// Durability says what an acknowledged entry survives.
type Durability string

const (
	Sync Durability = ""   // the end of the process, and a power loss if the disk honours flushes
	OS   Durability = "os" // the end of the process; after a power loss the newest entries may be missing
)

// defaultWindow is the context window of a manager without Options.Manager, in tokens.
const defaultWindow = 200_000

// Options are the options of a [Store]. nil and the zero value mean the defaults.
type Options struct {
	// Manager returns the context window, in tokens, and the options of a session's manager. It must depend on the key
	// alone, so that the answer is the same after a restart. nil: 200 000 tokens and the defaults. The store sets the
	// option Journal itself.
	Manager func(key string) (window int, opts *winnow.Options)

	// Redact returns the form in which a message is stored and therefore sent. It runs before a message is appended or
	// injected, or replaces another one. A message that it changes loses its Source, which has the old text. Its error
	// fails the call. nil: messages are stored and sent as they are. Records, digests and lists of names have no
	// credentials all the same: winnow masks what it quotes of tools.
	Redact func(m winnow.Message) (winnow.Message, error)

	Seal       Sealer     // encrypts the content of entries (nil: no encryption)
	Codec      Codec      // stores what a provider's messages hold beyond winnow's form (nil: nothing)
	Durability Durability // of messages and everything that changes the branch (Sync)
	// ResetRule returns when the conversation of a session is stale. [Store.Open] then begins it anew, as
	// [Session.Reset] does, but without the title. nil: never. [resets.Policy.For] is one.
	ResetRule func(key string) resets.Rule

	AllowNetwork bool             // accept a directory on a network file system, whose locks and syncs may not hold
	Now          func() time.Time // the clock of the entries (nil: [time.Now])
	Logger       *slog.Logger     // gets damage, repairs, and what managers without one log; no text (nil: none)
}

// Store stores sessions. It is safe for concurrent use. Several processes may use the same directory.
type Store struct {
	backend backend.Backend
	opts    Options
	life    context.Context // ends when the store is closed
	end     context.CancelFunc

	mu   sync.Mutex
	open map[*Session]struct{}
}

// OpenDirectory opens the store in a directory, and creates the directory if necessary. Only the owner can read its
// directories and files.
func OpenDirectory(dir string, opts *Options) (*Store, error) {
	if opts == nil || !opts.AllowNetwork {
		if files.IsNetwork(dir) {
			return nil, fmt.Errorf("%w: %s", ErrNetwork, dir)
		}
	}
	fsys, err := files.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	s, err := openFiles(fsys, opts)
	if err != nil {
		fsys.Close()
		return nil, err
	}
	return s, nil
}

// openFiles is OpenDirectory on another file system.
func openFiles(fsys files.FS, opts *Options) (*Store, error) {
	s := New(nil, opts)
	d, err := dir.Open(fsys, s.opts.Now)
	if err != nil {
		return nil, fmt.Errorf("session: opening a store: %w", err)
	}
	s.backend = d
	return s, nil
}

// NewMemory returns a store in memory, which is lost when the program ends. It is for private sessions and for tests.
func NewMemory(opts *Options) *Store {
	s, err := openFiles(files.NewMemory(), opts)
	if err != nil {
		panic(err) // only a disk fails
	}
	s.backend.(*dir.Directory).IsAlone = true
	return s
}

// New returns a store on a backend.
func New(b backend.Backend, opts *Options) *Store {
	s := &Store{backend: b, open: map[*Session]struct{}{}}
	s.life, s.end = context.WithCancel(context.Background())
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Manager == nil {
		s.opts.Manager = func(string) (int, *winnow.Options) { return defaultWindow, nil }
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.Logger == nil {
		s.opts.Logger = slog.New(slog.DiscardHandler)
	}
	return s
}

// Options returns the options of the store. Defaults are filled in.
func (s *Store) Options() Options { return s.opts }

// Backend returns the backend of the store.
func (s *Store) Backend() backend.Backend { return s.backend }

// Open waits for the turn of a session, takes it, and returns the session as it was left. The session need not exist
// yet: its first entry creates it. If ctx ends first, the error is a [*BusyError]. If [winnow.New] refuses what
// [Options].Manager says, the error is its. If the conversation is stale by [Options].ResetRule, it begins anew, and
// [Session.FreshStart] says so.
func (s *Store) Open(ctx context.Context, key string) (*Session, error) {
	return s.openBy(ctx, key, true)
}

// Resume is Open without [Options].ResetRule. It is for work that does not come from a person, such as finishing an
// interrupted turn, or a note.
func (s *Store) Resume(ctx context.Context, key string) (*Session, error) {
	return s.openBy(ctx, key, false)
}

// openBy opens a session, with or without the reset rule.
func (s *Store) openBy(ctx context.Context, key string, byRule bool) (*Session, error) {
	ctx, done := within(ctx, s.life)
	defer done()
	for {
		o, err := s.openNow(ctx, key, byRule)
		switch {
		case s.life.Err() != nil:
			if err == nil {
				o.Close()
			}
			return nil, ErrClosed
		case !errors.Is(err, ErrDeleted): // deleted in between: the next try creates a new one
			return o, err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
	}
}

// within returns ctx until life ends, and then one whose cause is ErrClosed.
func within(ctx, life context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(life, func() { cancel(ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

func (s *Store) openNow(ctx context.Context, key string, byRule bool) (*Session, error) {
	turn, err := s.backend.Turn(ctx, key)
	if err != nil {
		return nil, err
	}
	o := &Session{store: s, encoder: jsonl.Encoder{Seal: s.opts.Seal}, key: key, turn: turn}
	o.life, o.end = context.WithCancel(context.Background())
	s.mu.Lock()
	s.open[o] = struct{}{}
	s.mu.Unlock()
	if o.log, err = turn.Log(ctx); err == nil {
		err = turn.Check()
	}
	if err == nil {
		err = o.reload(ctx)
	}
	damage := o.at.Damage
	if err == nil {
		err = o.resetIfStale(ctx, byRule)
	}
	if err == nil {
		_, err = o.ready() // what is wrong with its options shows before anybody says something
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	for _, d := range damage {
		s.opts.Logger.Warn("session: damage in a log", "key", key, "log", o.log.ID(),
			"offset", d.Offset, "length", d.Length, "reason", d.Reason)
	}
	return o, nil
}

// Read returns what the newest log of a session holds now. It waits for nobody and changes nothing. The error is
// [ErrNotFound] if the session does not exist.
func (s *Store) Read(ctx context.Context, key string) (*View, error) {
	log, err := s.backend.Log(ctx, key, false)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	l, err := jsonl.Load(ctx, log, s.opts.Seal, s.opts.Codec)
	if err == nil {
		err = l.CheckHeader(key)
	}
	if err != nil {
		return nil, err
	}
	return viewOf(l, key), nil
}

// Keys returns the keys of all sessions, in any order.
func (s *Store) Keys(ctx context.Context) ([]string, error) { return s.backend.Keys(ctx) }

// Delete removes everything that is stored of a session. Whoever has it open gets [ErrDeleted]. Deleting a session that
// does not exist is not an error.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := backend.CheckKey(key); err != nil {
		return err
	}
	return s.backend.Delete(ctx, key)
}

// Close closes the sessions that are open, as [Session.Close] does, and releases the store's resources. Whoever waits
// in Open gets [ErrClosed], and so does every later call of a session, of Open and, in a directory and in memory, of
// the store. A call of the model goes on until it returns. To stop a server, end the contexts of its turns, wait for
// their goroutines, and close the store.
func (s *Store) Close() error {
	s.end()
	s.mu.Lock()
	open := slices.Collect(maps.Keys(s.open))
	s.mu.Unlock()
	var failed []error
	for _, o := range open {
		failed = append(failed, o.Close())
	}
	return errors.Join(append(failed, s.backend.Close())...)
}

// View is what a session holds at one moment.
type View struct {
	Key     string
	History []winnow.Message // what the manager gets
	IDs     []string         // the entries of the messages
	Leaf    string           // the newest entry of the branch
	Info    Info
	Labels  map[string]string // by entry
	Counts  Counts
	Damage  []entry.Damage // found so far; upkeep.Verify finds all
}

func viewOf(l *jsonl.Loaded, key string) *View {
	v := &View{
		Key: key, History: slices.Clip(l.History), Leaf: l.Leaf.ID, Info: l.Info, Labels: maps.Clone(l.Labels),
		Counts: jsonl.CloneCounts(l.Counts), Damage: slices.Clip(l.Damage),
	}
	for _, p := range l.Places {
		v.IDs = append(v.IDs, p.Ref.ID)
	}
	return v
}
