// Package times says how much the tests of a package try: a plain run tries a sample, CI more, and a long run all.
package times

import "flag"

var times = flag.Int("times", 1, "how many times as many random inputs, and recorded ones, the tests of properties try")

// Of returns how many inputs are tried where a plain run tries n.
func Of[N int | uint64](n N) N { return n * N(*times) }

// Every returns n if a plain run tries one in n: then one in so many is tried, and at last all.
func Every(n int) int { return max(1, n / *times) }
