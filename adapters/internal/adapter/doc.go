// Package adapter holds the common code of the adapters for SDKs. It carries a caller's own value through winnow's
// messages and finds it again, decides which id to send for a call, and brings text and arguments into forms that
// providers accept.
package adapter
