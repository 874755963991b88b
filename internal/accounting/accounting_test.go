package accounting

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/overflow"
)

var host = Host{Window: 100_000, Reserve: 10_000}

func TestBudget(t *testing.T) {
	var a Account
	assert.Equal(t, 90_000, a.Budget(90_000), "nothing was learned")
	a.Limit = 60_000
	assert.Equal(t, 60_000, a.Budget(90_000))
	a.Guess.Most = 30_000
	assert.Equal(t, 30_000, a.Budget(90_000))
	assert.Equal(t, 60_000, a.Told(90_000), "a guess was not told")
	assert.True(t, a.IsGuessed())
	a.ForgetGuesses()
	assert.Equal(t, Account{Limit: 60_000}, a)
}

func TestEstimatedWindow(t *testing.T) {
	var a Account
	assert.Equal(t, 100_000, a.EstimatedWindow(host))
	assert.Equal(t, 95_000, a.EstimatedWindow(Host{Window: 100_000, Overhead: 5_000}))
	a.Window = 50_000
	assert.Equal(t, 50_000, a.EstimatedWindow(host))
	a.Guess.Most = 20_000
	assert.Equal(t, 30_000, a.EstimatedWindow(host), "the guess is of what fits beside the reserve")
	assert.Equal(t, 1, new(Account).EstimatedWindow(Host{Overhead: 5}))
}

func TestLearn(t *testing.T) {
	refused := Refusal{Tokens: 50_000, Messages: 10, Estimate: 50_000, IsSent: true}
	tokens := func(size, limit, output int) overflow.Diagnosis {
		return overflow.Diagnosis{Class: overflow.ClassOverflow, Unit: overflow.UnitTokens, Size: size, Limit: limit, Output: output}
	}
	for _, tt := range []struct {
		name   string
		said   overflow.Diagnosis
		want   Lesson
		limit  int // of the account
		window int
		guess  int
	}{
		{"no numbers", tokens(0, 0, 0), Lesson{Tokens: 50_000, IsGuessed: true}, 0, 0, 35_000},
		{"a count and a limit", tokens(55_000, 40_000, 0), Lesson{Tokens: 55_000, Allowed: 40_000}, 30_000, 40_000, 0},
		{"a limit beside the answer", tokens(55_000, 40_000, 5_000), Lesson{Tokens: 50_000, Allowed: 35_000}, 35_000, 35_000, 0},
		{"a small limit keeps three quarters for the prompt", tokens(0, 8_000, 0), Lesson{Tokens: 50_000, Allowed: 8_000}, 6_000, 8_000, 0},
		{"a limit too small to be a context window", tokens(0, 1_000, 0), Lesson{Tokens: 50_000, IsGuessed: true}, 0, 0, 35_000},
		{"a limit that explains nothing", tokens(0, 90_000, 0), Lesson{Tokens: 50_000, IsGuessed: true}, 80_000, 90_000, 35_000},
		{"a count of something else", tokens(5_000, 40_000, 0), Lesson{Tokens: 50_000, Allowed: 40_000}, 30_000, 40_000, 0},
		{"characters", overflow.Diagnosis{Unit: overflow.UnitChars, Size: 200_000, Limit: 100_000}, Lesson{Tokens: 50_000, Allowed: 25_000}, 25_000, 25_000, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var a Account
			r := refused
			r.Said = tt.said
			assert.Equal(t, tt.want, a.Learn(&r, host))
			assert.Equal(t, []int{tt.limit, tt.window, tt.guess}, []int{a.Limit, a.Window, a.Guess.Most})
		})
	}
	refused.IsLast = true
	var a Account
	a.Learn(&refused, host)
	assert.Equal(t, 25_000, a.Guess.Most, "the last retry goes to half")
}

// TestLearnLimitsTheHiddenPart: the part of the prompt that no message shows, such as tools, cannot be made smaller. A
// count far above the estimate is therefore taken for a wrong estimator, and not for a large hidden part.
func TestLearnLimitsTheHiddenPart(t *testing.T) {
	a := Account{Meter: Meter{Anchor: Anchor{Messages: 4, Estimate: 1_000, Prompt: 60_000}}}
	r := Refusal{Tokens: 61_000, Messages: 4, Estimate: 1_000, IsSent: true}
	r.Said = overflow.Diagnosis{Unit: overflow.UnitTokens, Size: 60_500, Limit: 50_000}
	a.Learn(&r, host)
	assert.InDelta(t, 40_500, a.Billed, 1, "half of the budget is taken for the hidden part")
	assert.InDelta(t, 1_000, a.Estimated, 1)
}

func TestLearnBody(t *testing.T) {
	bytes := func(size, limit int) overflow.Diagnosis {
		return overflow.Diagnosis{Class: overflow.ClassBytes, Unit: overflow.UnitBytes, Size: size, Limit: limit}
	}
	for _, tt := range []struct {
		name  string
		said  overflow.Diagnosis
		told  int
		guess int
	}{
		{"a limit", bytes(0, 600), 600, 0},
		{"counted in another way: the same share", bytes(2_000, 1_000), 500, 0},
		{"counted lower than by us: as it was said", bytes(900, 600), 600, 0},
		{"a limit above the refused size", bytes(0, 5_000), 0, 700},
		{"no numbers", overflow.Diagnosis{Class: overflow.ClassBytes}, 0, 700},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var a Account
			told := 0
			isGuessed := a.LearnBody(&Refusal{Said: tt.said, Bytes: 1_000}, &told)
			assert.Equal(t, tt.guess > 0, isGuessed)
			assert.Equal(t, tt.told, told)
			assert.Equal(t, tt.guess, a.Body.Most)
		})
	}
	told := 400
	new(Account).LearnBody(&Refusal{Said: bytes(0, 600), Bytes: 1_000}, &told)
	assert.Equal(t, 400, told, "the lower one holds")
}

func TestAccept(t *testing.T) {
	for _, tt := range []struct {
		reason                string
		limit, window, prompt int
		wantLimit, wantWindow int
	}{
		{"within the limit", 3_000, 4_000, 3_000, 3_000, 4_000},
		{"with less room for the answer", 3_000, 4_000, 4_000, 3_000, 4_000},
		{"more than the whole window", 3_000, 4_000, 4_001, 0, 0},
		{"a limit without room for the answer, which was told later", 5_000, 4_000, 4_500, 5_000, 0},
		{"nothing was told", 0, 0, 4_500, 0, 0},
	} {
		a := Account{Limit: tt.limit, Window: tt.window}
		a.Accept(tt.prompt)
		assert.Equal(t, []int{tt.wantLimit, tt.wantWindow}, []int{a.Limit, a.Window}, tt.reason)
	}
}

func TestTakeOver(t *testing.T) {
	before := Account{Guess: Limit{Most: 100}}
	learned := Account{Guess: Limit{Most: 120}, Meter: Meter{Billed: 2, Anchor: Anchor{Messages: 3, Prompt: 9}}}
	a := before
	a.Limit = 70
	a.TakeOver(&learned, &before)
	assert.Equal(t, 120, a.Guess.Most)
	assert.Equal(t, 70, a.Limit, "what the provider told meanwhile stays")
	assert.InDelta(t, 2.0, a.Billed, 0)
	assert.Equal(t, Lost, a.Anchor.Messages)

	before = Account{Limit: 70, Window: 90}
	a = before
	a.TakeOver(&Account{}, &before)
	assert.Equal(t, []int{0, 0}, []int{a.Limit, a.Window}, "what was disproved stays forgotten")

	a = Account{Guess: Limit{Most: 90}, Meter: Meter{Billed: 5}}
	a.TakeOver(&learned, &before)
	assert.Equal(t, 90, a.Guess.Most, "it has learned more meanwhile")
	assert.InDelta(t, 5.0, a.Billed, 0)
}

func TestDoubt(t *testing.T) {
	for _, tt := range []struct {
		name          string
		prompt, shown int
		want          string
	}{
		{"nothing", 0, 1_000, "zero"},
		{"the estimate", 1_000, 1_000, ""},
		{"half of it", 500, 1_000, ""},
		{"less than half: what was cached is left out", 499, 1_000, "below half of the estimate"},
		{"more than a window, by the provider's own count", 15_000, 1_000, ""},
		{"several calls", 15_001, 1_000, "above the window"},
	} {
		var a Account
		assert.Equal(t, tt.want, a.Doubt(tt.prompt, tt.shown, 10_000), tt.name)
	}
	a := Account{Meter: Meter{Billed: 300_000, Estimated: 100_000}}
	assert.Equal(t, "below half of the estimate", a.Doubt(1_000, 1_000, 10_000), "three times the estimate was billed before")
}
