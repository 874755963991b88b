package winnow

import (
	"strings"

	"github.com/winnowgo/winnow/internal/models"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// What follows from the name of the model, and what becomes of a conversation that goes on with another one.

// firstBound is the first version of Claude whose thinking is bound to what stands in front of it: 5.1.
const firstBoundMajor, firstBoundMinor = 5, 1

// windowFor returns the window to use where New was given n: that of the model if n is 0 and the model is known.
func (o *Options) windowFor(n int) int {
	if n != 0 || o == nil {
		return n // what the host says holds: it may have a smaller share of the window, or a beta with a larger one
	}
	known, _ := models.Find(o.Model)
	return known.Window
}

// describeModel sets what the model's name tells and the host has not set. An unknown name tells nothing.
func (o *Options) describeModel() error {
	if o.Estimator == nil {
		e, err := NewEstimator(FamilyForModel(o.Model))
		if err != nil {
			return err
		}
		o.Estimator = e
	}
	if o.Thinking == "" && bindsThinking(o.Model) {
		o.Thinking = ThinkingBound
	}
	if known, ok := models.Find(o.Model); ok { // else the defaults, which are the strictest of the common ones
		o.Cache = o.Cache.of(known)
	}
	return nil
}

// of returns a copy of o in which what is not set is as it is known of the model.
func (o *CacheOptions) of(known models.Model) *CacheOptions {
	c := valueOf(o)
	if c.TTL == 0 {
		c.TTL = known.CacheTTL
	}
	if c.MinTokens == 0 {
		c.MinTokens = known.CacheTokens
	}
	for _, price := range []struct {
		option *float64
		known  float64
	}{{&c.ReadPrice, known.CacheRead}, {&c.WritePrice, known.CacheWrite}, {&c.OutputPrice, known.Output}} {
		if *price.option == 0 {
			*price.option = price.known
		}
	}
	return &c
}

// bindsThinking reports whether the signatures of a model's thinking hold only behind the messages that it was written
// behind.
func bindsThinking(model string) bool {
	name := strings.ToLower(model)
	if !strings.Contains(name, "claude") {
		return false
	}
	major, minor := tokencount.Version(name, "claude")
	return major > firstBoundMajor || major == firstBoundMajor && minor >= firstBoundMinor
}

// isSameModel reports whether two names are of one model at one provider. Another spelling may be another gateway, with
// limits of its own.
func isSameModel(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}
