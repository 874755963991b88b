// Package openclaw is for hosts that come from OpenClaw, the agent whose behaviour Winnow began with: its configuration
// of turn limits ([HistoryLimits]) and windows ([ResolveWindow]), the headings that it takes from an AGENTS.md
// ([RuleHeadings]), and replies that say nothing ([IsSilent], [StripSilent], [SilentFilter]).
//
// docs/openclaw.md says for each key of its configuration which option of Winnow has taken its place. Comments call
// OpenClaw the reference.
package openclaw

// RuleHeadings returns the headings of an AGENTS.md under which the reference looks for rules, for
// [prompt.ExtractRules] and the RuleHeadings of package prompt's Options.
//
// [prompt.ExtractRules]: https://pkg.go.dev/github.com/winnowgo/winnow/prompt#ExtractRules
func RuleHeadings() []string { return []string{"Session Startup", "Red Lines"} }
