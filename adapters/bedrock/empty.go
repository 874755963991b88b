package bedrock

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// filledDocument returns a document without blank texts, which models refuse at every depth. same: it had none.
func filledDocument(d types.DocumentBlock) (filled types.DocumentBlock, same bool) {
	source, ok := d.Source.(*types.DocumentSourceMemberContent)
	if !ok {
		return d, true
	}
	var kept []types.DocumentContentBlock
	for _, c := range source.Value {
		if text, ok := c.(*types.DocumentContentBlockMemberText); !ok || !adapter.IsBlank(text.Value) {
			kept = append(kept, c)
		}
	}
	same = len(kept) == len(source.Value)
	if kept == nil {
		kept = []types.DocumentContentBlock{&types.DocumentContentBlockMemberText{Value: adapter.Empty}}
	}
	d.Source = &types.DocumentSourceMemberContent{Value: kept}
	return d, same
}

// filledSearch is filledDocument for a search result.
func filledSearch(s types.SearchResultBlock) (filled types.SearchResultBlock, same bool) {
	var kept []types.SearchResultContentBlock
	for _, c := range s.Content {
		if !adapter.IsBlank(aws.ToString(c.Text)) {
			kept = append(kept, c)
		}
	}
	same = len(kept) == len(s.Content)
	if kept == nil {
		kept = []types.SearchResultContentBlock{{Text: aws.String(adapter.Empty)}}
	}
	s.Content = kept
	return s, same
}

// filledBlock returns a block without blank texts in it, and whether it is the same.
func filledBlock(b types.ContentBlock) (filled types.ContentBlock, same bool) {
	switch own := b.(type) {
	case *types.ContentBlockMemberDocument:
		if d, same := filledDocument(own.Value); !same {
			return &types.ContentBlockMemberDocument{Value: d}, false
		}
	case *types.ContentBlockMemberSearchResult:
		if s, same := filledSearch(own.Value); !same {
			return &types.ContentBlockMemberSearchResult{Value: s}, false
		}
	}
	return b, true
}

// filledInner is filledBlock for a block in a result.
func filledInner(c types.ToolResultContentBlock) (filled types.ToolResultContentBlock, same bool) {
	switch own := c.(type) {
	case *types.ToolResultContentBlockMemberDocument:
		if d, same := filledDocument(own.Value); !same {
			return &types.ToolResultContentBlockMemberDocument{Value: d}, false
		}
	case *types.ToolResultContentBlockMemberSearchResult:
		if s, same := filledSearch(own.Value); !same {
			return &types.ToolResultContentBlockMemberSearchResult{Value: s}, false
		}
	}
	return c, true
}
