package adapter

import (
	"encoding/base64"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/media"
)

// Media returns a part whose payload is sent as data: a data URL, Base64, or another URL. A media type of "" becomes
// that of the data URL.
func Media(kind winnow.Kind, mediaType, data string, source any) winnow.Part {
	if mediaType == "" {
		mediaType = dataURLType(data)
	}
	p := winnow.Part{Kind: kind, MediaType: mediaType, Bytes: len(data), Source: source}
	Measure(&p, data)
	return p
}

// MediaBytes is Media for data that the SDK sends in Base64. There is none if it is stored elsewhere.
func MediaBytes(kind winnow.Kind, mediaType string, data []byte, source any) winnow.Part {
	p := winnow.Part{Kind: kind, MediaType: mediaType, Bytes: base64.StdEncoding.EncodedLen(len(data)), Source: source}
	measure(&p, media.Bytes(data))
	return p
}

// dataURLType returns the media type in a data URL, or "" if url is not one.
func dataURLType(url string) string {
	const longest = 100 // more than any media type in use
	head := url[:min(len(url), longest)]
	rest, ok := strings.CutPrefix(head, "data:")
	end := strings.IndexAny(rest, ";,")
	if !ok || end < 0 {
		return ""
	}
	return rest[:end]
}

// Measure sets the size of p as far as its data says it: the pixels of an image, the pages of a document, the seconds
// of a sound or a video. The data is a data URL or Base64.
func Measure(p *winnow.Part, data string) { measure(p, media.Text(data)) }

func measure(p *winnow.Part, f media.File) {
	if p.Kind == winnow.KindImage {
		p.Width, p.Height = f.Pixels()
	} else {
		p.Pages, p.Seconds = f.Length()
	}
}
