// Package session keeps conversations on disk, so that an agent that is killed at any instruction goes on where it
// was: nothing that was acknowledged is missing, and the next request has the bytes that it would have had.
package session
