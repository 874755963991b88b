package transcript

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	_ "image/gif"  // for image.DecodeConfig
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/session/entry"
)

// Roles of messages in a file of pi, besides user, assistant and system.
const (
	roleResult = "toolResult"
	roleBash   = "bashExecution" // a command that a person ran
	roleCustom = "custom"        // of the host; separate entries since version 3
	roleHook   = "hookMessage"   // the same in version 2
)

// anthropicThinking are the APIs of pi whose thinking has Anthropic's signatures. Other signatures are not sent to
// Anthropic: see [winnow.Part.MediaType].
var anthropicThinking = []string{"", "anthropic-messages", "bedrock-converse-stream"}

func (x *piLine) message(line members) {
	e, m := x.entry, line.object("message")
	var extra extras
	extra.line = line.without(slices.Concat(piHead, []string{"message"})...)
	switch role := m.text("role"); role {
	case roleCustom, roleHook:
		e.Type = entry.TypeCustomMessage
		customMessage(e, m, m.without("role", "customType", "content", "display", "timestamp"))
		return
	case "user", "assistant", "system", roleResult, roleBash:
		if role == roleBash && m.isTrue("excludeFromContext") {
			break
		}
		e.Type = entry.TypeMessage
		message := readPiMessage(m, &extra)
		if message.Time.IsZero() {
			message.Time = e.Time
		}
		if role == "assistant" {
			e.Model = extra.takeModel()
		}
		e.Message, e.Source = &message, extra.source()
		return
	default:
		x.known = false
	}
	e.Type, e.Name, e.Data = entry.TypeCustom, "pi.message", line.without(piHead...).append(nil)
}

// customMessage reads a message of a host.
func customMessage(e *entry.Entry, m members, rest members) {
	e.Name, e.Hidden = m.text("customType"), string(m.get("display")) == "false"
	extra := extras{line: rest}
	message := winnow.Message{Role: winnow.RoleUser, Injected: true, Time: readMillis(m.get("timestamp"))}
	if message.Time.IsZero() {
		message.Time = e.Time
	}
	message.Parts = readPiContent(m.get("content"), "", &extra)
	e.Message, e.Source = &message, extra.source()
}

// readPiMessage reads a message of the conversation. What winnow's form cannot hold goes to x.
func readPiMessage(m members, x *extras) winnow.Message {
	role := m.text("role")
	out := winnow.Message{Role: winnow.Role(role), Time: readMillis(m.get("timestamp"))}
	known := []string{"role", "content", "timestamp"}
	switch role {
	case roleResult:
		known = append(known, "toolCallId", "toolName", "isError", "details")
		out.Role, out.ToolCallID, out.ToolName = winnow.RoleTool, m.text("toolCallId"), m.text("toolName")
		out.IsError = m.isTrue("isError")
		out.Details = json.RawMessage(m.get("details"))
	case "assistant":
		known = append(known, "stopReason", "usage")
		out.StopReason = m.text("stopReason")
		if usage := m.object("usage"); len(usage) > 0 {
			out.Usage = readPiUsage(usage)
			if rest := usageExtras(usage, out.Usage); len(rest) > 0 {
				x.message = append(x.message, member{"usage", rest.append(nil)})
			}
		}
	case roleBash:
		known = append(known, "command", "output", "exitCode", "cancelled", "truncated", "fullOutputPath")
		out.Role, out.Injected = winnow.RoleUser, true
		out.Parts = []winnow.Part{{Text: bashText(m)}}
		x.message = append(x.message, member{"bash", m.without("role", "timestamp").append(nil)})
	case "user", "system":
	default:
		out.Role, out.Injected = winnow.RoleUser, true
	}
	for _, rest := range m.without(known...) {
		if string(rest.value) != `"`+notKnown+`"` {
			x.message = append(x.message, rest)
		}
	}
	if role != roleBash {
		out.Parts = readPiContent(m.get("content"), m.text("api"), x)
	}
	return out
}

// bashText is what the model sees of a command that a person ran.
func bashText(m members) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Ran `%s`\n", m.text("command"))
	if output := m.text("output"); output != "" {
		fmt.Fprintf(&b, "```\n%s\n```", output)
	} else {
		b.WriteString("(no output)")
	}
	if m.isTrue("cancelled") {
		b.WriteString("\n\n(command cancelled)")
	} else if code := string(m.get("exitCode")); code != "" && code != "0" {
		fmt.Fprintf(&b, "\n\nCommand exited with code %s", code)
	}
	if path := m.text("fullOutputPath"); path != "" && m.isTrue("truncated") {
		fmt.Fprintf(&b, "\n\n[Output truncated. Full output: %s]", path)
	}
	return b.String()
}

// usageMembers are the counts in a usage.
var usageMembers = []string{"input", "output", "cacheRead", "cacheWrite", longWrite}

// longWrite is the part of cacheWrite that was written for an hour.
const longWrite = "cacheWrite1h"

func readPiUsage(u members) *winnow.Usage {
	return &winnow.Usage{
		Input: u.number("input"), Output: u.number("output"),
		CacheRead: u.number("cacheRead"), CacheWrite: u.number("cacheWrite"),
		LongWrite: u.number(longWrite),
	}
}

// usageExtras returns the members of a usage that cannot be derived from its counts.
func usageExtras(usage members, u *winnow.Usage) members {
	rest := usage.without(usageMembers...)
	return slices.DeleteFunc(rest, func(x member) bool {
		isSum := x.key == "totalTokens" && string(x.value) == strconv.Itoa(totalTokens(u))
		return isSum || x.key == "cost" && bytes.Equal(x.value, noCost)
	})
}

// readMillis reads milliseconds since 1970, or a time as text.
func readMillis(raw []byte) time.Time {
	if len(raw) > 0 && raw[0] == '"' {
		return parseTime(jsontext.Text(raw))
	}
	const limit = 253_402_300_800_000 // the year 10 000
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n <= 0 || n >= limit {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

// readPiContent reads a content: a text, or a list of blocks.
func readPiContent(raw []byte, api string, x *extras) []winnow.Part {
	if len(raw) > 0 && raw[0] == '"' {
		if text := jsontext.Text(raw); text != "" {
			return []winnow.Part{{Text: text}}
		}
		return nil
	}
	var parts []winnow.Part
	var block members
	jsontext.Elements(raw, func(value []byte) {
		block.read(value)
		p, rest := readPiBlock(block, value, api)
		x.part(len(parts), rest...)
		parts = append(parts, p)
	})
	return parts
}

// readPiBlock reads a block, and returns the members that it did not use.
func readPiBlock(block members, raw []byte, api string) (p winnow.Part, rest members) {
	switch typ := block.text("type"); typ {
	case "text":
		p.Text = block.text("text")
		return p, block.without("type", "text")
	case "thinking":
		p.Kind, p.Text, p.Signature = winnow.KindThinking, block.text("thinking"), block.text("thinkingSignature")
		if p.Signature != "" && !slices.Contains(anthropicThinking, api) {
			p.MediaType = api
		} else if block.isTrue("redacted") {
			p.MediaType = redacted
			return p, block.without("type", "thinking", "thinkingSignature", "redacted")
		}
		return p, block.without("type", "thinking", "thinkingSignature")
	case "toolCall":
		p.Kind, p.ID, p.Name = winnow.KindToolCall, block.text("id"), block.text("name")
		p.Arguments = json.RawMessage(block.get("arguments"))
		return p, block.without("type", "id", "name", "arguments")
	case "image":
		data := block.text("data")
		p = imagePart(block.text("mimeType"), data)
		return p, block.without("type", "mimeType")
	default:
		p = winnow.Part{Kind: winnow.KindOpaque, MediaType: kindName(typ), Bytes: len(raw)}
		return p, members{{string(Pi), slices.Clone(raw)}}
	}
}

// redacted marks thinking that exists only in encrypted form, as in the adapter for Anthropic.
const redacted = "redacted_thinking"

// imagePart returns the part for an image in base64.
func imagePart(mediaType, data string) winnow.Part {
	p := winnow.Part{Kind: winnow.KindImage, MediaType: mediaType, Bytes: base64.StdEncoding.DecodedLen(len(data))}
	if c, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data))); err == nil {
		p.Width, p.Height = c.Width, c.Height
	}
	return p
}
