package winnow_test

import (
	"fmt"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
)

func ExampleNewEstimator() {
	e, err := winnow.NewEstimator(winnow.FamilyForModel("gpt-4o"))
	if err != nil {
		panic(err)
	}
	fmt.Println(e.Estimate(winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "How many tokens does this sentence cost?"}}}))
	// Output: 11
}

func ExampleFamilyForModel() {
	for _, model := range []string{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "openrouter/openai/gpt-4o", "models/gemini-3-pro", "my-own-model"} {
		fmt.Printf("%q\n", winnow.FamilyForModel(model))
	}
	// Output:
	// "claude4"
	// "o200k"
	// "gemini"
	// ""
}

func ExampleTiktokenEstimator() {
	e, err := winnow.TiktokenEstimator("o200k_base")
	if err != nil {
		panic(err)
	}
	fmt.Println(e.Estimate(winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "How many tokens does this sentence cost?"}}}))
	// Output: 12
}

func ExampleCharsPerToken() {
	e := winnow.CharsPerToken(4)
	fmt.Println(e.Estimate(winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "How many tokens does this sentence cost?"}}}))
	// Output: 10
}

func ExampleEstimatorFunc() {
	var e winnow.Estimator = winnow.EstimatorFunc(func(m winnow.Message) int {
		n := 0
		for _, p := range m.Parts {
			n += utf8.RuneCountInString(p.Text)
		}
		return n
	})
	fmt.Println(e.Estimate(winnow.Message{Parts: []winnow.Part{{Text: "Grüße"}}}))
	// Output: 5
}

// An estimator of one's own may add to another: here, a host that sends images in high resolution.
func ExampleEstimatorFunc_Estimate() {
	text := winnow.CharsPerToken(4)
	images := winnow.EstimatorFunc(func(m winnow.Message) int {
		n := 0
		for i := range m.Parts {
			if m.Parts[i].Kind == winnow.KindImage {
				n += 3_000
				continue
			}
			n += text.Estimate(winnow.Message{Parts: m.Parts[i : i+1]})
		}
		return n
	})
	fmt.Println(images.Estimate(winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{
		{Text: "What is in this picture?"},
		{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 900_000},
	}}))
	// Output: 3006
}
