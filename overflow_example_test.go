package winnow_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow"
)

func ExampleClassifyError() {
	for _, text := range []string{
		`400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 209353 tokens > 199999 maximum"}}`,
		"429 Rate limit reached on tokens per min (TPM): Limit 30000, Used 28000, Requested 4000. Please try again in 4ms.",
		"429 Request too large on tokens per min (TPM): Limit 30000, Requested 132819.",
		"413 Payload Too Large",
		"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
	} {
		info := winnow.ClassifyError(errors.New(text))
		fmt.Printf("%q %d/%d\n", info.Class, info.Tokens, info.Limit)
	}
	// Output:
	// "overflow" 209353/199999
	// "rate_limit" 0/0
	// "overflow" 132819/30000
	// "bytes" 0/0
	// "" 0/0
}

func ExampleResponseOverflow() {
	const window = 32_768
	fmt.Println(winnow.ResponseOverflow("model_context_window_exceeded", winnow.Usage{Input: 32_000, Output: 768}, window))
	fmt.Println(winnow.ResponseOverflow("length", winnow.Usage{Input: 32_768}, window))
	fmt.Println(winnow.ResponseOverflow("length", winnow.Usage{Input: 1_200, Output: 4_096}, window))
	// Output:
	// true
	// true
	// false
}

// A matcher for a gateway whose refusals say nothing.
func ExampleErrorMatcher() {
	var matcher winnow.ErrorMatcher = func(err error) (winnow.ErrorInfo, bool) {
		if strings.Contains(err.Error(), "E4711") {
			return winnow.ErrorInfo{Class: winnow.ErrorOverflow, Limit: 65_536}, true
		}
		return winnow.ErrorInfo{}, false // the built-in rules decide
	}
	info, ok := matcher(errors.New("gateway: E4711"))
	fmt.Println(info.Class, info.Limit, ok)
	// Output: overflow 65536 true
}
