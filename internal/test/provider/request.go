package provider

import (
	"encoding/json"
	"net/http"
	"time"
)

// Dialect is the wire format of a request.
type Dialect string

const (
	Anthropic Dialect = "anthropic" // Messages
	OpenAI    Dialect = "openai"    // Chat Completions
)

// Vendor is a server that speaks Chat Completions with rules and words of its own.
type Vendor string

const (
	VendorOpenAI   Vendor = ""
	VendorMistral  Vendor = "mistral"
	VendorDeepSeek Vendor = "deepseek"
	VendorKimi     Vendor = "kimi"
	VendorMiniMax  Vendor = "minimax"
	VendorQwen     Vendor = "qwen"      // DashScope
	VendorGemini   Vendor = "gemini"    // Gemini 3 at Google's endpoint of Chat Completions
	VendorVLLM     Vendor = "vllm"      // with a chat template that wants roles to alternate
	VendorLlamaCpp Vendor = "llama.cpp" // as vLLM
	VendorLMStudio Vendor = "lmstudio"  // as vLLM
)

// Request is a valid request, as the model sees it.
type Request struct {
	Dialect   Dialect
	Model     string
	System    string // all system texts
	Messages  []Message
	Tools     []string // their names
	MaxTokens int      // 0: not asked for
	Stream    bool
	Thinking  bool // Anthropic: it may think aloud
	Tokens    int  // of the prompt
	Header    http.Header

	blocks     []block
	usageAsked bool       // OpenAI: the stream shall end with the usage
	before     [32]byte   // hash of the prompt so far
	prefixes   [][32]byte // Anthropic: of what stands before each message, and of all
}

// Message is one message of a request. Anthropic's results, which stand in a user message, are in
// Results of that message; OpenAI's are a message each.
type Message struct {
	Role    string // user, assistant, tool
	Text    string
	Calls   []ToolCall
	Results []ToolResult
	Images  int
}

// ToolCall is the model's call of a tool.
type ToolCall struct {
	ID        string // of an [Answer], "": one is made
	Name      string
	Arguments json.RawMessage // of an [Answer], nil: {}
}

// ToolResult is what a tool said.
type ToolResult struct {
	ID   string // of the call
	Text string
}

// Last returns the last message.
func (r *Request) Last() Message {
	if len(r.Messages) == 0 {
		return Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

// Answer is what the model answers.
type Answer struct {
	Text     string
	Thinking []string // Anthropic: signed thinking blocks that come first
	Served   []any    // Anthropic: blocks of the tools that the server runs itself, behind the text
	Calls    []ToolCall

	// Anthropic: the summary in a compaction block, which comes before all else and stands for the whole request
	Compaction string

	// StopReason in the dialect's word. "": as it follows from the rest. Text that does not fit into
	// max_tokens or into the window is cut, and the reason says so.
	StopReason string

	Delay time.Duration // before the first byte; it ends when the client goes away
	Cut   bool          // the connection breaks in the middle
	Error *Error        // the provider fails instead: it bills nothing
	Late  bool          // Error comes at the end of the stream, under status 200
}

// Usage in tokens, as Anthropic bills it: Input is neither read from the cache nor written to it. For
// OpenAI, which writes for free, CacheWrite is 0.
type Usage struct{ Input, CacheRead, CacheWrite, Output int }

// Prompt is the whole of the prompt.
func (u Usage) Prompt() int { return u.Input + u.CacheRead + u.CacheWrite }
