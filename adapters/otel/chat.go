package otel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
	"go.opentelemetry.io/otel/trace"

	"github.com/winnowgo/winnow"
)

// Do is [winnow.Do] with a span for each step of the manager and each request to the model. If T is a [winnow.Message],
// as returned by the adapters' Response, Do also records its usage; for other answers call [Manager.Answered] within
// call. If your SDK has its own spans, use [Manager.Prepare] and [Manager.Recover] instead.
func Do[T any](ctx context.Context, m *Manager, history []winnow.Message,
	call func(context.Context, []winnow.Message) (T, error)) (T, *winnow.Request, error) {
	var zero T
	r, err := m.Prepare(ctx, history)
	if err != nil {
		return zero, nil, err
	}
	for {
		answer, refused := chat(ctx, m, r.Messages, call)
		if refused == nil {
			return answer, r, nil
		}
		next, err := m.Recover(ctx, history, refused)
		switch {
		case err == nil:
			r = next
		case errors.Is(err, winnow.ErrOverflow) || ctx.Err() != nil:
			return zero, r, err
		default: // not an overflow: return it to the caller
			return zero, r, refused
		}
	}
}

// chat sends one request.
func chat[T any](ctx context.Context, m *Manager, messages []winnow.Message,
	call func(context.Context, []winnow.Message) (T, error)) (T, error) {
	ctx, span := m.tracer.Start(ctx, m.measure.chatSpanName, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(m.measure.attributes...), trace.WithAttributes(m.conversation...),
		trace.WithAttributes(semconv.GenAIOperationNameChat))
	defer span.End()
	began := time.Now()
	answer, err := call(ctx, messages)
	attributes := m.measure.attributes[1:len(m.measure.attributes):len(m.measure.attributes)]
	if err != nil {
		fail(span, err)
		attributes = append(attributes, errorType(err))
	}
	m.measure.chat.Record(ctx, time.Since(began).Seconds(), genaiconv.OperationNameChat, m.measure.provider,
		attributes...)
	if message, ok := any(answer).(winnow.Message); ok && err == nil {
		m.Answered(ctx, &message)
	}
	return answer, err
}

// Answered records the usage of an answer, and sets it on the span of ctx.
func (m *Manager) Answered(ctx context.Context, answer *winnow.Message) {
	span := trace.SpanFromContext(ctx)
	if answer.ID != "" {
		span.SetAttributes(semconv.GenAIResponseID(answer.ID))
	}
	if answer.StopReason != "" {
		span.SetAttributes(semconv.GenAIResponseFinishReasons(answer.StopReason))
	}
	u := answer.Usage
	if u == nil {
		return
	}
	span.SetAttributes(semconv.GenAIUsageInputTokens(u.Prompt()), semconv.GenAIUsageOutputTokens(u.Output),
		semconv.GenAIUsageCacheReadInputTokens(u.CacheRead), semconv.GenAIUsageCacheCreationInputTokens(u.CacheWrite))
	more := m.measure.attributes[1:]
	m.measure.usage.Record(ctx, int64(u.Prompt()), genaiconv.OperationNameChat, m.measure.provider,
		genaiconv.TokenTypeInput, more...)
	m.measure.usage.Record(ctx, int64(u.Output), genaiconv.OperationNameChat, m.measure.provider,
		genaiconv.TokenTypeOutput, more...)
	for _, io := range []struct {
		name   string
		tokens int
	}{{"read", u.CacheRead}, {"write", u.CacheWrite}} {
		if io.tokens > 0 {
			m.measure.cache.Add(ctx, int64(io.tokens), m.measure.with(attribute.String("winnow.cache.io", io.name)))
		}
	}
}

// Summarizer returns s with a span winnow.summarize for each call. New does this for Options.Summarizer. Call it for
// each summarizer in a [winnow.FirstOf].
func (m *Manager) Summarizer(s winnow.Summarizer) winnow.Summarizer {
	return winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		ctx, span := m.tracer.Start(ctx, "winnow.summarize", trace.WithAttributes(m.conversation...),
			trace.WithAttributes(
				attribute.Int("winnow.summary.messages", len(req.Messages)),
				semconv.GenAIRequestMaxTokens(req.MaxTokens),
				attribute.Bool("winnow.summary.update", req.Previous != "")))
		defer span.End()
		began := time.Now()
		text, err := s.Summarize(ctx, req)
		m.took(ctx, "summarize", began, err)
		if err != nil {
			fail(span, err)
		}
		return text, err
	})
}
