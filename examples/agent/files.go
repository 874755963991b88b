package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
)

// files are what the tools show, by their paths.
type files map[string]string

// call runs a tool. Errors are results for the model.
func (f files) call(p winnow.Part) string {
	var in struct{ Path, Pattern string }
	if err := json.Unmarshal(p.Arguments, &in); err != nil {
		return err.Error()
	}
	switch p.Name {
	case "list":
		return strings.Join(slices.Sorted(maps.Keys(f)), "\n")
	case "read":
		if text, ok := f[in.Path]; ok {
			return text
		}
		return "error: no such file: " + in.Path
	case "search":
		return f.search(in.Pattern)
	}
	return fmt.Sprintf("error: there is no tool %q", p.Name)
}

func (f files) search(pattern string) string {
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(f)) {
		for line := range strings.Lines(f[path]) {
			if expression.MatchString(line) {
				fmt.Fprintf(&b, "%s: %s\n", path, strings.TrimSuffix(line, "\n"))
			}
		}
	}
	return b.String()
}

// project returns a harbour of small services with a week of logs. Each log has 24 000 characters, about 9 000 tokens:
// more than a request of the conversation may have.
func project() files {
	f := files{
		"README.md": "# Harbour\n\nOrders come in at the gateway, are priced by the tariff service and handed to " +
			"dispatch, which tells the port.\n\n    gateway -> tariff -> dispatch -> port\n\n" +
			"- config/    one file a service; changes need a ticket, and those of billing an approval\n" +
			"- logs/      one file a day\n",
		"config/gateway.yaml":  "listen: :8080\ntariff: http://tariff:8081\n",
		"config/dispatch.yaml": "timeout: 800ms # was 8s before the release of monday\nretries: 0\n",
		"config/billing.yaml":  "currency: EUR\naccount: DE89 3704 0044 0532 0130 00\n",
	}
	for i, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		f["logs/"+day+".log"] = logOf(i, day)
	}
	return f
}

// logOf returns the log of a day. In it, orders for Lisbon with a heavy load take too long.
func logOf(n int, day string) string {
	const orders = 80
	ports := []string{"OSL", "GOA", "LIS", "OSL"}
	var b strings.Builder
	for i := range orders {
		at := fmt.Sprintf("%s %02d:%02d:%02d", day, 6+i/8, i*7%60, i*13%60)
		order := fmt.Sprintf("id=H-%d%03d port=%s", n+1, i, ports[i%len(ports)])
		weight := 40 + (i*37+n*11)%900
		fmt.Fprintf(&b, "%s INFO  gateway order accepted %s weight=%d customer=c%04d\n", at, order, weight,
			(i*7919+n)%10_000)
		fmt.Fprintf(&b, "%s INFO  tariff priced %s amount=%d.%02d rule=%d\n", at, order, weight/3, i%100, weight/300)
		if ports[i%len(ports)] == "LIS" && weight > 500 {
			fmt.Fprintf(&b, "%s ERROR dispatch timeout %s after=800ms: deadline exceeded, not retried\n", at, order)
			continue
		}
		fmt.Fprintf(&b, "%s INFO  dispatch handed over %s berth=%d took=%dms\n", at, order, i%9+1, weight*3/2%790)
		fmt.Fprintf(&b, "%s INFO  port confirmed %s\n", at, order)
	}
	return b.String()
}
