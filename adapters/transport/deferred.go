package transport

import "github.com/tidwall/gjson"

// sentTools returns the definitions of tools that the model reads: without those that the provider loads on demand,
// which are not billed. A namespace of such tools is counted for its name and description.
func sentTools(list gjson.Result) (text string) {
	for _, t := range list.Array() {
		switch {
		case t.Get("defer_loading").Bool():
		case t.Get("tools").IsArray():
			text += t.Get("name").Raw + t.Get("description").Raw + sentTools(t.Get("tools"))
		default:
			text += t.Raw
		}
	}
	return text
}
