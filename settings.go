package winnow

import "github.com/winnowgo/winnow/internal/accounting"

// settings are what [New] made of its arguments. Nothing writes to them afterwards, so they are read without the lock.
type settings struct {
	window   int
	opts     Options // with every default
	minifier minifier

	// the host gave the stage an estimator of its own, whose counts are not those of a request
	truncateHasEstimator bool
}

// limits returns what the host says of the window: its size, the reserve for the answer, and the overhead.
func (s *settings) limits() accounting.Host {
	return accounting.Host{Window: s.window, Reserve: s.opts.Reserve, Overhead: s.opts.Overhead}
}
