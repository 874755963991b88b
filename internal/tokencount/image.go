package tokencount

import "math"

// What an image costs by its size in pixels. Each provider scales it down first; the formulas are theirs.

// imageTokens is the estimate of an image whose size is not known. It is the reference's.
const imageTokens = 1_200

// Images is how a provider counts an image.
type Images uint8

const (
	ByArea     Images = iota // Anthropic, and where nothing is known
	ByAreaTo5k               // Claude 5
	ByTiles                  // OpenAI
	ByCrops                  // Gemini
	ByPatches                // Qwen and other open models
)

const (
	// Anthropic: width × height / 750, of an image whose longer side is scaled down to 1 568 pixels, 1 600 tokens at
	// most (platform.claude.com, vision). The newest models take 2 576 pixels, 4 784 tokens at most.
	pixelsPerToken, longSide, mostByArea = 750, 1_568, 1_600
	longSideNext, mostByAreaNext         = 2_576, 4_784
	// OpenAI, GPT-4o and GPT-5 with high detail: within 2 048 × 2 048, then the shorter side to 768 pixels; 170 for
	// each tile of 512 × 512 and 85 besides (platform.openai.com, images and vision).
	tileBox, tileShort, tileSide, tileTokens, tileBase = 2_048, 768, 512, 170, 85
	// Gemini: 258 for an image of at most 384 pixels a side; of a larger one 258 for each crop, whose side is two
	// thirds of the shorter side of the image, at least 256 and at most 768 pixels (ai.google.dev, understand images).
	// Gemini 3 counts 1 120 by default, about as much as four crops of a square. That there are 16 crops at most is
	// assumed: larger images are scaled down.
	cropTokens, smallImage, leastCrop, mostCrop, mostCrops = 258, 384, 256, 768, 16
	// Qwen2.5-VL and its successors: one for 28 × 28 pixels, 4 at least; servers limit them to 1 280 mostly.
	patchSide, leastPatches, mostPatches = 28, 4, 1_280
)

// Tokens returns what an image costs. Width and height are in pixels; 0 means that they are not known.
func (r Images) Tokens(width, height int) int {
	if width <= 0 || height <= 0 {
		return imageTokens
	}
	w, h := float64(width), float64(height)
	switch r {
	case ByAreaTo5k:
		return byArea(w, h, longSideNext, mostByAreaNext)
	case ByTiles:
		scale := min(1, tileBox/max(w, h))
		scale = min(scale, tileShort/min(w, h))
		return tileBase + tileTokens*tiles(w*scale, tileSide)*tiles(h*scale, tileSide)
	case ByCrops:
		if max(w, h) <= smallImage {
			return cropTokens
		}
		crop := max(leastCrop, min(mostCrop, math.Floor(min(w, h)/1.5)))
		return cropTokens * min(mostCrops, tiles(w, crop)*tiles(h, crop))
	case ByPatches:
		return max(leastPatches, min(mostPatches, tiles(w, patchSide)*tiles(h, patchSide)))
	}
	return byArea(w, h, longSide, mostByArea)
}

func byArea(w, h, side, most float64) int {
	scale := min(1, side/max(w, h))
	return int(max(1, min(most, math.Ceil(w*scale*h*scale/pixelsPerToken))))
}

// tiles is how many tiles of a side cover a length. A product of two is within an int.
func tiles(length, side float64) int { return int(min(1<<15, math.Ceil(length/side))) }
