package overflow

// What a word before a number says by the words around it.

// assigned reports whether the word at k names the value i of an assignment.
func assigned(ts []token, k, i int) bool {
	if !isSign(ts, i-1, "=") {
		return false
	}
	return k == i-2 || k == i-3 && ts[i-2].role&rToken != 0 && !roleAt(ts, k-1, rMax)
}

// contextTooBig reports whether the word at k is the "long" of a context that is "too long".
func contextTooBig(ts []token, k int) bool {
	if ts[k].role&rBig == 0 || !roleAt(ts, k-1, rToo) {
		return false
	}
	of := k - 2
	for of > 0 && (ts[of].role&rSkip != 0 || isAuxiliary(ts[of].s)) {
		of--
	}
	return roleAt(ts, of, rContext) || roleAt(ts, of, rCapacity) && roleAt(ts, of-1, rContext)
}

// onlySigns reports whether no word and no number stands among ts, other than a unit.
func onlySigns(ts []token) bool {
	for i := range ts {
		if !ts[i].sign && ts[i].role&rToken == 0 {
			return false
		}
	}
	return true
}

// isTotal reports whether a word is said of prompt and answer together.
func isTotal(w string) bool {
	switch w {
	case "total", "totals", "sum", "requested", "require", "requires", "need", "needs":
		return true
	}
	return false
}

// isSum reports whether a word in front of "up to" says that parts make a sum.
func isSum(w string) bool { return w == "add" || w == "adds" || w == "added" || w == "adding" }

// fitsIn reports whether the word at k is a "fit" into the number i: "no longer fits into the 200000".
func fitsIn(ts []token, k, i int) bool {
	if ts[k].s != "fit" && ts[k].s != "fits" || k+1 == i {
		return false
	}
	for k++; k < i; k++ {
		if ts[k].role&rSkip == 0 && ts[k].s != "into" && ts[k].s != "within" && ts[k].s != "inside" {
			return false
		}
	}
	return true
}

// isPartOfName reports whether the word at k belongs to the name of what is counted and tells nothing by itself:
// "answer room (500)", "the sum of prompt (30000) and …", "the max length of current question is 20000".
func isPartOfName(ts []token, k int) bool {
	switch ts[k].s {
	case "room":
		return k > 0 && ts[k-1].role&rOutput != 0
	case "sum":
		return k+1 < len(ts) && ts[k+1].s == "of"
	case "current":
		return k > 0 && ts[k-1].s == "of"
	}
	return false
}

// ofWhatIsLeft reports whether the word before the k-th makes it one of what is left. What a prompt is larger than, or
// what is available at all, is a window: "exceeds the available context size".
func ofWhatIsLeft(ts []token, k int) bool {
	if k == 0 || ts[k-1].role&rLeft == 0 {
		return false
	}
	if ts[k-1].s != "available" {
		return true
	}
	for n := k - 2; n >= 0 && n >= k-5; n-- {
		if ts[n].role&(rOver|rThan) != 0 || isSign(ts, n, ">") {
			return false
		}
	}
	return true
}
