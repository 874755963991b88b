package adapter

import (
	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/media"
)

// Measure sets the size of p as far as its data says it: the pixels of an image, the pages of a document, the seconds
// of a sound or a video. The data is a data URL or Base64.
func Measure(p *winnow.Part, data string) { measure(p, media.Text(data)) }

// MeasureBytes is Measure for data that is not encoded.
func MeasureBytes(p *winnow.Part, data []byte) { measure(p, media.Bytes(data)) }

func measure(p *winnow.Part, f media.File) {
	if p.Kind == winnow.KindImage {
		p.Width, p.Height = f.Pixels()
	} else {
		p.Pages, p.Seconds = f.Length()
	}
}
