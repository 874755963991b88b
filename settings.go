package winnow

// settings are what [New] made of its arguments. Nothing writes to them afterwards, so that they are read without the
// lock.
type settings struct {
	window    int
	opts      Options // complete
	pruneFrom float64 // share of the window from which on what is stale is dropped; 0 if the host did not set it
	keepLast  bool    // the host set PruneOptions.KeepLastAssistants
	minifier  minifier

	// the host gave these stages an estimator of their own: what they count is not what a request is counted by
	countsPruned, countsCut bool
}
