package bedrock_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/winnowgo/winnow"
	adapter "github.com/winnowgo/winnow/adapters/bedrock"
)

// Use it with the SDK's client: the history is a list of winnow's messages.
func Example() {
	history, err := converse(context.Background(), localClient(), []types.Message{
		{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "Where is the window set?"}}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(history[1].Parts[0].Text, history[1].Usage.Prompt(), history[1].StopReason)
	// Output: In window.go. 42 end_turn
}

func converse(ctx context.Context, client *bedrockruntime.Client, messages []types.Message) ([]winnow.Message, error) {
	// README
	m, err := winnow.New(200_000, &winnow.Options{Summarizer: adapter.NewSummarizer(client, "global.anthropic.claude-haiku-4-5-20251001-v1:0", 0)})
	if err != nil {
		return nil, err
	}
	history := adapter.Import(messages)
	answer, _, err := winnow.Do(ctx, m, history, func(ctx context.Context, messages []winnow.Message) (*bedrockruntime.ConverseOutput, error) {
		return client.Converse(ctx, &bedrockruntime.ConverseInput{
			ModelId: aws.String("global.anthropic.claude-sonnet-4-5-20250929-v1:0"), Messages: adapter.Export(messages),
		})
	})
	if err != nil {
		return nil, err
	}
	return append(history, adapter.Response(answer)), nil
	// END
}

// localClient is the client of a server that stands in for the API.
func localClient() *bedrockruntime.Client {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"output":{"message":{"role":"assistant","content":[{"text":"In window.go."}]}},"stopReason":"end_turn","usage":{"inputTokens":42,"outputTokens":5,"totalTokens":47}}`)
	}))
	return bedrockruntime.New(bedrockruntime.Options{
		BaseEndpoint: aws.String(server.URL), Region: "us-east-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "none", SecretAccessKey: "none"}, nil
		}),
	})
}
