// Package sdks tests that the clients of three providers can send what winnow trial sends, in each of four APIs.
package sdks
