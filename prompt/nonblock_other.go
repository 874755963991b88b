//go:build !unix

package prompt

// nonBlocking is 0 on systems without named pipes in directories.
const nonBlocking = 0
