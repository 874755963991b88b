package accounting

// Some hosts and gateways report counts of something else. Using a wrong count would move the budget of every later
// request. Ignoring a right one only makes the estimates a little less exact.
const (
	// LeastCount is the least share of the estimate that a provider's count may have. A lower count leaves out what was
	// cached, or belongs to another request.
	LeastCount = 0.5
	// MostCount: a count above this multiple of the window is the sum of several calls.
	MostCount = 1.5
)

// Doubt returns why a provider's count of a prompt is not used, or "". shown is the estimate of what the provider
// certainly counts, and window is the model's.
func (a *Account) Doubt(prompt, shown, window int) (reason string) {
	switch {
	case prompt == 0:
		return "zero"
	case float64(prompt) > MostCount*float64(window):
		return "above the window"
	case float64(prompt) < LeastCount*float64(a.BilledAs(shown)):
		return "below half of the estimate"
	}
	return ""
}
