package overflow

import (
	"strings"
	"sync"
)

// phrase is a set of phrases: they mean something only as a whole, and mostly that an error is not an overflow.
type phrase uint32

const (
	pCancelled    phrase = 1 << iota // Go's "context canceled"
	pRequestEnded                    // canceled by its caller, or by a timeout
	pGo                              // Go's own errors and the system's
	pGoBody                          // Go's own server
	pTimeout                         // "timeout" in whatever sense
	pTimedOut                        // nobody answered in time
	pKey                             // who asks may not
	pKeyName                         // a key, whatever is said of it
	pBusy                            // no room for anybody
	pUsageLimit                      //
	pCost                            //
	pStringLong                      //
	pArrayLong                       //
	pFlagged                         // a policy is in the way
	pPace                            // how fast requests came
	pRate                            // too much in too short a time
	pPerMinute                       //
	pThisMinute                      //
	pInMinutes                       // within some, which is a rate beside a limit
	pQuota                           // a budget that is used up
	pDrained                         // "resource exhausted": whatever it was, Google says so
)

// phrases lists them, their words joined by underscores. In a phrase, @ is a word with a role, # a number, ? an unknown
// word, ~ says that a word comes within three words, / that it stands behind a slash, and ^ that the phrase begins a
// text or follows a sign.
var phrases = [...]struct {
	says phrase
	list string
}{
	{pCancelled, "context_canceled context_cancelled"},
	{pRequestEnded, "request_canceled request_cancelled"},
	{pGo, "bufio_scanner udp sendto sendmsg"},
	{pGoBody, "http_:_request_body_too_large"},
	{pTimeout, "timeout"},
	{pTimedOut, `deadline_exceeded timed_out time_out took_too_long took_longer_than taking_too_long taking_longer_than
		etimedout esockettimedout client_timeout request_timeout idle_timeout read_timeout connect_timeout
		connection_timeout stream_timeout gateway_timeout upstream_timeout inference_timeout due_to_timeout i_o_timeout
		timeout_~exceeded timeout_~expired timeout_~elapsed timeout_~reached`},
	{pKeyName, "jwt bearer apikey api_key api_keys access_token security_token"},
	{pKey, `unauthorized unauthenticated authentication forbidden invalid_credential invalid_credentials credential_~invalid credentials_~invalid
		credentials_~expired missing_authorization authorization_~missing authorization_~invalid request_signature
		signature_exception not_authorized access_denied permission_denied insufficient_permission
		insufficient_permissions no_permission no_permissions lacks_permission missing_scopes token_~revoked
		key_~revoked keys_~revoked access_~revoked login_fail login_failed login_failure sign_in token_is_invalid
		expired_token token_~expired session_~expired authorization_required authorization_failed api_token_@too
		api_token_is_@too session_token_@too session_token_is_@too refresh_token_@too refresh_token_is_@too
		auth_token_@too auth_token_is_@too no_~credentials not_find_~credentials bad_credentials missing_credentials
		incorrect_credentials credential_~revoked credentials_~revoked no_authorization`},
	{pBusy, `overloaded service_unavailable temporarily_unavailable upstream_connect_error bad_gateway currently_loading
		still_loading not_ready isnt_ready no_healthy high_traffic heavy_traffic high_load heavy_load over_capacity
		at_capacity is_busy are_busy server_busy currently_busy @too_busy high_demand`},
	{pUsageLimit, "usage_limit usage_limits"},
	{pCost, "current_cost"},
	{pStringLong, "string_too_long string_above_max_length string_should_have_at_most"},
	{pArrayLong, "array_too_long array_above_max_length"},
	{pFlagged, "flagged moderation"},
	{pPace, `@too_quickly @too_fast @too_often @too_frequently @too_frequent slow_down last_@time last_#_@time
		past_@time past_#_@time previous_@time previous_#_@time refills_in refills_at parallel_@request`},
	{pRate, `@per_@time @per_#_@time @token_/s @token_/@time @request_/@time @too_@request many_@request many_?_@request
		@time_window @time_period @time_interval rate_@cap ^rate_@over @too_~rate @request_rate @token_rate
		@input_rate rate_of_@request rate_of_@token rate_of_@input please_wait again_in retry_in retry_after`},
	{pPerMinute, "@per_minute @per_min"},
	{pThisMinute, "this_@time current_@time"},
	{pInMinutes, "in_#_@time within_#_@time"},
	{pQuota, `today todays tpd rpd @per_@day this_@day by_@day @request_@day @token_@day @day_@cap @day_@token
		@day_@request @day_free_@cap @day_free_@token @day_free_@request @day_allocation limit_exhausted`},
	{pDrained, "resource_~exhausted resources_~exhausted"},
}

// placeholders are the words of phrases that stand for a role.
var placeholders = map[string]role{"@too": rToo, "@time": rTime, "@day": rDay, "@per": rPer, "@request": rRequest,
	"@token": rToken, "@input": rInput, "@over": rOver, "@cap": rCapacity | rMax}

// pattern is one phrase.
type pattern struct {
	says   phrase
	words  []string
	begins bool // a text, or what stands behind a sign
}

// patterns holds the phrases by their first word. It is made at the first error: most programs meet none.
var patterns = sync.OnceValue(func() map[string][]pattern {
	all := make(map[string][]pattern, 128)
	for _, p := range phrases {
		for text := range strings.FieldsSeq(p.list) {
			text, begins := strings.CutPrefix(text, "^")
			words := strings.Split(text, "_")
			all[words[0]] = append(all[words[0]], pattern{p.says, words, begins})
		}
	}
	return all
})

// phrasesIn returns the phrases of a text.
func phrasesIn(ts []token) (says phrase) {
	all := patterns()
	for i := range ts {
		if ts[i].sign {
			continue
		}
		first := all[ts[i].s]
		for placeholder, role := range placeholders {
			if ts[i].role&role != 0 {
				first = append(first[:len(first):len(first)], all[placeholder]...)
			}
		}
		for _, p := range first {
			isPlace := !p.begins || i == 0 || ts[i-1].sign
			if p.says&says == 0 && isPlace && saidAt(ts, i+1, p.words[1:]) {
				says |= p.says
			}
		}
		if invalidToken(ts, i) {
			says |= pKey
		}
	}
	return says
}

// saidAt reports whether words stand at i, past hyphens and slashes.
func saidAt(ts []token, i int, words []string) bool {
	for _, w := range words {
		w, isPart := strings.CutPrefix(w, "/")
		if isPart && !isSign(ts, i, "/") {
			return false
		}
		for isSign(ts, i, "-") || isSign(ts, i, "/") {
			i++
		}
		if within, ok := strings.CutPrefix(w, "~"); ok {
			end := min(i+3, len(ts))
			for i < end && ts[i].s != within && !ts[i].endsSentence() {
				i++
			}
			w = within
		}
		switch t := tokenFrom(ts, i); {
		case w == "#" && t.isNum, w == "?" && t.role == 0 && t.s != "":
			i++
		case t.s == w && w != "", t.role&placeholders[w] != 0:
			i++
		default:
			return false
		}
	}
	return true
}

// invalidToken reports whether the "invalid" at i is said of a credential: parsers have invalid tokens, and say where.
func invalidToken(ts []token, i int) bool {
	if ts[i].s != "invalid" || wordAt(ts, i+1) != "token" {
		return false
	}
	behind := tokenAt(ts, i+2)
	return behind.s == "" || isOneOf(behind.s, ": . , provided for supplied signature or")
}
