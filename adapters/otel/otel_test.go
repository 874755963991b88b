package otel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/winnowgo/winnow"
)

// secret is in every text of the conversation.
const secret = "xyzzy"

// telemetry is the exported data.
type telemetry struct {
	spans  *tracetest.InMemoryExporter
	reader *sdkmetric.ManualReader
	log    strings.Builder
}

// record returns options whose telemetry is kept in memory.
func record() (*telemetry, *Options) {
	t := &telemetry{spans: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader()}
	return t, &Options{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(t.spans)),
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(t.reader)),
		Provider:       "anthropic", Model: "claude-sonnet-5", Conversation: "c1",
	}
}

func (t *telemetry) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(&t.log, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// named returns the spans with a name.
func (t *telemetry) named(name string) tracetest.SpanStubs {
	var out tracetest.SpanStubs
	for _, s := range t.spans.GetSpans() {
		if s.Name == name {
			out = append(out, s)
		}
	}
	return out
}

// metrics returns the measurements: sums and counts of histograms, by name and attributes.
func (t *telemetry) metrics(tt *testing.T) map[string]float64 {
	tt.Helper()
	var data metricdata.ResourceMetrics
	require.NoError(tt, t.reader.Collect(context.Background(), &data))
	out := map[string]float64{}
	add := func(name string, set attribute.Set, value float64) {
		out[name] += value
		for _, kv := range set.ToSlice() {
			out[fmt.Sprintf("%s{%s=%s}", name, kv.Key, kv.Value.String())] += value
		}
	}
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, float64(p.Value))
				}
			case metricdata.Histogram[int64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, float64(p.Sum))
					add(m.Name+" count", p.Attributes, float64(p.Count))
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					add(m.Name+" count", p.Attributes, float64(p.Count))
				}
			default:
				tt.Errorf("%s: %T", m.Name, d)
			}
		}
	}
	return out
}

func value(s tracetest.SpanStub, key string) any {
	for _, kv := range s.Attributes {
		if string(kv.Key) == key {
			return kv.Value.AsInterface()
		}
	}
	return nil
}

func user(text string) winnow.Message {
	return winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: text + " " + secret}}}
}

// talk lets a model read for a number of steps. It takes limit tokens, counts four bytes as one, and writes summaries
// with summarize.
func talk(t *testing.T, out *telemetry, o *Options, limit, steps int, summarize winnow.SummarizerFunc) (refusals int, edits map[winnow.Op]int) {
	t.Helper()
	m, err := New(24_000, &winnow.Options{Summarizer: summarize, Logger: out.logger(), Tools: &winnow.ToolOptions{Keep: []string{"*"}}}, o) // no records: summaries are needed
	require.NoError(t, err)
	history := []winnow.Message{user("Read it all.")}
	seen := map[string]bool{}
	edits = map[winnow.Op]int{}
	for step := range steps {
		answer, request, err := Do(t.Context(), m, history, func(_ context.Context, messages []winnow.Message) (winnow.Message, error) {
			tokens := 0
			for i := range messages {
				tokens += winnow.CharsPerToken(4).Estimate(messages[i])
			}
			if tokens > limit {
				refusals++
				return winnow.Message{}, fmt.Errorf("prompt is too long: %d tokens > %d maximum", tokens, limit)
			}
			return winnow.Message{
				ID: fmt.Sprint("m", step), Role: winnow.RoleAssistant, StopReason: "tool_use",
				Usage: &winnow.Usage{Input: tokens - tokens/2, CacheRead: tokens / 2, Output: 10},
				Parts: []winnow.Part{{Text: strings.Repeat("I think so. ", 200)}, {Kind: winnow.KindToolCall, ID: fmt.Sprint("call_", step), Name: "read", Arguments: []byte(`{"q":"` + secret + `"}`)}},
			}, nil
		})
		require.NoError(t, err)
		for _, e := range request.Edits {
			if key := fmt.Sprint(e.Op, e.Index); !seen[key] {
				seen[key] = true
				edits[e.Op]++
			}
		}
		history = append(history, answer, winnow.Message{Role: winnow.RoleTool, ToolCallID: fmt.Sprint("call_", step), ToolName: "read",
			Parts: []winnow.Part{{Text: whatIsRead(step)}}})
	}
	return refusals, edits
}

// whatIsRead has no two lines that are alike.
func whatIsRead(step int) string {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "line %d %s of what is read\n", (step*300+i)*7_919%99_991, secret)
	}
	return b.String()
}

func summarized(context.Context, winnow.SummaryRequest) (string, error) {
	return "## Goal\nRead it all.\n\n## Progress\n### Done\nMuch of it.", nil
}

// noText: telemetry goes to places where the conversation must not.
func noText(t *testing.T, out *telemetry) {
	t.Helper()
	for _, s := range out.spans.GetSpans() {
		assert.NotContains(t, fmt.Sprintf("%+v", s), secret)
	}
	for name := range out.metrics(t) {
		assert.NotContains(t, name, secret)
	}
}

// TestConversation compacts by itself; nothing is refused.
func TestConversation(t *testing.T) {
	out, options := record()
	const steps = 20
	refusals, edits := talk(t, out, options, 24_000, steps, summarized)
	require.Zero(t, refusals)
	noText(t, out)

	prepared, chats, summaries := out.named("winnow.prepare"), out.named("chat claude-sonnet-5"), out.named("winnow.summarize")
	require.Len(t, prepared, steps)
	require.Len(t, chats, steps)
	require.NotEmpty(t, summaries)
	first := chats[0]
	assert.Equal(t, trace.SpanKindClient, first.SpanKind)
	assert.Equal(t, "chat", value(first, "gen_ai.operation.name"))
	assert.Equal(t, "anthropic", value(first, "gen_ai.provider.name"))
	assert.Equal(t, "claude-sonnet-5", value(first, "gen_ai.request.model"))
	assert.Equal(t, "c1", value(first, "gen_ai.conversation.id"))
	assert.Equal(t, "m0", value(first, "gen_ai.response.id"))
	assert.Equal(t, []string{"tool_use"}, value(first, "gen_ai.response.finish_reasons"))
	assert.EqualValues(t, 10, value(first, "gen_ai.usage.output_tokens"))
	assert.Equal(t, "c1", value(prepared[0], "gen_ai.conversation.id"))
	assert.EqualValues(t, 1, value(prepared[0], "winnow.request.messages"))

	compactions := 0
	for _, s := range prepared {
		assert.Equal(t, codes.Unset, s.Status.Code)
		for _, e := range s.Events {
			if e.Name == "compacted" {
				compactions++
			}
		}
	}
	require.Positive(t, compactions)
	require.Equal(t, prepared[len(prepared)-1].SpanContext.TraceID().IsValid(), true)
	inside := false
	for _, s := range prepared {
		inside = inside || s.SpanContext.SpanID() == summaries[0].Parent.SpanID()
	}
	assert.True(t, inside, "the summary is made within the request that needs it")

	var prompt, cached, tokens int64
	for _, s := range chats {
		prompt += value(s, "gen_ai.usage.input_tokens").(int64)
		cached += value(s, "gen_ai.usage.cache_read.input_tokens").(int64)
	}
	for _, s := range prepared {
		tokens += value(s, "winnow.request.tokens").(int64)
	}
	got := out.metrics(t)
	assert.EqualValues(t, prompt, got["gen_ai.client.token.usage{gen_ai.token.type=input}"])
	assert.EqualValues(t, steps*10, got["gen_ai.client.token.usage{gen_ai.token.type=output}"])
	assert.EqualValues(t, 2*steps, got["gen_ai.client.token.usage count{gen_ai.request.model=claude-sonnet-5}"])
	assert.EqualValues(t, steps, got["gen_ai.client.operation.duration count{gen_ai.operation.name=chat}"])
	assert.EqualValues(t, cached, got["winnow.cache.tokens{winnow.cache.io=read}"])
	assert.EqualValues(t, tokens, got["winnow.request.tokens"])
	assert.EqualValues(t, steps, got["winnow.request.utilization count"])
	assert.EqualValues(t, compactions, got["winnow.compactions{winnow.degraded=false}"])
	assert.Positive(t, got["winnow.compaction.tokens"])
	assert.Positive(t, got["winnow.rewrites"])
	assert.EqualValues(t, steps, got["winnow.operation.duration count{winnow.operation=prepare}"])
	assert.EqualValues(t, len(summaries), got["winnow.operation.duration count{winnow.operation=summarize}"])
	assert.Zero(t, got["winnow.refusals"])
	require.NotEmpty(t, edits)
	total := 0
	for op, n := range edits {
		total += n
		assert.InDelta(t, n, got[fmt.Sprintf("winnow.edits{winnow.edit.op=%s}", op)], 0.01, op)
	}
	assert.EqualValues(t, total, got["winnow.edits"])
	assert.Contains(t, out.log.String(), "winnow: compacted", "the host's log has the records as well")
	assert.NotContains(t, out.log.String(), "level=DEBUG", "as far as it wants them")
}

// TestRefusals: the model takes less than the manager believes.
func TestRefusals(t *testing.T) {
	out, options := record()
	refusals, _ := talk(t, out, options, 9_000, 10, summarized)
	require.Positive(t, refusals)
	noText(t, out)
	recovered := out.named("winnow.recover")
	require.Len(t, recovered, refusals)
	names := map[string]int{}
	for _, e := range recovered[0].Events {
		names[e.Name]++
	}
	assert.Equal(t, 1, names["the provider refused a request"])
	assert.Equal(t, 1, names["recovering from an overflow"])
	failed := 0
	for _, s := range out.named("chat claude-sonnet-5") {
		if s.Status.Code == codes.Error {
			failed++
			assert.Equal(t, "overflow", value(s, "error.type"))
		}
	}
	assert.Equal(t, refusals, failed)
	got := out.metrics(t)
	assert.EqualValues(t, refusals, got["winnow.refusals{error.type=overflow}"])
	assert.EqualValues(t, refusals, got["winnow.recoveries"])
	assert.EqualValues(t, refusals, got["gen_ai.client.operation.duration count{error.type=overflow}"])
}

// TestFailedSummaries: the summarizer has no credit.
func TestFailedSummaries(t *testing.T) {
	out, options := record()
	talk(t, out, options, 24_000, 20, func(context.Context, winnow.SummaryRequest) (string, error) {
		return "", errors.New("You exceeded your current quota, " + secret)
	})
	noText(t, out)
	got := out.metrics(t)
	assert.Positive(t, got["winnow.compactions{error.type=quota}"])
	assert.Positive(t, got["winnow.operation.duration count{error.type=quota}"])
	for _, s := range out.named("winnow.summarize") {
		assert.Equal(t, "quota", value(s, "error.type"))
	}
}

// TestErrors: errors other than overflows go to the caller, and have a type.
func TestErrors(t *testing.T) {
	out, options := record()
	m, err := New(24_000, nil, options)
	require.NoError(t, err)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		ctx    context.Context
		err    error
		class  string
		reason string
	}{
		{t.Context(), errors.New("429 rate limit reached"), "rate_limit", "a class of winnow's"},
		{t.Context(), errors.New("no such host"), "_OTHER", "nothing is known of it"},
		{canceled, context.Canceled, "canceled", "the caller's"},
	} {
		out.spans.Reset()
		_, r, err := Do(tt.ctx, m, []winnow.Message{user("q")}, func(context.Context, []winnow.Message) (string, error) { return "", tt.err })
		require.ErrorIs(t, err, tt.err)
		require.NotNil(t, r)
		if tt.class != "canceled" {
			assert.Equal(t, tt.err, err, "as it is")
		}
		assert.Equal(t, tt.class, value(out.named("chat claude-sonnet-5")[0], "error.type"), tt.reason)
	}
	answer, _, err := Do(t.Context(), m, []winnow.Message{user("q")}, func(context.Context, []winnow.Message) (string, error) { return "a", nil })
	require.NoError(t, err)
	assert.Equal(t, "a", answer, "any type will do")
	_, err = m.Compact(t.Context(), []winnow.Message{user("q")}, "")
	require.ErrorIs(t, err, winnow.ErrCompaction)
	assert.Len(t, out.named("winnow.compact"), 1)
}

// TestDefaults: without providers the global ones are used, and nothing has to be set.
func TestDefaults(t *testing.T) {
	m, err := New(24_000, nil, nil)
	require.NoError(t, err)
	_, r, err := Do(t.Context(), m, []winnow.Message{user("q")}, func(context.Context, []winnow.Message) (winnow.Message, error) {
		return winnow.Message{Role: winnow.RoleAssistant}, nil
	})
	require.NoError(t, err)
	assert.Len(t, r.Messages, 1)
	_, err = New(-1, nil, nil)
	assert.Error(t, err, "of winnow.New")
}

// TestEditsAreCountedOnce as long as the history grows.
func TestEditsAreCountedOnce(t *testing.T) {
	var e edited
	trim, cleared := winnow.Edit{Op: winnow.OpTrim, Index: 2}, winnow.Edit{Op: winnow.OpClear, Index: 2}
	assert.Equal(t, map[winnow.Op]int{"trim": 1}, e.next([]winnow.Edit{trim, trim}, 5))
	assert.Empty(t, e.next([]winnow.Edit{trim}, 6), "sent again")
	assert.Equal(t, map[winnow.Op]int{"clear": 1}, e.next([]winnow.Edit{cleared}, 6))
	assert.Empty(t, e.next([]winnow.Edit{trim}, 3), "of another history")
	assert.Empty(t, e.next([]winnow.Edit{trim}, 4))
}

// TestCacheUse: what was expected to be read, and why it was not, by what the provider counted.
func TestCacheUse(t *testing.T) {
	out, options := record()
	m, err := New(100_000, nil, options)
	require.NoError(t, err)
	history := []winnow.Message{user(strings.Repeat("Read it all. ", 3_000))}
	expected := 0
	for _, read := range []float64{0, 1, 0} { // the third time the provider has lost it
		r, err := m.Prepare(t.Context(), history)
		require.NoError(t, err)
		n := int(read * float64(r.Cached))
		m.Counted(winnow.Usage{CacheRead: n, CacheWrite: r.Tokens - n})
		expected += r.Cached
		history = append(history, winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: "Yes."}}}, user("And?"))
	}
	require.Positive(t, expected)
	got := out.metrics(t)
	assert.EqualValues(t, expected, got["winnow.cache.expected"])
	assert.EqualValues(t, m.CacheUse().Lost, got["winnow.cache.unread{winnow.cache.whose=provider}"])
	assert.Equal(t, got["winnow.cache.unread"], got["winnow.cache.unread{winnow.cache.whose=provider}"])
	assert.Positive(t, got["winnow.cache.unread"])
}
