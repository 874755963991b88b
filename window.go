package winnow

// defaultWindow is taken where nobody knows the model: the smallest window of today's large models.
// Source: the reference system's DEFAULT_CONTEXT_TOKENS.
const defaultWindow = 200_000

// Windows below these cannot hold a useful agent loop: system prompt, tools and a few results. Source:
// the reference system's guard.
const (
	warnWindow  = 32_000
	blockWindow = 16_000
)

// WindowConfig holds what is known about a model's context window, in tokens. 0 and negative numbers mean not set.
type WindowConfig struct {
	Configured int // what the host's configuration says of the model; wins over Model
	Model      int // what the model's metadata says
	Cap        int // the host's own upper limit, for any model
	Default    int // taken where neither Configured nor Model is set (200 000)
}

// ResolveWindow returns the context window to use, in tokens, and where it comes from: "configured",
// "model" or "default", or "cap" where c.Cap is smaller than that.
func ResolveWindow(c WindowConfig) (tokens int, source string) {
	switch {
	case c.Configured > 0:
		tokens, source = c.Configured, "configured"
	case c.Model > 0:
		tokens, source = c.Model, "model"
	case c.Default > 0:
		tokens, source = c.Default, "default"
	default:
		tokens, source = defaultWindow, "default"
	}
	if c.Cap > 0 && c.Cap < tokens {
		return c.Cap, "cap"
	}
	return tokens, source
}

// WindowStatus is the advice of [CheckWindow].
type WindowStatus string

const (
	WindowOK    WindowStatus = "ok"    // 32 000 tokens or more, or not known
	WindowWarn  WindowStatus = "warn"  // below 32 000 tokens: works, with little history
	WindowBlock WindowStatus = "block" // below 16 000 tokens: a host may refuse such a model
)

// CheckWindow says whether a window, in tokens, is large enough for an agent. It is advice for the host: [New]
// takes any positive window. A window of 0 or less stands for one that is not known, and gets no warning.
func CheckWindow(tokens int) WindowStatus {
	switch {
	case tokens <= 0 || tokens >= warnWindow:
		return WindowOK
	case tokens >= blockWindow:
		return WindowWarn
	}
	return WindowBlock
}
