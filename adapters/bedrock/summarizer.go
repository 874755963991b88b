package bedrock

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// NewSummarizer returns a summarizer that asks a model, given by its id or the ARN of its profile. maxTokens limits the
// answer; 0 means the limit that each request asks for. It sends no tools. If the answer ended for another reason than
// the end of the turn, the error wraps [winnow.ErrIncomplete]. Errors of the SDK are wrapped.
func NewSummarizer(client *bedrockruntime.Client, model string, maxTokens int,
	options ...func(*bedrockruntime.Options)) winnow.Summarizer {
	return winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		answer, err := client.Converse(ctx, &bedrockruntime.ConverseInput{
			ModelId: aws.String(model),
			InferenceConfig: &types.InferenceConfiguration{
				MaxTokens: aws.Int32(int32(min(adapter.AnswerTokens(&req, maxTokens), 1<<30))),
			},
			System: []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: req.System()}},
			Messages: []types.Message{{
				Role:    types.ConversationRoleUser,
				Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: req.Prompt()}},
			}},
		}, options...)
		if err != nil {
			return "", adapter.Failed("bedrock", err)
		}
		m := Response(answer)
		return adapter.Summary(ctx, "bedrock", &m, string(types.StopReasonEndTurn))
	})
}
