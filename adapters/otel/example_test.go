package otel_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/otel"
)

// The tracer and the meter are the program's own; without them the global ones are used.
func Example() {
	var spans names
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(&spans))
	history := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Where is the window set?"}}}}
	answer, err := converse(context.Background(), tp, sdkmetric.NewMeterProvider(), history)
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Parts[0].Text, spans)
	// Output: In window.go. [winnow.prepare chat claude-opus-4-5]
}

func converse(ctx context.Context, tp trace.TracerProvider, mp metric.MeterProvider, history []winnow.Message) (winnow.Message, error) {
	// README
	m, err := otel.New(200_000, &winnow.Options{}, &otel.Options{
		TracerProvider: tp, MeterProvider: mp, Provider: "anthropic", Model: "claude-opus-4-5",
	})
	if err != nil {
		return winnow.Message{}, err
	}
	answer, _, err := otel.Do(ctx, m, history, callYourModel) // winnow.Do with spans
	// END
	return answer, err
}

func callYourModel(context.Context, []winnow.Message) (winnow.Message, error) {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: "In window.go."}}}, nil
}

// names is a span processor that remembers names.
type names []string

func (n *names) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (n *names) OnEnd(s sdktrace.ReadOnlySpan)                   { *n = append(*n, s.Name()) }
func (n *names) Shutdown(context.Context) error                  { return nil }
func (n *names) ForceFlush(context.Context) error                { return nil }
