package openai

//lint:file-ignore SA1019 transcripts hold deprecated fields

import (
	"strconv"
	"strings"

	sdk "github.com/openai/openai-go/v3"

	"github.com/winnowgo/winnow"
)

// Before tool calls, a message could hold one call of a function, without an id, and the next message was its result.
// Such pairs get an id here, which is never sent.

// functionCall marks such a call in MediaType, so that it is sent back as such even if its Source is gone.
const functionCall = "function_call"

const functionPrefix = "winnow_function_call_"

// functionID returns the id of the n-th such call in a history.
func functionID(n int) string { return functionPrefix + strconv.Itoa(n) }

func isFunctionID(id string) bool { return strings.HasPrefix(id, functionPrefix) }

func hasFunction(a *sdk.ChatCompletionAssistantMessageParam) bool { return a.FunctionCall.Name != "" }

func functionPart(a *sdk.ChatCompletionAssistantMessageParam, n int) winnow.Part {
	return winnow.Part{
		Kind: winnow.KindToolCall, ID: functionID(n), Name: a.FunctionCall.Name,
		Arguments: []byte(a.FunctionCall.Arguments), MediaType: functionCall, Source: &a.FunctionCall,
	}
}

func setFunction(a *sdk.ChatCompletionAssistantMessageParam, name, arguments string) {
	a.FunctionCall = sdk.ChatCompletionAssistantMessageParamFunctionCall{Name: name, Arguments: arguments}
}
