package proxy

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Where a request goes, and which names a request may ask for.

// The providers of a proxy that was given none, by the API of a request.
var (
	anthropic = &url.URL{Scheme: "https", Host: "api.anthropic.com"}
	openAI    = &url.URL{Scheme: "https", Host: "api.openai.com"}
	google    = &url.URL{Scheme: "https", Host: "generativelanguage.googleapis.com"}
)

// providerOf returns the base address of the provider that a request is for, and the path there.
//
// A path may begin with the name of a provider's host: one of to, or any in the Internet if there is no to. Another
// path is for the first of to, or for the maker of the API that it belongs to.
func providerOf(r *http.Request, to []*url.URL) (base *url.URL, rest string) {
	first, behind, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	for _, u := range to {
		if first == u.Host {
			return u, "/" + behind
		}
	}
	switch {
	case len(to) > 0:
		return to[0], r.URL.Path
	case isInternetName(first):
		return &url.URL{Scheme: "https", Host: first}, "/" + behind
	case r.Header.Get("X-Goog-Api-Key") != "", strings.HasPrefix(first, "v1beta"),
		strings.Contains(path.Base(r.URL.Path), ":"):
		return google, r.URL.Path
	case r.Header.Get("Anthropic-Version") != "", r.Header.Get("X-Api-Key") != "", path.Base(r.URL.Path) == "messages":
		return anthropic, r.URL.Path
	}
	return openAI, r.URL.Path
}

// isInternetName reports whether the first part of a path names a host, and no version like v1.0: it has a dot, and
// letters behind the last one.
func isInternetName(s string) bool {
	labels := strings.Split(strings.ToLower(s), ".")
	last := labels[len(labels)-1]
	return len(labels) > 1 && !slices.Contains(labels, "") && len(last) > 1 &&
		strings.Trim(last, "abcdefghijklmnopqrstuvwxyz") == "" &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") == ""
}

// isOwnName reports whether a request asks for the proxy by a name of its own: a number, a name without dots, which
// nobody in the Internet can have, or one of names. A page of another site could make the browser of a user come here
// under a name of its own, and would then be let read the answers.
func isOwnName(host string, names []string) bool {
	host = strings.ToLower((&url.URL{Host: host}).Hostname())
	return net.ParseIP(host) != nil || !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") ||
		slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, host) })
}

// NamesIn returns the names that a certificate is for.
func NamesIn(cert tls.Certificate) []string {
	if cert.Leaf == nil {
		return nil
	}
	return cert.Leaf.DNSNames
}
