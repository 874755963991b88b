package anthropic_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	adapter "github.com/winnowgo/winnow/adapters/anthropic"
)

func ExampleSystemBlocks() {
	blocks := adapter.SystemBlocks("You are careful.", "\n\n# Project Context") // Assembly.Blocks
	data, err := json.Marshal(blocks)
	fmt.Println(string(data), err)
	// Output: [{"text":"You are careful.","cache_control":{"type":"ephemeral"},"type":"text"},{"text":"\n\n# Project Context","cache_control":{"type":"ephemeral"},"type":"text"}] <nil>
}

func TestSystemBlocksLeaveOutWhatIsBlank(t *testing.T) {
	require.Len(t, adapter.SystemBlocks("a", " \n", "b"), 2)
	require.Empty(t, adapter.SystemBlocks())
}
