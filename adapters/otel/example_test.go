package otel_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/otel"
)

// Providers are those that the program has already; the global ones are the default.
func Example() {
	ctx := context.Background()
	var spans names
	manager, err := otel.New(200_000, &winnow.Options{}, &otel.Options{
		TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(&spans)),
		MeterProvider:  metric.NewMeterProvider(),
		Provider:       "anthropic",
		Model:          "claude-sonnet-5",
	})
	if err != nil {
		panic(err)
	}
	history := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Where is the window set?"}}}}
	answer, _, err := otel.Do(ctx, manager, history, callYourModel)
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Parts[0].Text, spans)
	// Output: In window.go. [winnow.prepare chat claude-sonnet-5]
}

func callYourModel(context.Context, []winnow.Message) (winnow.Message, error) {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: "In window.go."}}}, nil
}

// names is a span processor that remembers names.
type names []string

func (n *names) OnStart(context.Context, trace.ReadWriteSpan) {}
func (n *names) OnEnd(s trace.ReadOnlySpan)                   { *n = append(*n, s.Name()) }
func (n *names) Shutdown(context.Context) error               { return nil }
func (n *names) ForceFlush(context.Context) error             { return nil }
