package overflow

// tooManyImages reads a refusal of how many images a request has, and how many it may have, 0 if it does not say. What
// is said of one image, its bytes and its pixels, is another matter: no other image mends that.
func tooManyImages(r *reading) (d Diagnosis, ok bool) {
	for _, s := range r.segments {
		for said := range sentences(s.tokens) {
			if !countsImages(said) {
				continue
			}
			d.Class = ClassImages
			for i, t := range said {
				isBound := isSign(said, i-1, ">") || roleIn(said, i-3, i, rMax|rLess|rThan) || wordOf(said, i-1) == "to"
				if isNum(said, i) && isBound && !roleIn(said, i+1, i+2, rBytes) && wordOf(said, i+1) != "pixels" {
					d.Limit = int(t.n)
				}
			}
			return d, true
		}
	}
	return d, false
}

// countsImages reports whether a sentence is about the number of images: "too many images", "a many-image request",
// "at most 20 images", "the number of images exceeds the limit", "5 document pages + 101 images > 100".
func countsImages(ts []token) bool {
	for i := range ts {
		if !isOneOf(ts[i].s, "image images media") {
			continue
		}
		switch before := tokenFrom(ts, i-1); {
		case isOneOf(wordBefore(ts, i), "many much"):
			return true
		case before.isNum && (isSign(ts, i+1, ">") || roleIn(ts, i-4, i-1, rMax|rMore|rLess|rThan|rOver)):
			return true
		case roleIn(ts, i-3, i, rLength), roleAt(ts, i+1, rLength):
			if roleIn(ts, 0, len(ts), rOver|rMax|rToo) {
				return true
			}
		}
	}
	return false
}
