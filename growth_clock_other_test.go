//go:build !unix

package winnow

import "time"

var processStart = time.Now()

// processorTime is the time on the wall where nothing better is to be had.
func processorTime() time.Duration { return time.Since(processStart) }
