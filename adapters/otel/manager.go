package otel

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	global "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/winnowgo/winnow"
)

// Manager is a [winnow.Manager] whose calls are traced and measured. The other methods are those of winnow.Manager. It
// is safe for concurrent use, but events of concurrent calls may land on each other's spans.
type Manager struct {
	*winnow.Manager
	tracer       trace.Tracer
	measure      *instruments
	conversation []attribute.KeyValue

	mu   sync.Mutex
	span trace.Span // span of the current call; nil: none
	sent edited     // the newest request
}

// New returns a manager for one conversation. It wraps the Summarizer and the Logger of o, and does not modify o. The
// errors are those of [winnow.New] and of the meter.
func New(window int, o *winnow.Options, t *Options) (*Manager, error) {
	if t == nil {
		t = &Options{}
	}
	measure, err := newInstruments(t)
	if err != nil {
		return nil, err
	}
	m := &Manager{tracer: cmp.Or(t.TracerProvider, global.GetTracerProvider()).Tracer(scope), measure: measure}
	if t.Conversation != "" {
		m.conversation = []attribute.KeyValue{semconv.GenAIConversationID(t.Conversation)}
	}
	var options winnow.Options
	if o != nil {
		options = *o
	}
	if options.Summarizer != nil { // nil means the digest, which takes no time
		options.Summarizer = m.Summarizer(options.Summarizer)
	}
	options.Logger = m.logger(options.Logger)
	m.Manager, err = winnow.New(window, &options)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Prepare is [winnow.Manager.Prepare] in the span winnow.prepare.
func (m *Manager) Prepare(ctx context.Context, history []winnow.Message) (*winnow.Request, error) {
	return m.call(ctx, "prepare", len(history), func(ctx context.Context) (*winnow.Request, error) {
		return m.Manager.Prepare(ctx, history)
	})
}

// Recover is [winnow.Manager.Recover] in the span winnow.recover.
func (m *Manager) Recover(ctx context.Context, history []winnow.Message, cause error) (*winnow.Request, error) {
	return m.call(ctx, "recover", len(history), func(ctx context.Context) (*winnow.Request, error) {
		return m.Manager.Recover(ctx, history, cause)
	})
}

// Compact is [winnow.Manager.Compact] in the span winnow.compact.
func (m *Manager) Compact(ctx context.Context, history []winnow.Message, instructions string) (*winnow.Request, error) {
	return m.call(ctx, "compact", len(history), func(ctx context.Context) (*winnow.Request, error) {
		return m.Manager.Compact(ctx, history, instructions)
	})
}

// call traces and measures one call of the manager.
func (m *Manager) call(ctx context.Context, operation string, history int,
	f func(context.Context) (*winnow.Request, error)) (*winnow.Request, error) {
	ctx, span := m.tracer.Start(ctx, "winnow."+operation, trace.WithAttributes(m.conversation...),
		trace.WithAttributes(attribute.Int("winnow.history.messages", history)))
	before, use := m.enter(span), m.CacheUse()
	began := time.Now()
	r, err := f(ctx)
	m.enter(before)
	m.measure.cacheUse(ctx, m.CacheUse().Plus(-1, use))
	m.took(ctx, operation, began, err)
	if err != nil {
		fail(span, err)
	} else {
		m.request(ctx, span, r, history)
	}
	span.End()
	return r, err
}

// enter directs events to span and returns the previous one.
func (m *Manager) enter(span trace.Span) (before trace.Span) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, m.span = m.span, span
	return before
}

func (m *Manager) took(ctx context.Context, operation string, began time.Time, err error) {
	attributes := []attribute.KeyValue{attribute.String("winnow.operation", operation)}
	if err != nil {
		attributes = append(attributes, errorType(err))
	}
	m.measure.duration.Record(ctx, time.Since(began).Seconds(), m.measure.with(attributes...))
}

// Counted is [winnow.Manager.Counted], and measures what was read of what was expected.
func (m *Manager) Counted(u winnow.Usage) {
	use := m.CacheUse()
	m.Manager.Counted(u)
	m.measure.cacheUse(context.Background(), m.CacheUse().Plus(-1, use))
}

// cacheUse counts what became of tokens in the provider's cache. Calls at the same time may see each other's: a count
// that is not positive adds nothing.
func (i *instruments) cacheUse(ctx context.Context, u winnow.CacheUse) {
	if u.Expected > 0 {
		i.expected.Add(ctx, int64(u.Expected), i.with())
	}
	for _, of := range []struct {
		whose  string
		tokens int
	}{{"winnow", u.Rewritten}, {"host", u.Changed}, {"time", u.Expired}, {"provider", u.Lost}} {
		if of.tokens > 0 {
			i.unread.Add(ctx, int64(of.tokens), i.with(attribute.String("winnow.cache.whose", of.whose)))
		}
	}
}

// request describes a request that is about to be sent.
func (m *Manager) request(ctx context.Context, span trace.Span, r *winnow.Request, history int) {
	attributes := []attribute.KeyValue{
		attribute.Int("winnow.request.messages", len(r.Messages)), attribute.Int("winnow.request.tokens", r.Tokens),
		attribute.Int("winnow.request.budget", r.Budget), attribute.Int("winnow.request.first_changed", r.FirstChanged),
		attribute.Bool("winnow.degraded", r.Degraded != ""),
	}
	counts := map[winnow.Op]int{}
	for _, e := range r.Edits {
		counts[e.Op]++
	}
	for _, op := range slices.Sorted(maps.Keys(counts)) {
		attributes = append(attributes, attribute.Int("winnow.edits."+string(op), counts[op]))
	}
	span.SetAttributes(attributes...)

	m.measure.tokens.Record(ctx, int64(r.Tokens), m.measure.with())
	if r.Budget > 0 {
		m.measure.utilization.Record(ctx, float64(r.Tokens)/float64(r.Budget), m.measure.with())
	}
	m.mu.Lock()
	fresh := m.sent.next(r.Edits, history)
	m.mu.Unlock()
	for _, op := range slices.Sorted(maps.Keys(fresh)) {
		m.measure.edits.Add(ctx, int64(fresh[op]), m.measure.with(attribute.String("winnow.edit.op", string(op))))
	}
	if c := r.Compaction; c != nil {
		m.measure.compactions.Add(ctx, 1, m.measure.with(attribute.Bool("winnow.degraded", r.Degraded != "")))
		m.measure.saved.Add(ctx, int64(max(0, c.TokensBefore-c.TokensAfter)), m.measure.with())
	}
}

// edited holds the edits of the newest request. Edits name positions in a growing history.
type edited struct {
	history int // number of messages
	edits   map[editKey]bool
}

type editKey struct {
	op    winnow.Op
	index int
}

// next counts the edits that the previous request did not have. If the history became shorter, positions cannot be
// compared: next then counts nothing and continues from the current edits.
func (e *edited) next(edits []winnow.Edit, history int) map[winnow.Op]int {
	now, fresh := make(map[editKey]bool, len(edits)), map[winnow.Op]int{}
	for i := range edits {
		key := editKey{edits[i].Op, edits[i].Index}
		if now[key] {
			continue
		}
		now[key] = true
		if !e.edits[key] && history >= e.history {
			fresh[key.op]++
		}
	}
	e.edits, e.history = now, history
	return fresh
}

// fail ends a span with an error. Its text may quote the conversation and is left out.
func fail(span trace.Span, err error) {
	span.SetStatus(codes.Error, "")
	span.SetAttributes(errorType(err))
}

// errorType returns the kind of an error: winnow's class, or the cause of the end.
func errorType(err error) attribute.KeyValue {
	class := string(winnow.ClassifyError(err).Class)
	switch {
	case errors.Is(err, context.Canceled):
		class = "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		class = string(winnow.ErrorTimeout)
	case errors.Is(err, winnow.ErrIncomplete):
		class = "incomplete"
	case errors.Is(err, winnow.ErrOverflow):
		class = string(winnow.ErrorOverflow)
	case class == "":
		class = "_OTHER"
	}
	return semconv.ErrorTypeKey.String(class)
}
