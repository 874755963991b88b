package models

import "strings"

// Claude 5.1 is the first version whose thinking is bound to the messages in front of it.
const firstBoundMajor, firstBoundMinor = 5, 1

// BindsThinking reports whether the signatures of a model's thinking are valid only if the messages before it are
// unchanged.
func BindsThinking(model string) bool {
	name := strings.ToLower(model)
	if !strings.Contains(name, "claude") {
		return false
	}
	major, minor := version(name, "claude")
	return major > firstBoundMajor || major == firstBoundMajor && minor >= firstBoundMinor
}

// IsSame reports whether a and b name one model at one provider. Another spelling may mean another gateway, which has
// its own limits; only case and outer spaces make no difference.
func IsSame(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}
