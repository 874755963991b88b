package openclaw

// defaultWindow is the reference's DEFAULT_CONTEXT_TOKENS.
const defaultWindow = 200_000

// WindowConfig holds what is known about a model's context window, in tokens. 0 and negative numbers mean not set.
type WindowConfig struct {
	Configured int // what the host's configuration says of the model; wins over Model
	Model      int // what the model's metadata says
	Cap        int // the host's own upper limit, for any model
	Default    int // taken where neither Configured nor Model is set (200 000)
}

// ResolveWindow returns the context window to use, in tokens, and where it comes from: "configured", "model" or
// "default", or "cap" where c.Cap is smaller than that. A host that knows the model's name can leave the window to
// [winnow.New], which takes 0 for that of the model.
//
// [winnow.New]: https://pkg.go.dev/github.com/winnowgo/winnow#New
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
