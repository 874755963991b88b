package transcript

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// piMessageOf returns a message in pi's form.
func piMessageOf(m *winnow.Message, x *extras) (members, error) {
	if bash := x.message.object("bash"); len(bash) > 0 && m.Role == winnow.RoleUser {
		out := append(members{quoted("role", roleBash)}, bash...)
		return append(out, member{"timestamp", millis(m.Time)}), nil
	}
	content, err := piContent(m.Parts, *x)
	if err != nil {
		return nil, err
	}
	out := members{quoted("role", string(m.Role)), {"content", content}}
	switch m.Role {
	case winnow.RoleTool:
		out[0] = quoted("role", roleResult)
		out = append(out, quoted("toolCallId", m.ToolCallID), quoted("toolName", m.ToolName))
		out = append(out, member{"isError", []byte(strconv.FormatBool(m.IsError))})
		if len(m.Details) > 0 {
			out = append(out, member{"details", m.Details})
		}
	case winnow.RoleAssistant:
		for _, key := range []string{"api", "provider", "model"} {
			value := x.message.get(key)
			if value == nil {
				value = jsontext.Quote(notKnown)
			}
			out = append(out, member{key, value})
		}
		out = append(out, member{"usage", piUsageOf(m.Usage, x.message.object("usage"))})
		out = append(out, quoted("stopReason", piStopReason(m)))
	}
	out = append(out, member{"timestamp", millis(m.Time)})
	return out.and(x.message.withoutKeys("usage", "bash")), nil
}

func millis(t time.Time) []byte {
	if t.IsZero() {
		return []byte("0")
	}
	return strconv.AppendInt(nil, t.UnixMilli(), 10)
}

// piStopReason returns the stop reason in pi's words.
func piStopReason(m *winnow.Message) string {
	switch m.StopReason {
	case "stop", "length", "toolUse", "error", "aborted":
		return m.StopReason
	case "max_tokens":
		return "length"
	}
	for i := range m.Parts {
		if m.Parts[i].Kind == winnow.KindToolCall {
			return "toolUse"
		}
	}
	return "stop"
}

// notKnown stands for a name that pi requires but nobody recorded.
const notKnown = "unknown"

// noCost is the cost that pi requires for a call whose price is unknown.
var noCost = []byte(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}`)

func piUsageOf(u *winnow.Usage, rest members) []byte {
	if u == nil {
		u = &winnow.Usage{}
	}
	number := func(key string, n int) member { return member{key, strconv.AppendInt(nil, int64(n), 10)} }
	out := members{
		number("input", u.Input), number("output", u.Output),
		number("cacheRead", u.CacheRead), number("cacheWrite", u.CacheWrite),
	}
	if u.LongWrite > 0 {
		out = append(out, number(longWrite, u.LongWrite))
	}
	if !rest.has("totalTokens") {
		out = append(out, number("totalTokens", totalTokens(u)))
	}
	if !rest.has("cost") {
		out = append(out, member{"cost", noCost})
	}
	return out.and(rest).append(nil)
}

func totalTokens(u *winnow.Usage) int { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// piContent returns parts as blocks.
func piContent(parts []winnow.Part, x extras) ([]byte, error) {
	b := []byte{'['}
	for i := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		block, err := piBlock(&parts[i], x.parts[i])
		if err != nil {
			return nil, err
		}
		b = append(b, block...)
	}
	return append(b, ']'), nil
}

func piBlock(p *winnow.Part, rest members) ([]byte, error) {
	if raw := rest.get(string(Pi)); raw != nil {
		return raw, nil
	}
	var out members
	switch p.Kind {
	case winnow.KindText:
		out = members{quoted("type", "text"), quoted("text", p.Text)}
	case winnow.KindThinking:
		out = members{quoted("type", "thinking"), quoted("thinking", p.Text)}
		if p.Signature != "" {
			out = append(out, quoted("thinkingSignature", p.Signature))
		}
		if p.MediaType == redacted {
			out = append(out, member{"redacted", []byte("true")})
		}
	case winnow.KindToolCall:
		arguments := []byte(p.Arguments)
		if len(arguments) == 0 || arguments[0] != '{' || !json.Valid(arguments) {
			arguments = []byte("{}")
		}
		out = members{quoted("type", "toolCall"), quoted("id", p.ID), quoted("name", p.Name), {"arguments", arguments}}
	default:
		if p.Kind == winnow.KindImage && rest.has("data") {
			out = members{quoted("type", "image"), quoted("mimeType", p.MediaType)}
			break
		}
		text := fmt.Sprintf("[%s: %s, %d bytes]", p.Kind, p.MediaType, p.Bytes)
		return members{quoted("type", "text"), quoted("text", text)}.append(nil), nil
	}
	return out.and(rest).append(nil), nil
}
