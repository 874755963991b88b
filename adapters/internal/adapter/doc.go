// Package adapter holds what the adapters for SDKs have in common: how a caller's own value is carried
// through winnow's messages and found again, which id a call is sent with, and how text and arguments are
// made such as providers accept.
package adapter
