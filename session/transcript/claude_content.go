package transcript

import (
	"encoding/json"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// readClaudeUsage reads counts. Some programs write the sum of what was written to the cache, some its parts.
func readClaudeUsage(u members) *winnow.Usage {
	written := u.object("cache_creation")
	long := written.number("ephemeral_1h_input_tokens")
	return &winnow.Usage{
		Input: u.number("input_tokens"), Output: u.number("output_tokens"),
		CacheRead:  u.number("cache_read_input_tokens"),
		CacheWrite: max(u.number("cache_creation_input_tokens"), long+written.number("ephemeral_5m_input_tokens")),
		LongWrite:  long,
	}
}

// claudeSold returns how and where a call was sold, where that is not the usual way: it has another price.
func claudeSold(usage members) (sold members) {
	for _, key := range []string{"service_tier", "speed", "inference_geo"} {
		switch how := usage.text(key); how {
		case "", "standard", "global", "not_available":
		default:
			sold = append(sold, quoted(key, how))
		}
	}
	return sold
}

// readClaudeContent reads a content: a text, or a list of blocks.
func readClaudeContent(raw []byte, x *extras) []winnow.Part {
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
		p, rest := readClaudeBlock(block, value)
		x.part(len(parts), rest...)
		parts = append(parts, p)
	})
	return parts
}

// readClaudeBlock reads a block, and returns the members that it did not use.
func readClaudeBlock(block members, raw []byte) (p winnow.Part, rest members) {
	switch typ := block.text("type"); typ {
	case "text":
		p.Text = block.text("text")
		return p, block.without("type", "text")
	case "thinking":
		p.Kind, p.Text, p.Signature = winnow.KindThinking, block.text("thinking"), block.text("signature")
		return p, block.without("type", "thinking", "signature")
	case redacted:
		p.Kind, p.Signature, p.MediaType = winnow.KindThinking, block.text("data"), redacted
		return p, block.without("type", "data")
	case "tool_use":
		p.Kind, p.ID, p.Name = winnow.KindToolCall, block.text("id"), block.text("name")
		p.Arguments = json.RawMessage(block.get("input"))
		return p, block.without("type", "id", "name", "input")
	case "image":
		source := block.object("source")
		if data := source.get("data"); data != nil {
			p = imagePart(source.text("media_type"), jsontext.Text(data))
			return p, members{{"data", data}}.and(block.without("type", "source"))
		}
		p = winnow.Part{Kind: winnow.KindImage, MediaType: source.text("media_type")}
		return p, members{{string(ClaudeCode), raw}}
	case winnow.MediaCompaction: // by the provider
		p = winnow.Part{Kind: winnow.KindOpaque, MediaType: typ, Text: block.text("content"), Bytes: len(raw)}
		if p.Text != "" {
			p.Signature = block.text("signature")
		}
		return p, members{{string(ClaudeCode), raw}}
	default:
		p = winnow.Part{Kind: winnow.KindOpaque, MediaType: kindName(typ), Bytes: len(raw)}
		return p, members{{string(ClaudeCode), raw}}
	}
}
