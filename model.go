package winnow

import (
	"cmp"

	"github.com/winnowgo/winnow/internal/models"
)

// What follows from the name of the model.

// windowFor returns the window for a host that passed n to New: n or, if n is 0, the window of Options.Model. It is 0
// if that model is unknown.
func (o *Options) windowFor(n int) int {
	if n != 0 || o == nil {
		return n // the host's number wins: it may have only a part of the window, or a beta with a larger one
	}
	known, _ := models.Find(o.Model)
	return known.Window
}

// defaultCacheTokens is the least prefix that a provider caches, where the model's is not known.
const defaultCacheTokens = 1_024

// cacheTokens returns how many tokens a prefix has at least that the provider of a model caches.
func cacheTokens(model string) int {
	known, _ := models.Find(model)
	return cmp.Or(known.CacheTokens, defaultCacheTokens)
}

// describeModel sets the options that the host has not set and that follow from the model's name. An unknown name gives
// the defaults.
func (o *Options) describeModel() error {
	if o.Estimator == nil {
		e, err := NewEstimator(FamilyForModel(o.Model))
		if err != nil {
			return err
		}
		o.Estimator = e
	}
	if o.Thinking == "" && models.BindsThinking(o.Model) {
		o.Thinking = ThinkingBound
	}
	if known, ok := models.Find(o.Model); ok { // else the defaults hold, the strictest of the common ones
		o.Cache = o.Cache.of(known)
	}
	return nil
}

// of returns a copy of o in which each field that was not set has the value of the known model.
func (o *CacheOptions) of(known models.Model) *CacheOptions {
	c := valueOf(o)
	if c.TTL == 0 {
		c.TTL = known.CacheTTL
	}
	for _, price := range []struct {
		option *float64
		known  float64
	}{{&c.ReadPrice, known.CacheRead}, {&c.WritePrice, known.CacheWrite}} {
		if *price.option == 0 {
			*price.option = price.known
		}
	}
	return &c
}
