package toolcall

// Hash is FNV-1a of a call's tool and arguments; of long arguments only both ends and the length count. It is the same
// in every process. Should two calls collide, the result of one is dropped some requests early.
func Hash(tool string, arguments []byte) uint32 {
	const ends = 2_048
	h := uint64(14695981039346656037)
	add := func(s string) {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
		h = (h ^ uint64(len(s))) * 1099511628211
	}
	add(tool)
	args := arguments
	if len(args) > 2*ends {
		h = (h ^ uint64(len(args))) * 1099511628211
		add(string(args[:ends]))
		args = args[len(args)-ends:]
	}
	add(string(args))
	return uint32(h ^ h>>32)
}
