package hosts

import (
	"reflect"
	"slices"
	"strings"
)

// Shrink returns the fewest steps that still break the promise, with the plainest setting. play returns the promise
// that a script breaks, or ""; it is called at most tries times.
func Shrink(s Script, promise string, tries int, play func(Script) string) Script {
	breaks := func(c Script) bool {
		if tries <= 0 {
			return false
		}
		tries--
		return play(c) == promise
	}
	for before := ""; before != s.String(); {
		before = s.String()
		s = fewerSteps(s, breaks)
		s = plainerSetting(s, breaks)
		s = plainerSteps(s, breaks)
	}
	return s
}

// fewerSteps leaves out shorter and shorter runs of steps.
func fewerSteps(s Script, breaks func(Script) bool) Script {
	for n := len(s.Steps) / 2; n > 0; n /= 2 {
		for at := len(s.Steps) - n; at >= 0; {
			c := Script{s.Setting, slices.Delete(slices.Clone(s.Steps), at, at+n)}
			if breaks(c) {
				s = c
			}
			at = min(at-n, len(s.Steps)-n)
		}
	}
	return s
}

func plainerSetting(s Script, breaks func(Script) bool) Script {
	try := func(x Setting) {
		if c := (Script{x, s.Steps}); x != s.Setting && breaks(c) {
			s = c
		}
	}
	try(Setting{Window: s.Setting.Window})
	for i := range reflect.TypeFor[Setting]().NumField() {
		plainer := s.Setting
		reflect.ValueOf(&plainer).Elem().Field(i).SetZero()
		try(plainer)
	}
	return s
}

// plainerSteps makes numbers smaller and removes words.
func plainerSteps(s Script, breaks func(Script) bool) Script {
	for i := range s.Steps {
		try := func(change func(*Step)) bool {
			c := Script{s.Setting, slices.Clone(s.Steps)}
			change(&c.Steps[i])
			if c.Steps[i] == s.Steps[i] || !breaks(c) {
				return false
			}
			s = c
			return true
		}
		for _, word := range strings.Fields(s.Steps[i].As) {
			try(func(x *Step) {
				x.As = strings.Join(strings.Fields(strings.Replace(" "+x.As+" ", " "+word+" ", " ", 1)), " ")
			})
		}
		try(func(x *Step) { x.Seed = 0 })
		try(func(x *Step) { x.Many = 0 })
		if !try(func(x *Step) { x.N = 0 }) {
			for try(func(x *Step) { x.N /= 2 }) {
			}
		}
		if !try(func(x *Step) { x.At = 0 }) {
			try(func(x *Step) { x.At /= 2 })
		}
	}
	return s
}
