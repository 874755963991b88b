package chunks

import "github.com/winnowgo/winnow/internal/count"

// The numbers of the reference system's staged summaries.
const (
	baseRatio       = 0.4   // share of the summarizer's window that one chunk may take
	minRatio        = 0.15  // the same where the messages are large
	Margin          = 1.2   // estimates may be too low by this factor
	promptAllowance = 4_096 // tokens of each chunk set aside for the prompt around it
)

// WithMargin returns the limit for estimates with which the true count stays within limit.
func WithMargin(limit int) int { return max(1, int(float64(limit)/Margin)) }

// Ratio returns the share of the window that a chunk may take: less where the average item is large, so that a
// chunk is not far above it.
func Ratio(sizes []int, window int) float64 {
	if len(sizes) == 0 || window <= 0 {
		return baseRatio
	}
	average := float64(count.Sum(sizes)) / float64(len(sizes)) * Margin / float64(window)
	if average <= 0.1 {
		return baseRatio
	}
	return max(minRatio, baseRatio-min(average*2, baseRatio-minRatio))
}

// Limit returns the estimated tokens that a chunk may have. The allowance for the prompt is at most a quarter of
// the share, so that a small window is not left without room.
func Limit(sizes []int, window int) int {
	share := count.Share(window, Ratio(sizes, window))
	return WithMargin(share - min(promptAllowance, share/4))
}

// Beyond returns how many of the items come before the newest ones that have at most share together, in halves by size
// as the reference drops them.
func Beyond(sizes []int, share int) int {
	ahead := 0
	for count.Sum(sizes) > share {
		runs := Runs(sizes, 2)
		if len(runs) < 2 {
			break
		}
		ahead += runs[0]
		sizes = sizes[runs[0]:]
	}
	return ahead
}
