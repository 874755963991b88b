package eino

import (
	"github.com/cloudwego/eino/schema"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Import returns messages in winnow's form, one for each. The Source of a message is the caller's pointer, whose value
// must not be changed while the message is in use. Importing the same values again gives equal messages. A nil message
// is left out.
//
// A message of nothing but reminders of an agent is marked as no person's (Injected). Afterwards the host may mark
// others, messages that must survive (Pinned) and results that are errors (IsError), for which Eino has no field.
func Import(messages []*schema.Message) []winnow.Message {
	im := importer{out: make([]winnow.Message, 0, len(messages)), parts: make([]winnow.Part, 0, 2*len(messages))}
	for _, m := range messages {
		if m != nil {
			im.add(m)
		}
	}
	return im.out
}

// importer turns messages into winnow's. Parts share one block of memory.
type importer struct {
	out   []winnow.Message
	parts []winnow.Part
	names adapter.ToolNames
}

func (im *importer) add(of *schema.Message) {
	begin := len(im.parts)
	m := winnow.Message{Source: of}
	switch of.Role {
	case schema.Assistant:
		m.Role = winnow.RoleAssistant
		im.assistant(of)
		im.names.Add(im.parts[begin:])
		m.StopReason, m.Usage = outcome(of.ResponseMeta)
	case schema.System:
		m.Role = winnow.RoleSystem
		im.input(of)
	case schema.Tool:
		m.Role, m.ToolCallID, m.ToolName = winnow.RoleTool, of.ToolCallID, of.ToolName
		if m.ToolName == "" {
			m.ToolName = im.names.Of(of.ToolCallID)
		}
		im.input(of)
	case schema.User:
		m.Role, m.Speaker = winnow.RoleUser, of.Name
		im.input(of)
	default: // a typo, which Prepare refuses
		m.Role = winnow.Role(of.Role)
		im.input(of)
	}
	m.Parts = im.parts[begin:len(im.parts):len(im.parts)]
	if m.Role == winnow.RoleUser {
		adapter.NoteWhose(&m, false)
	}
	im.out = append(im.out, m)
}

// outcome returns the stop reason and the usage of a message.
func outcome(meta *schema.ResponseMeta) (stop string, usage *winnow.Usage) {
	if meta == nil {
		return "", nil
	}
	if u := meta.Usage; u != nil {
		usage = adapter.Usage(u.PromptTokens, u.PromptTokenDetails.CachedTokens, 0, u.CompletionTokens)
	}
	return meta.FinishReason, usage
}

// text adds a text, unless it is empty, which makes no difference.
func (im *importer) text(s string, source any) {
	if s != "" {
		im.parts = append(im.parts, winnow.Part{Text: s, Source: source})
	}
}

// input adds the content of a message that is not the model's. Content counts only if there is no list.
func (im *importer) input(of *schema.Message) {
	switch {
	case len(of.UserInputMultiContent) > 0:
		for k := range of.UserInputMultiContent {
			im.inputPart(&of.UserInputMultiContent[k])
		}
	case hasOldParts(of):
		im.oldParts(of)
	default:
		im.text(of.Content, nil)
	}
}

func (im *importer) inputPart(c *schema.MessageInputPart) {
	switch {
	case c.Type == schema.ChatMessagePartTypeText:
		im.text(c.Text, c)
	case c.Image != nil:
		im.media(winnow.KindImage, &c.Image.MessagePartCommon, c)
	case c.Audio != nil:
		im.media(winnow.KindOpaque, &c.Audio.MessagePartCommon, c)
	case c.Video != nil:
		im.media(winnow.KindOpaque, &c.Video.MessagePartCommon, c)
	case c.File != nil:
		im.media(winnow.KindOpaque, &c.File.MessagePartCommon, c)
	default:
		im.parts = append(im.parts, winnow.Part{Kind: winnow.KindOpaque, Source: c})
	}
}

// media adds a part that is not read. Its payload is the data or a URL, usually a data URL.
func (im *importer) media(kind winnow.Kind, c *schema.MessagePartCommon, source any) {
	data := ""
	if c.Base64Data != nil {
		data = *c.Base64Data
	} else if c.URL != nil {
		data = *c.URL
	}
	im.parts = append(im.parts, adapter.Media(kind, c.MIMEType, data, source))
}

func (im *importer) assistant(of *schema.Message) {
	if of.ReasoningContent != "" {
		im.parts = append(im.parts, winnow.Part{Kind: winnow.KindThinking, Text: of.ReasoningContent, Source: of})
	}
	switch {
	case len(of.AssistantGenMultiContent) > 0:
		for k := range of.AssistantGenMultiContent {
			im.outputPart(&of.AssistantGenMultiContent[k])
		}
	case hasOldParts(of):
		im.oldParts(of)
	default:
		im.text(of.Content, of)
	}
	for k := range of.ToolCalls {
		c := &of.ToolCalls[k]
		im.parts = append(im.parts, winnow.Part{
			Kind: winnow.KindToolCall, ID: c.ID, Name: c.Function.Name, Arguments: []byte(c.Function.Arguments),
			Signature: signatureOf(c.Extra), Source: c,
		})
	}
}

func (im *importer) outputPart(c *schema.MessageOutputPart) {
	switch {
	case c.Type == schema.ChatMessagePartTypeText:
		im.text(c.Text, c)
	case c.Image != nil:
		im.media(winnow.KindImage, &c.Image.MessagePartCommon, c)
	case c.Audio != nil:
		im.media(winnow.KindOpaque, &c.Audio.MessagePartCommon, c)
	case c.Video != nil:
		im.media(winnow.KindOpaque, &c.Video.MessagePartCommon, c)
	default:
		im.parts = append(im.parts, winnow.Part{Kind: winnow.KindOpaque, Source: c})
	}
}
