package accounting

// Some hosts and gateways pass on counts of something else. A wrong count that is used would move the budget of every
// later request. A right count that is not used costs a little exactness.
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
