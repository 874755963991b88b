package winnow

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/models"
	"github.com/winnowgo/winnow/internal/recall"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// PruneOptions are the options of [PruneContext]. Characters are Unicode code points, as everywhere in the package.
type PruneOptions struct {
	KeepLastAssistants   int       // newest assistant messages that protect the results behind them (3)
	SoftTrimRatio        float64   // share of the window above which results are trimmed (0.3)
	HardClearRatio       float64   // share of the window above which results are cleared (0.5)
	MinPrunableToolChars int       // clear only if what may be cleared has so many characters (50 000)
	SoftTrimMaxChars     int       // only longer results are trimmed, in characters (4 000)
	SoftTrimHeadChars    int       // characters kept of the beginning (1 500)
	SoftTrimTailChars    int       // characters kept of the end (1 500)
	NoHardClear          bool      // trim, and never clear
	Placeholder          string    // text of a cleared result; blank: "[Old tool result content cleared]"
	AllowTools           []string  // tools whose results may be pruned: names or patterns with *, in any case (all)
	DenyTools            []string  // tools whose results are never pruned, likewise; wins over AllowTools
	Estimator            Estimator // nil: CharsPerToken(4), a third or less of what Chinese, Japanese, Korean takes
}

// TruncateOptions are the options of [TruncateToolResults]; nil and the zero value mean the defaults.
type TruncateOptions struct {
	MaxShare     float64   // share that one result may take of the window, or of the window that a provider named (0.3)
	MaxChars     int       // characters that one result may have (400 000)
	MinKeepChars int       // characters that are kept of a text even if it then exceeds the limit (2 000)
	Notice       string    // appended verbatim to what is cut; blank: a text that says how much was left out
	HeadOnly     bool      // keep only the beginning; false: also what matters of the rest
	Estimator    Estimator // nil: NewEstimator("")
}

// Options are the options of [New]. In this and all other options, the zero value of a field means the default in
// parentheses, and a negative number means 0. New refuses a NaN, an infinity, a share above 1 and a negative FoldAbove
// other than FoldAlways; the stages take the default for a NaN or an infinity. The manager is locked while it calls
// Estimator, Journal, Now and Logger's handler: these must not use it.
type Options struct {
	Model      string     // the model's name as its provider or a gateway spells it, see [New] ("": not known)
	Summarizer Summarizer // writes the summary of a compaction (nil: [Digest])
	Estimator  Estimator  // counts tokens (nil: [NewEstimator] with the Model's family)

	HistoryTurns int // newest turns that are kept (0: all); the list grows to 1.5 times this number before it is cut

	// share of the window, less Overhead, from which on records stand for old answers that call tools, and for their
	// results, but for the newest and what is in force (0.2, and at most 40 000 tokens). Below it, what was sent is
	// sent again as it was, but for old images of more than 20. 1: only when a request does not fit. See [FoldAlways]
	FoldAbove  float64
	Tools      *ToolOptions // the names of the host's own tools, as far as it matters what they do
	WholeSteps int          // newest steps that stay whole as long as the request fits with them (one to four)
	// how results are trimmed or cleared where nothing milder makes a request fit. SoftTrimRatio, HardClearRatio,
	// MinPrunableToolChars and a KeepLastAssistants above 1 are for [PruneContext] alone
	Prune    *PruneOptions
	Truncate *TruncateOptions // which results are cut; its Estimator defaults to the Estimator above
	Compact  *CompactOptions  // when and how history is summarized
	Cache    *CacheOptions    // the provider's prompt cache

	NoMinify bool // send new results as they came, with data that no model reads and lines sent before: [OpMinify]

	Reserve  int            // tokens kept free for the answer (20 000, at most a quarter of the window)
	Overhead int            // tokens of system prompt and tool schemas (learned from the first Usage)
	Thinking ThinkingPolicy // what happens to older thinking when sent messages are rewritten (as the Model needs it)
	MaxBytes int            // of the body; a larger one loses its oldest images, then its oldest results (none)

	ErrorMatcher ErrorMatcher     // the host's own reading of errors, before [ClassifyError]'s (nil: none)
	Journal      Journal          // writes down what changes, before a request is returned (nil: none)
	Now          func() time.Time // the clock, in the years 0 to 9999: JSON has no others (nil: [time.Now])
	Logger       *slog.Logger     // receives decisions, never text of the conversation (nil: none)
	Recall       bool             // the model can ask for what is left out: offer it [RecallTool]
	RecallImages bool             // an answer of [Manager.Recall] that shows a whole result has its images too
}

// FoldAlways is the [Options].FoldAbove with which old work becomes records from the first request on, and files in
// work too.
const FoldAlways float64 = -1

// CompactOptions says when and how old history is replaced by a summary; nil and the zero value mean the defaults.
type CompactOptions struct {
	Off              bool          // never compact, not even in Recover; only a call of Manager.Compact does
	KeepRecent       int           // tokens of newest messages that stay behind a summary (20 000, at most a quarter)
	Timeout          time.Duration // of one summarizer call; one more may follow if it fails (180 s)
	TotalTimeout     time.Duration // of all that one Prepare, Compact or Recover makes (twice Timeout)
	Instructions     string        // added to every summary request
	SummarizerWindow int           // the summarizer's context window, in tokens (the manager's window)
	Rules            func() string // text that must survive every compaction, e.g. from AGENTS.md (nil: none)

	// runs once before each compaction, when one is near or due, so that the host can save what it wants to keep. It
	// may use the manager, and a failure is only logged (nil: none)
	BeforeCompact func(ctx context.Context, history []Message) error

	Background bool // summarize meanwhile, from 4 000 tokens before the summary is due; [Manager.Close] ends it
}

// ToolOptions names the host's own tools, besides those of the common agents. Case, underscores, dashes and a namespace
// in front of a name do not matter, except in Keep, Ask and PathArguments.
type ToolOptions struct {
	// tools whose calls and results stay as they are until a summary is due: names, or patterns with *, in any case
	Keep          []string
	Read          []string // tools that show the file that an argument names
	Modify        []string // tools that write, edit or delete that file
	PathArguments []string // the arguments that name the file; case matters
	FoldFiles     bool     // files that the agent reads and changes in a turn go with other old work
	Plan          []string // tools that write down a whole state, such as a plan: the newest call of each is in force
	Skill         []string // tools that load instructions by a name: the newest result for each name stays
	// tools that ask a person: their results stay like a message of that person. A namespace matters, and * stands for
	// any text
	Ask []string

	Notes  bool // the model has [NotesTool] and [CompactTool]
	Tokens int  // of Overhead, the definitions of tools: an [OverflowError] says so (0: not known)
}

// CacheOptions describes the provider's prompt cache; prices are relative to uncached input. What is not set comes from
// the table of models, by [Options].Model, or assumes a cache.
type CacheOptions struct {
	None       bool          // the provider caches nothing: every token is paid each time
	TTL        time.Duration // how long the provider keeps content that is not read (5 min)
	ReadPrice  float64       // of a cached token (0.1)
	WritePrice float64       // of a token that is written to the cache (1.25)
}

// ThinkingPolicy says what happens to a model's thinking when the bytes before it change. No policy edits thinking: it
// is sent unchanged, or not at all. "" is the default: [ThinkingBound] if the model that Options.Model names needs it,
// and [ThinkingKept] otherwise.
type ThinkingPolicy string

const (
	ThinkingKept    ThinkingPolicy = "kept"    // all thinking is sent as it came
	ThinkingDropped ThinkingPolicy = "dropped" // that of older turns is left out whenever sent messages are rewritten
	// ThinkingBound is for models that refuse or leave out thinking once something before it has changed (Claude 5.1,
	// GPT-6.2 and later, and any whose provider says so in [Usage].ThinkingDropped, whatever the policy). Sent messages
	// are rewritten only when a request does not fit otherwise or the model ends a phase; the thinking after the change
	// is left out, even from pins. A message that the host puts between a request and its answer is a change.
	ThinkingBound ThinkingPolicy = "bound"
)

// Journal writes down what has changed in the manager's state, before a request is returned: a delta for
// [Manager.Restore], as JSON in one line. If it fails, there is no request, and the manager is as it was, whether the
// delta is there or not: the next one takes the place of all. It must not call the manager.
type Journal func(delta []byte) error

// valueOf returns what p points to, or the zero value.
func valueOf[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

// check returns an error that names the first bad field.
func (o *Options) check(window int) error {
	if window <= 0 {
		if window == 0 && o.Model != "" {
			return fmt.Errorf("winnow: New: window is 0, and that of the model %q is not known: pass the model's "+
				"context window in tokens, as its provider's list of models says it, or the model's name as its "+
				"provider spells it", o.Model)
		}
		return fmt.Errorf("winnow: New: window is %d, want a number of tokens, or 0 and a Model", window)
	}
	switch o.Thinking {
	case "", ThinkingKept, ThinkingDropped, ThinkingBound:
	default:
		return fmt.Errorf("winnow: New: Thinking is %q, want %q, %q, %q or \"\" (as the model needs it)", o.Thinking,
			ThinkingKept, ThinkingDropped, ThinkingBound)
	}
	type field struct {
		name  string
		value float64
		share bool // at most 1
	}
	prune, cache := valueOf(o.Prune), valueOf(o.Cache)
	for _, f := range []field{
		{"FoldAbove", o.FoldAbove, true},
		{"Prune.SoftTrimRatio", prune.SoftTrimRatio, true}, {"Prune.HardClearRatio", prune.HardClearRatio, true},
		{"Truncate.MaxShare", valueOf(o.Truncate).MaxShare, true},
		{"Cache.ReadPrice", cache.ReadPrice, false}, {"Cache.WritePrice", cache.WritePrice, false},
	} {
		switch {
		case math.IsNaN(f.value) || math.IsInf(f.value, 0):
			return fmt.Errorf("winnow: New: %s is %v, want a number", f.name, f.value)
		case f.share && f.value > 1:
			return fmt.Errorf("winnow: New: %s is %v, want a share of at most 1", f.name, f.value)
		}
	}
	if o.FoldAbove < 0 && o.FoldAbove != FoldAlways {
		return fmt.Errorf("winnow: New: FoldAbove is %v, want a share in 0..1 or FoldAlways", o.FoldAbove)
	}
	return nil
}

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
	if o.Thinking == "" {
		o.Thinking = ThinkingKept
		if models.BindsThinking(o.Model) {
			o.Thinking = ThinkingBound
		}
	}
	if known, ok := models.Find(o.Model); ok { // else the defaults hold, the strictest of the common ones
		o.Cache = o.Cache.of(known)
	}
	return nil
}

// of returns a copy of o in which each field that was not set has the value of the known model.
func (o *CacheOptions) of(known models.Model) *CacheOptions {
	c := valueOf(o)
	c.TTL = cmp.Or(c.TTL, known.CacheTTL)
	c.ReadPrice, c.WritePrice = cmp.Or(c.ReadPrice, known.CacheRead), cmp.Or(c.WritePrice, known.CacheWrite)
	return &c
}

const (
	defaultTimeout = 180 * time.Second // OpenClaw's
	// A default above this share of the window would leave a small window no room for the conversation.
	maxDefaultShare = 0.25
)

// withDefaults returns a copy of o in which every field is set and no number is negative. Its estimator is e if o has
// none. The numbers are OpenClaw's.
func (o *PruneOptions) withDefaults(e Estimator) PruneOptions {
	p := valueOf(o)
	setDefault(&p.KeepLastAssistants, 3)
	setDefault(&p.SoftTrimRatio, 0.3)
	setDefault(&p.HardClearRatio, 0.5)
	setDefault(&p.MinPrunableToolChars, 50_000)
	setDefault(&p.SoftTrimMaxChars, 4_000)
	setDefault(&p.SoftTrimHeadChars, 1_500)
	setDefault(&p.SoftTrimTailChars, 1_500)
	if runes.IsBlank(p.Placeholder) { // providers refuse a text of nothing but white space
		p.Placeholder = "[Old tool result content cleared]"
	}
	if p.Estimator == nil {
		p.Estimator = e
	}
	return p
}

// withDefaults returns a copy of o in which every field but Notice is set and no number is negative. The numbers are
// OpenClaw's.
func (o *TruncateOptions) withDefaults(e Estimator) TruncateOptions {
	t := valueOf(o)
	setDefault(&t.MaxShare, 0.3)
	setDefault(&t.MaxChars, 400_000)
	setDefault(&t.MinKeepChars, 2_000)
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
	setDefault(&c.Reserve, min(20_000, share)) // OpenClaw's floor
	// A host may pass the model's output limit, which may be the whole window. A quarter is left for the prompt.
	c.Reserve = min(c.Reserve, count.Share(window, 0.75))
	c.HistoryTurns, c.WholeSteps = max(0, c.HistoryTurns), max(0, c.WholeSteps)
	c.Overhead, c.MaxBytes = max(0, c.Overhead), max(0, c.MaxBytes)
	if c.Recall { // the tool is part of every request, and no message shows it
		c.Overhead = count.Add(c.Overhead, recallOverhead(c.Estimator))
	}

	// The stage estimates as the manager does that runs it.
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
// stay as they are. The default of KeepRecent is OpenClaw's, and at most a share of the window, so that a small window
// has something to summarize.
func (o *CompactOptions) withDefaults(window int) *CompactOptions {
	c := valueOf(o)
	setDefault(&c.KeepRecent, min(20_000, max(1, count.Share(window, maxDefaultShare))))
	setDefault(&c.Timeout, defaultTimeout)
	setDefault(&c.TotalTimeout, 2*c.Timeout)
	if c.SummarizerWindow <= 0 {
		c.SummarizerWindow = window
	}
	return &c
}

// withDefaults returns a copy of o with its defaults: those of Anthropic for five minutes, the strictest of the
// common ones: to rewrite what is cached costs more than to send it once more.
func (o *CacheOptions) withDefaults() *CacheOptions {
	c := valueOf(o)
	setDefault(&c.TTL, 5*time.Minute)
	setDefault(&c.ReadPrice, 0.1)
	setDefault(&c.WritePrice, 1.25)
	return &c
}

// setDefault sets *p to value if it is 0, NaN or infinite, and to 0 if it is negative.
func setDefault[T int | time.Duration | float64](p *T, value T) {
	if f := float64(*p); f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		*p = value
	}
	*p = max(0, *p)
}

// known returns what is known of tools: of the common ones and of the host's own. It holds none of the host's lists.
func (o *ToolOptions) known() *toolcall.Files {
	return toolcall.Common.With(toolcall.More{
		Read: o.Read, Modify: o.Modify, Paths: o.PathArguments, Plans: o.Plan, Skills: o.Skill, Asks: o.Ask,
		Notes: o.Notes,
	})
}

// Tool is a tool that a model may call. It has no provider's form; each adapter converts it to the form of its SDK.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"` // for the model
	Schema      json.RawMessage `json:"parameters"`  // JSON schema of the arguments
}

// RecallTool returns the tool with which a model asks for what was left out. Offer it in each request of a conversation
// with [Options].Recall, and answer its calls with [Manager.Recall]. It takes at most 250 tokens.
func RecallTool() Tool {
	description, schema := recall.Definition()
	return Tool{Name: recall.Name, Description: description, Schema: json.RawMessage(schema)}
}

func recallOverhead(e Estimator) int {
	text, err := json.Marshal(RecallTool())
	if err != nil { // cannot happen: all values are constants
		return 0
	}
	return textTokens(e, string(text))
}

// isRefusedRecall reports whether m, a result of tool, says that [Manager.Recall] quotes nothing: what was asked for is
// not there, or need not be shown. That is not a failure of the agent's work.
func isRefusedRecall(m *Message, tool string) bool {
	return tool == recall.Name && len(m.Parts) == 1 && recall.IsRefusal(m.Parts[0].Text)
}
