package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The project that the scripted model works on: a harbour of small services with a week of logs. Each log has 24 000
// characters, about 9 000 tokens: more than a request of the scripted conversation may have.

var days = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

const projectReadme = `# Harbour

Orders come in at the gateway, are priced by the tariff service and handed to dispatch, which tells the port.

    gateway -> tariff -> dispatch -> port

- config/    one file a service; changes need a ticket, and those of billing an approval
- logs/      one file a day
`

// writeProject writes the project below dir.
func writeProject(dir string) error {
	files := map[string]string{
		"README.md":           projectReadme,
		"config/gateway.yaml": "listen: :8080\ntariff: http://tariff:8081\n",
		"config/dispatch.yaml": "timeout: 800ms # was 8s before the release of monday\nretries: 0\nports: [OSL, LIS, " +
			"GOA]\n",
		"config/billing.yaml": "currency: EUR\naccount: DE89 3704 0044 0532 0130 00\n",
	}
	for i, day := range days {
		files["logs/"+day+".log"] = logOf(i, day)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// logOf returns the log of a day. In it, orders for Lisbon with a heavy load take too long.
func logOf(n int, day string) string {
	const orders = 80
	ports := []string{"OSL", "GOA", "LIS", "OSL"}
	var b strings.Builder
	for i := range orders {
		id := fmt.Sprintf("H-%d%03d", n+1, i)
		at := fmt.Sprintf("%s %02d:%02d:%02d", day, 6+i/8, i*7%60, i*13%60)
		port, weight := ports[i%len(ports)], 40+(i*37+n*11)%900
		fmt.Fprintf(&b, "%s INFO  gateway order accepted id=%s port=%s weight=%d customer=c%04d\n", at, id, port,
			weight, (i*7919+n)%10_000)
		fmt.Fprintf(&b, "%s INFO  tariff priced id=%s amount=%d.%02d rule=%s-%d\n", at, id, weight/3, i%100,
			strings.ToLower(port), weight/300)
		if port == "LIS" && weight > 500 {
			fmt.Fprintf(&b, "%s ERROR dispatch timeout id=%s port=%s after=800ms: context deadline exceeded, not "+
				"retried\n", at, id, port)
			continue
		}
		fmt.Fprintf(&b, "%s INFO  dispatch handed over id=%s port=%s berth=%d took=%dms\n", at, id, port, i%9+1,
			weight*3/2%790)
		fmt.Fprintf(&b, "%s INFO  port confirmed id=%s port=%s\n", at, id, port)
	}
	return b.String()
}
