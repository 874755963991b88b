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

// WindowStatus is the advice of [CheckWindow].
type WindowStatus string

const (
	WindowOK    WindowStatus = "ok"    // 32 000 tokens or more, or not known
	WindowWarn  WindowStatus = "warn"  // below 32 000 tokens: works, with little history
	WindowBlock WindowStatus = "block" // below 16 000 tokens: a host may refuse such a model
)

// CheckWindow says whether a window, in tokens, is large enough for an agent; 0 or less: not known. It is advice: [New]
// takes any positive window.
func CheckWindow(tokens int) WindowStatus {
	switch {
	case tokens <= 0 || tokens >= warnWindow:
		return WindowOK
	case tokens >= blockWindow:
		return WindowWarn
	}
	return WindowBlock
}
