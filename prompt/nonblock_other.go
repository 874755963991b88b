//go:build !unix

package prompt

// nonBlocking is nothing where no pipe has a name in a directory.
const nonBlocking = 0
