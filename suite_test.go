package winnow_test

import (
	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
	"github.com/winnowgo/winnow/internal/test/wire"
)

// What the tests of the package share with those of other packages: random histories, and what providers refuse.

type dice = histories.Dice

var (
	seeded        = histories.Seeded
	randomHistory = histories.Random
	historyFrom   = histories.From
	toolNames     = histories.ToolNames

	isSound    = histories.IsSound
	failedTurn = histories.Failed
	hasContent = histories.HasContent
	leads      = histories.Leads
	validText  = histories.ValidText
)

// validateRequest returns what providers would refuse in messages, or nil.
func validateRequest(messages []winnow.Message) error { return wire.Rules{}.Check(messages) }
