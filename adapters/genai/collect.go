package genai

import (
	"errors"
	"fmt"
	"iter"
	"reflect"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Check returns an error for an answer with status 200 that has neither a candidate nor a reason for having none: it is
// a gateway's error, whose text the SDK drops. Put it around the call: return
// adapter.Check(client.Models.GenerateContent(ctx, model, contents, config)).
func Check(answer *sdk.GenerateContentResponse, err error) (*sdk.GenerateContentResponse, error) {
	if err != nil || answer == nil || len(answer.Candidates) > 0 || answer.PromptFeedback != nil {
		return answer, err
	}
	if answer.SDKHTTPResponse != nil && answer.SDKHTTPResponse.Body != "" {
		return nil, fmt.Errorf("genai: no answer with status 200: %w", errors.New(answer.SDKHTTPResponse.Body))
	}
	return nil, errors.New("genai: no answer with status 200")
}

// Collect reads a stream to its end and returns the first candidate of the answer, for [Response]. It joins
// neighbouring texts, unless one has a signature. It returns the stream's error, or io.ErrUnexpectedEOF if the stream
// ends before the answer does. It first passes each piece to seen, which may be nil.
func Collect(stream iter.Seq2[*sdk.GenerateContentResponse, error],
	seen func(*sdk.GenerateContentResponse)) (*sdk.GenerateContentResponse, error) {
	answer := &sdk.GenerateContentResponse{}
	candidate := &sdk.Candidate{}
	content := &sdk.Content{Role: sdk.RoleModel}
	for piece, err := range stream {
		if err != nil {
			return nil, err
		}
		if piece == nil {
			continue
		}
		if seen != nil {
			seen(piece)
		}
		take(answer, piece)
		if len(piece.Candidates) > 0 && piece.Candidates[0] != nil {
			newest := piece.Candidates[0]
			if newest.Content != nil {
				content.Parts = appendParts(content.Parts, newest.Content.Parts)
			}
			take(candidate, newest)
		}
	}
	answer.Candidates = nil
	if candidate.FinishReason == "" {
		if answer.PromptFeedback != nil {
			return answer, nil
		}
		return nil, adapter.CutOff("genai")
	}
	candidate.Content = content
	answer.Candidates = []*sdk.Candidate{candidate}
	return answer, nil
}

// take sets in a value what a piece of it says: the newest word counts.
func take[T any](to, piece *T) {
	of, says := reflect.ValueOf(to).Elem(), reflect.ValueOf(piece).Elem()
	for i := range says.NumField() {
		if v := says.Field(i); !v.IsZero() {
			of.Field(i).Set(v)
		}
	}
}

// appendParts adds parts. It joins a text with the text of the same kind before it, if neither holds anything else.
func appendParts(parts, more []*sdk.Part) []*sdk.Part {
	for _, p := range more {
		if p == nil {
			continue
		}
		last := len(parts) - 1
		if last < 0 || !isText(p) || !isText(parts[last]) || parts[last].Thought != p.Thought {
			parts = append(parts, p)
			continue
		}
		joined := *parts[last]
		joined.Text += p.Text
		parts[last] = &joined
	}
	return parts
}

// isText reports whether p holds only a text or a thought.
func isText(p *sdk.Part) bool {
	rest := *p
	rest.Text, rest.Thought = "", false
	return p.Text != "" && reflect.DeepEqual(rest, sdk.Part{})
}
