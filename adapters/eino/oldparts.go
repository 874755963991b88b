package eino

//lint:file-ignore SA1019 transcripts hold deprecated fields

import (
	"github.com/cloudwego/eino/schema"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Messages used to have one list of parts, before users and models got separate lists.

type oldPart = schema.ChatMessagePart

func hasOldParts(m *schema.Message) bool { return len(m.MultiContent) > 0 }

func (im *importer) oldParts(of *schema.Message) {
	for k := range of.MultiContent {
		c := &of.MultiContent[k]
		switch {
		case c.Type == schema.ChatMessagePartTypeText:
			im.text(c.Text, c)
		case c.ImageURL != nil:
			im.oldMedia(winnow.KindImage, c.ImageURL.MIMEType, c.ImageURL.URL+c.ImageURL.URI, c)
		case c.AudioURL != nil:
			im.oldMedia(winnow.KindOpaque, c.AudioURL.MIMEType, c.AudioURL.URL+c.AudioURL.URI, c)
		case c.VideoURL != nil:
			im.oldMedia(winnow.KindOpaque, c.VideoURL.MIMEType, c.VideoURL.URL+c.VideoURL.URI, c)
		case c.FileURL != nil:
			im.oldMedia(winnow.KindOpaque, c.FileURL.MIMEType, c.FileURL.URL+c.FileURL.URI, c)
		default:
			im.parts = append(im.parts, winnow.Part{Kind: winnow.KindOpaque, Source: c})
		}
	}
}

func (im *importer) oldMedia(kind winnow.Kind, mediaType, url string, source any) {
	im.parts = append(im.parts, adapter.Media(kind, mediaType, url, source))
}

// addOldPart adds a part to a list of the old kind.
func addOldPart(m *schema.Message, own *oldPart, text string) {
	if own != nil {
		m.MultiContent = append(m.MultiContent, *own)
	} else {
		m.MultiContent = append(m.MultiContent, oldPart{Type: schema.ChatMessagePartTypeText, Text: text})
	}
}
