package provider

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"

	// The formats whose size is checked.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
)

// Limits of images, from the vision documentation and refusals that were seen.
const (
	maxImageBytes  = 5 << 20 // of the base64 text
	maxImageSide   = 8000    // pixels
	maxManySide    = 2000    // pixels, with more than manyImages
	manyImages     = 20
	maxImagesSmall = 100 // with a window of at most smallWindow
	maxImages      = 600
	smallWindow    = 200_000
)

// checkImages looks at the number and the sizes of images, in messages and in results.
func checkImages(p *Provider, m *messagesRequest, r *Request) *Error {
	total, most := 0, maxImages
	for i := range r.Messages {
		total += r.Messages[i].Images
	}
	if p.o.Window <= smallWindow {
		most = maxImagesSmall
	}
	if total > most {
		return broken("ANT-IMG-COUNT", "messages: too many images in the request: %d images > %d maximum", total, most)
	}
	return m.each(func(at string, _ int, b *contentBlock) *Error {
		err := checkImage(at, b, total > manyImages)
		for k := range b.Content.blocks {
			inner := &b.Content.blocks[k]
			switch {
			case err != nil:
			case b.result() && b.IsError && inner.Type != "text":
				err = broken("ANT-IMG-ERROR-RESULT", "%s.tool_result: all content must be type `text` if `is_error` "+
					"is true", at)
			default:
				err = checkImage(fmt.Sprintf("%s.tool_result.content.%d", at, k), inner, total > manyImages)
			}
		}
		return err
	})
}

func checkImage(at string, b *contentBlock, many bool) *Error {
	if b.Type != "image" || b.Source == nil || b.Source.Type != "base64" {
		return nil
	}
	if n := len(b.Source.Data); n > maxImageBytes {
		return broken("ANT-IMG-BYTES", "%s.image.source.base64: image exceeds 5 MB maximum: %d bytes > %d bytes", at, n,
			maxImageBytes)
	}
	data, err := base64.StdEncoding.DecodeString(b.Source.Data)
	if err != nil {
		return broken("ANT-IMG-DATA", "%s.image.source.base64.data: Invalid base64 data", at)
	}
	size, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil // a format that this package does not read, or a test's bytes
	}
	switch side := max(size.Width, size.Height); {
	case many && side > maxManySide:
		return broken("ANT-IMG-DIM-MANY", "%s.image.source.base64.data: At least one of the image dimensions exceed "+
			"max allowed size for many-image requests: %d pixels", at, maxManySide)
	case side > maxImageSide:
		return broken("ANT-IMG-DIM", "%s.image.source.base64.data: At least one of the image dimensions exceed max "+
			"allowed size: %d pixels", at, maxImageSide)
	}
	return nil
}
