package adapter

import (
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/nontext"
)

// Measure sets the size of p as far as its data says it: the pixels of an image, the pages of a document, the seconds
// of a sound or a video. The data is a data URL or Base64.
func Measure(p *winnow.Part, data string) {
	isURL := strings.HasPrefix(data, "data:")
	switch {
	case p.Kind == winnow.KindImage && isURL:
		p.Width, p.Height = nontext.ImageSizeURL(data)
	case p.Kind == winnow.KindImage:
		p.Width, p.Height = nontext.ImageSizeBase64(data)
	case isURL:
		p.Pages, p.Seconds = nontext.MediaLengthURL(data)
	default:
		p.Pages, p.Seconds = nontext.MediaLengthBase64(data)
	}
}

// MeasureBytes is Measure for data that is not encoded.
func MeasureBytes(p *winnow.Part, data []byte) {
	if p.Kind == winnow.KindImage {
		p.Width, p.Height = nontext.ImageSize(data)
	} else {
		p.Pages, p.Seconds = nontext.MediaLength(data)
	}
}
