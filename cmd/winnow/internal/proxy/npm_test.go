package proxy

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/provider"
)

// TestNPM: the SDKs of npm go on for many times the window behind the proxy. It needs a directory in which
// "npm install @anthropic-ai/sdk openai" was run: no test fetches anything.
func TestNPM(t *testing.T) {
	if os.Getenv("WINNOW_NPM") == "" {
		t.Skip("WINNOW_NPM names no directory with the SDKs")
	}
	for _, api := range []string{"messages", "chat"} {
		t.Run(api, func(t *testing.T) {
			asked := 0
			p := provider.New(provider.Options{Window: 12_000, Model: func(r *provider.Request) provider.Answer {
				a := answerTo(r)
				if asked++; asked%7 == 0 && len(a.Calls) == 0 { // streaming or not, and the client does not see it
					a.Calls = []provider.ToolCall{{Name: "recall", Arguments: json.RawMessage(`{"words":"line 1"}`)}}
				}
				return a
			}})
			h := http.StripPrefix("/base", p)
			address, log := start(t, h, Options{Window: 24_000, FoldAbove: 1, Recall: true})
			out, err := exec.Command("node", "testdata/agent.mjs", address, api, "30").CombinedOutput()
			require.NoError(t, err, "%s%s", out, log)
			assert.True(t, strings.HasSuffix(string(out), "done\n"), "%s", out)
			refusals := 0
			for _, x := range p.Exchanges() {
				if x.Error != nil {
					refusals++
					assert.Equal(t, provider.RuleWindow, x.Error.Rule, "%v", x.Error)
				}
			}
			assert.Positive(t, refusals, "the window was never full")
			assert.Greater(t, asked, 65, "the model never recalled")
		})
	}
}
