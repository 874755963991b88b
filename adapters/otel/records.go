package otel

import (
	"context"
	"log/slog"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/winnowgo/winnow/internal/event"
)

// logger returns a logger whose records become events and counts, and are passed on to next.
func (m *Manager) logger(next *slog.Logger) *slog.Logger {
	h := &records{m, slog.DiscardHandler}
	if next != nil {
		h.next = next.Handler()
	}
	return slog.New(h)
}

// records is a [slog.Handler] for the records of a manager, each of which reports one decision.
type records struct {
	manager *Manager
	next    slog.Handler // the host's
}

// Enabled returns true, because counting needs all records, whatever the host logs.
func (h *records) Enabled(context.Context, slog.Level) bool { return true }

func (h *records) Handle(ctx context.Context, r slog.Record) error {
	values := map[string]slog.Value{}
	var attributes []attribute.KeyValue
	r.Attrs(func(a slog.Attr) bool {
		value := a.Value.Resolve()
		values[a.Key] = value
		if kv, ok := keyValue(a.Key, value); ok {
			attributes = append(attributes, kv)
		}
		return true
	})
	h.manager.mu.Lock()
	span := h.manager.span
	h.manager.mu.Unlock()
	if span != nil {
		span.AddEvent(strings.TrimPrefix(r.Message, "winnow: "), trace.WithAttributes(attributes...))
	}
	h.manager.measure.record(ctx, r.Message, values)
	if h.next.Enabled(ctx, r.Level) {
		return h.next.Handle(ctx, r)
	}
	return nil
}

// keyValue returns a value of a record as an attribute. An error does not become one, because it may quote the
// conversation.
func keyValue(key string, value slog.Value) (attribute.KeyValue, bool) {
	key = "winnow." + key
	switch value.Kind() {
	case slog.KindInt64:
		return attribute.Int64(key, value.Int64()), true
	case slog.KindBool:
		return attribute.Bool(key, value.Bool()), true
	case slog.KindFloat64:
		return attribute.Float64(key, value.Float64()), true
	case slog.KindString:
		return attribute.String(key, value.String()), true
	}
	return attribute.KeyValue{}, false
}

// record counts what only the log reports.
func (i *instruments) record(ctx context.Context, message string, values map[string]slog.Value) {
	text := func(key string) string {
		if v := values[key]; v.Kind() == slog.KindString && v.String() != "" {
			return v.String()
		}
		return "_OTHER"
	}
	switch message {
	case event.Rewritten:
		cold := values["cold"]
		i.rewrites.Add(ctx, 1, i.with(attribute.Bool("winnow.cold", cold.Kind() == slog.KindBool && cold.Bool())))
	case event.Failed:
		i.compactions.Add(ctx, 1, i.with(semconv.ErrorTypeKey.String(text("error_class"))))
	case event.Refused:
		i.refusals.Add(ctx, 1, i.with(semconv.ErrorTypeKey.String(text("class"))))
	case event.Recovering:
		i.recoveries.Add(ctx, 1, i.with(attribute.String("winnow.rung", text("rung"))))
	}
}

// WithAttrs and WithGroup matter only to the host's handler: counting uses the record itself.

func (h *records) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &records{h.manager, h.next.WithAttrs(attrs)}
}

func (h *records) WithGroup(name string) slog.Handler {
	return &records{h.manager, h.next.WithGroup(name)}
}
