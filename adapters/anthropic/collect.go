package anthropic

import (
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Check returns an error if a gateway sent one with status 200, which the SDK takes for an answer without content. Put
// it around the call: return adapter.Check(client.Messages.New(ctx, params)).
func Check(answer *sdk.Message, err error) (*sdk.Message, error) {
	if err != nil || answer == nil || len(answer.Content) > 0 || answer.StopReason != "" {
		return answer, err
	}
	return answer, adapter.ErrorIn("anthropic", answer.RawJSON())
}

// CheckBeta is [Check] for an answer of the beta API.
func CheckBeta(answer *sdk.BetaMessage, err error) (*sdk.BetaMessage, error) {
	if err != nil || answer == nil || len(answer.Content) > 0 || answer.StopReason != "" {
		return answer, err
	}
	return answer, adapter.ErrorIn("anthropic", answer.RawJSON())
}

// Collect reads a stream to its end and returns the answer, for [Response]. It uses [sdk.Message.Accumulate]. It
// returns the stream's error, or io.ErrUnexpectedEOF if the stream ends before the answer does. It first passes each
// event to seen, which may be nil.
func Collect(stream *ssestream.Stream[sdk.MessageStreamEventUnion],
	seen func(sdk.MessageStreamEventUnion)) (*sdk.Message, error) {
	answer := new(sdk.Message)
	err := collect(stream, seen, answer.Accumulate, func(e *sdk.MessageStreamEventUnion) string { return e.Type })
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// CollectBeta is [Collect] for a stream of the beta API.
func CollectBeta(stream *ssestream.Stream[sdk.BetaRawMessageStreamEventUnion],
	seen func(sdk.BetaRawMessageStreamEventUnion)) (*sdk.BetaMessage, error) {
	answer := new(sdk.BetaMessage)
	err := collect(stream, seen, answer.Accumulate, func(e *sdk.BetaRawMessageStreamEventUnion) string {
		return e.Type
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

func collect[E any](stream *ssestream.Stream[E], seen func(E), add func(E) error, typeOf func(*E) string) error {
	defer stream.Close()
	stopped := false
	for stream.Next() {
		event := stream.Current()
		if seen != nil {
			seen(event)
		}
		if err := add(event); err != nil {
			return fmt.Errorf("anthropic: %w", err)
		}
		stopped = stopped || typeOf(&event) == "message_stop"
	}
	if err := stream.Err(); err != nil {
		return err
	}
	if !stopped {
		return adapter.CutOff("anthropic")
	}
	return nil
}
