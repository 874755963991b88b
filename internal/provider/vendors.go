package provider

// vendorChecks are the rules of those who speak Chat Completions in their own way.
var vendorChecks = map[Vendor][]chatCheck{}
