package winnow

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// Defaults. The numbers of pruning and truncation are the reference system's; those of the cache are
// Anthropic's prices for the five-minute cache, the strictest of the common ones.
const (
	defaultKeepLastAssistants   = 3
	defaultSoftTrimRatio        = 0.3
	defaultHardClearRatio       = 0.5
	defaultMinPrunableToolChars = 50_000
	defaultSoftTrimMaxChars     = 4_000
	defaultSoftTrimHeadChars    = 1_500
	defaultSoftTrimTailChars    = 1_500
	defaultPlaceholder          = "[Old tool result content cleared]"

	defaultMaxShare     = 0.3
	defaultMaxChars     = 400_000
	defaultMinKeepChars = 2_000

	// Below this, most conversations are short ones, and nothing is worth hiding from the model. In a replay of the
	// recorded sessions a lower floor saves 3 % more of the cost; see BENCHMARKS.md for the curve.
	defaultFoldAbove  = 0.2
	defaultFoldTokens = 40_000

	defaultReserve         = 20_000 // the reference's reserve floor
	defaultKeepRecent      = 20_000 // the reference's, like the share, the attempts and the threshold
	defaultMaxHistoryShare = 0.5
	defaultTimeout         = 180 * time.Second
	defaultAttempts        = 3
	defaultSoftThreshold   = 4_000

	defaultTTL        = 5 * time.Minute
	defaultReadPrice  = 0.1
	defaultWritePrice = 1.25

	// A default above this share of the window would leave a small window no room for the conversation.
	maxDefaultShare = 0.25
	// A host may pass the model's output limit as the reserve, which may be the whole window. At least a quarter is
	// left for the prompt.
	maxReserveShare = 0.75
)

// withDefaults returns a copy of o in which every field is set and no number is negative. Its estimator is e if o has
// none.
func (o *PruneOptions) withDefaults(e Estimator) PruneOptions {
	p := valueOf(o)
	setNumber(&p.KeepLastAssistants, defaultKeepLastAssistants)
	setFloat(&p.SoftTrimRatio, defaultSoftTrimRatio)
	setFloat(&p.HardClearRatio, defaultHardClearRatio)
	setNumber(&p.MinPrunableToolChars, defaultMinPrunableToolChars)
	setNumber(&p.SoftTrimMaxChars, defaultSoftTrimMaxChars)
	setNumber(&p.SoftTrimHeadChars, defaultSoftTrimHeadChars)
	setNumber(&p.SoftTrimTailChars, defaultSoftTrimTailChars)
	if runes.IsBlank(p.Placeholder) { // providers refuse a text of nothing but white space
		p.Placeholder = defaultPlaceholder
	}
	if p.Estimator == nil {
		p.Estimator = e
	}
	return p
}

// withDefaults returns a copy of o in which every field but Notice is set and no number is negative.
func (o *TruncateOptions) withDefaults(e Estimator) TruncateOptions {
	t := valueOf(o)
	setFloat(&t.MaxShare, defaultMaxShare)
	setNumber(&t.MaxChars, defaultMaxChars)
	setNumber(&t.MinKeepChars, defaultMinKeepChars)
	if runes.IsBlank(t.Notice) { // a cut result might then be nothing but white space
		t.Notice = ""
	}
	if t.Estimator == nil {
		t.Estimator = e
	}
	return t
}

// withDefaults returns a deep copy of o with its defaults for a window, in tokens, or an error that names the bad
// field. The caller may change o afterwards.
func (o *Options) withDefaults(window int) (Options, error) {
	c := valueOf(o)
	if err := c.check(window); err != nil {
		return Options{}, err
	}
	if err := c.describeModel(); err != nil {
		return Options{}, fmt.Errorf("winnow: New: Estimator: %w", err)
	}
	if c.Thinking == "" {
		c.Thinking = ThinkingKept
	}
	if c.Summarizer == nil {
		c.Summarizer = Digest()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	share := max(1, count.Share(window, maxDefaultShare))
	setNumber(&c.Reserve, min(defaultReserve, share))
	c.Reserve = min(c.Reserve, count.Share(window, maxReserveShare))
	c.HistoryTurns, c.Overhead, c.MaxBytes = max(0, c.HistoryTurns), max(0, c.Overhead), max(0, c.MaxBytes)
	if c.Recall { // the tool is part of every request, and no message shows it
		c.Overhead = count.Add(c.Overhead, recallOverhead(c.Estimator))
	}

	// The stage estimates as the manager does that runs it. On its own it takes four characters for a token.
	truncate := c.Truncate.withDefaults(c.Estimator)
	prune := c.Prune.withDefaults(c.Estimator)
	prune.Estimator = c.Estimator // of requests, whose tokens count here
	tools := valueOf(c.Tools)
	// What the host wants to keep is not pruned either. The lists are copied, because the host may write to its own.
	prune.AllowTools, prune.DenyTools = slices.Clone(prune.AllowTools), slices.Concat(prune.DenyTools, tools.Keep)
	c.Prune, c.Truncate, c.Tools = &prune, &truncate, &tools
	c.Compact, c.Cache = c.Compact.withDefaults(window), c.Cache.withDefaults()
	return c, nil
}

// withDefaults returns a copy of o with its defaults for a window, in tokens. Off, Background and the host's functions
// stay as they are. The default of KeepRecent is at most a share of the window, so that a small window has something to
// summarize.
func (o *CompactOptions) withDefaults(window int) *CompactOptions {
	c := valueOf(o)
	setNumber(&c.KeepRecent, min(defaultKeepRecent, max(1, count.Share(window, maxDefaultShare))))
	setFloat(&c.MaxHistoryShare, defaultMaxHistoryShare)
	setNumber(&c.Timeout, defaultTimeout)
	setNumber(&c.Attempts, defaultAttempts)
	c.Attempts = max(1, c.Attempts)
	if c.SummarizerWindow <= 0 {
		c.SummarizerWindow = window
	}
	setNumber(&c.SoftThreshold, defaultSoftThreshold)
	return &c
}

// withDefaults returns a copy of o with its defaults. They are those of a cache with the common prices: to rewrite what
// is cached costs more than to send it once more.
func (o *CacheOptions) withDefaults() *CacheOptions {
	c := valueOf(o)
	setNumber(&c.TTL, defaultTTL)
	setFloat(&c.ReadPrice, defaultReadPrice)
	setFloat(&c.WritePrice, defaultWritePrice)
	return &c
}

// setNumber sets *p to value if it is 0, and to 0 if it is negative.
func setNumber[T int | time.Duration](p *T, value T) {
	if *p == 0 {
		*p = value
	}
	*p = max(0, *p)
}

func setFloat(p *float64, value float64) {
	if *p == 0 || math.IsNaN(*p) || math.IsInf(*p, 0) {
		*p = value
	}
	*p = max(0, *p)
}

// known returns what is known of tools: of the common ones and of the host's own. It holds none of the host's lists.
func (o *ToolOptions) known() *toolcall.Files {
	return toolcall.Common.With(toolcall.More{
		Read: o.Read, Modify: o.Modify, Paths: o.PathArguments, Plans: o.Plan, Skills: o.Skill,
	})
}
