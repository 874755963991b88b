// Package sdktest lets the official SDKs talk to the strict local provider: it is a module of its own,
// so that nobody who uses Winnow pays for them.
package sdktest
