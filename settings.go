package winnow

import "github.com/winnowgo/winnow/internal/accounting"

// settings are what [New] made of its arguments. Nothing writes to them afterwards, so they are read without the lock.
type settings struct {
	window        int
	opts          Options // with every default
	pruneFrom     float64 // share of the window above which stale parts are dropped; 0: the host did not set it
	isKeepLastSet bool    // the host set PruneOptions.KeepLastAssistants
	minifier      minifier

	// the host gave these stages an estimator of their own, whose counts are not those of a request
	pruneHasEstimator, truncateHasEstimator bool
}

// limits returns what the host says of the window: its size, the reserve for the answer, and the overhead.
func (s *settings) limits() accounting.Host {
	return accounting.Host{Window: s.window, Reserve: s.opts.Reserve, Overhead: s.opts.Overhead}
}
