package otel

import (
	"cmp"
	"errors"

	global "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
	"go.opentelemetry.io/otel/trace"
)

// Options say where telemetry goes, and name the provider, the model and the conversation. nil and the zero value mean
// the defaults in parentheses.
type Options struct {
	TracerProvider trace.TracerProvider // (the global one)
	MeterProvider  metric.MeterProvider // (the global one)
	Provider       string               // gen_ai.provider.name, such as "anthropic", "openai", "gcp.gemini" ("_OTHER")
	Model          string               // gen_ai.request.model (none)
	Conversation   string               // gen_ai.conversation.id of all spans (none)
}

// scope is the name of this instrumentation.
const scope = "github.com/winnowgo/winnow/adapters/otel"

// instruments are the metrics.
type instruments struct {
	usage        genaiconv.ClientTokenUsage
	chat         genaiconv.ClientOperationDuration
	tokens       metric.Int64Histogram
	utilization  metric.Float64Histogram
	edits        metric.Int64Counter
	cache        metric.Int64Counter
	expected     metric.Int64Counter
	unread       metric.Int64Counter
	rewrites     metric.Int64Counter
	compactions  metric.Int64Counter
	saved        metric.Int64Counter
	refusals     metric.Int64Counter
	recoveries   metric.Int64Counter
	duration     metric.Float64Histogram
	attributes   []attribute.KeyValue // of all
	chatSpanName string
	provider     genaiconv.ProviderNameAttr
}

// The boundaries of the histograms follow the semantic conventions.
var (
	tokenBounds = metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576,
		4194304, 16777216, 67108864)
	durationBounds = metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12,
		10.24, 20.48, 40.96, 81.92)
	shareBounds = metric.WithExplicitBucketBoundaries(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
)

func newInstruments(o *Options) (*instruments, error) {
	meter := cmp.Or(o.MeterProvider, global.GetMeterProvider()).Meter(scope)
	i := &instruments{provider: genaiconv.ProviderNameAttr(cmp.Or(o.Provider, "_OTHER")), chatSpanName: "chat"}
	i.attributes = []attribute.KeyValue{semconv.GenAIProviderNameKey.String(string(i.provider))}
	if o.Model != "" {
		i.attributes = append(i.attributes, semconv.GenAIRequestModel(o.Model))
		i.chatSpanName += " " + o.Model
	}
	var errs [5]error
	i.usage, errs[0] = genaiconv.NewClientTokenUsage(meter, tokenBounds)
	i.chat, errs[1] = genaiconv.NewClientOperationDuration(meter, durationBounds)
	i.tokens, errs[2] = meter.Int64Histogram("winnow.request.tokens", metric.WithUnit("{token}"), tokenBounds,
		metric.WithDescription("Estimated tokens of a request."))
	i.utilization, errs[3] = meter.Float64Histogram("winnow.request.utilization", metric.WithUnit("1"), shareBounds,
		metric.WithDescription("Share of the token budget that a request takes."))
	i.duration, errs[4] = meter.Float64Histogram("winnow.operation.duration", metric.WithUnit("s"), durationBounds,
		metric.WithDescription("Time that an operation of winnow took, summaries included."))
	err := errors.Join(errs[:]...)
	counter := func(name, unit, counts string) metric.Int64Counter {
		c, e := meter.Int64Counter("winnow."+name, metric.WithUnit(unit), metric.WithDescription(counts))
		err = errors.Join(err, e)
		return c
	}
	i.edits = counter("edits", "{edit}", "Messages that are sent other than they stand in the history.")
	i.cache = counter("cache.tokens", "{token}", "Prompt tokens read from the provider's cache and written to it.")
	i.expected = counter("cache.expected", "{token}", "Prompt tokens that were expected to be read from the cache.")
	i.unread = counter("cache.unread", "{token}", "Tokens of the request before that were not read from the cache.")
	i.rewrites = counter("rewrites", "{rewrite}", "Requests that change what was sent before.")
	i.compactions = counter("compactions", "{compaction}", "Compactions, also those that failed.")
	i.saved = counter("compaction.tokens", "{token}", "Tokens that compactions took off a request.")
	i.refusals = counter("refusals", "{refusal}", "Requests that the provider refused as too large.")
	i.recoveries = counter("recoveries", "{recovery}", "Refused requests that were made smaller.")
	return i, err
}

// with returns the common attributes and more.
func (i *instruments) with(more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributes(append(i.attributes[:len(i.attributes):len(i.attributes)], more...)...)
}
