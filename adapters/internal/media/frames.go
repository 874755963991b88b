package media

// frame is the header of a frame of an MP3 or an AAC.
type frame struct {
	bytes   int
	seconds float64
}

// frames returns how long a file of frames plays, which has no header of its own: by the size of the first ones.
func (f File) frames(head []byte) float64 {
	begin := 0
	if len(head) >= 10 && string(head[:3]) == "ID3" { // tags, with a picture mostly
		begin = 10 + int(head[6])<<21 + int(head[7])<<14 + int(head[8])<<7 + int(head[9])
	}
	const look = 4_096
	b := f.at(begin, look)
	for i := range b {
		first, ok := frameOf(b[i:])
		if !ok {
			continue
		}
		if _, ok := frameOf(f.at(begin+i+first.bytes, 8)); !ok { // two in a row are no chance
			continue
		}
		return f.averaged(begin+i, first)
	}
	return 0
}

// averaged takes the first frames for all: a bit rate that changes does so from frame to frame.
func (f File) averaged(begin int, next frame) float64 {
	const look = 256
	end, seconds := begin, 0.0
	for ok, n := true, 0; ok && n < look; n++ {
		end, seconds = end+next.bytes, seconds+next.seconds
		next, ok = frameOf(f.at(end, 8))
	}
	return float64(int(f.Size())-begin) * seconds / float64(end-begin)
}

// Bit rates of MP3 in kilobits a second, of version 1 and of the later ones, and samples a second by version.
var (
	bitRates = [2][15]int{
		{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
		{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
	}
	sampleRates    = [3]int{44_100, 48_000, 32_000} // of version 1; half of it in version 2, a quarter in 2.5
	sampleRatesAAC = [13]int{
		96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
	}
)

// frameOf reads the header of a frame at the beginning of b.
func frameOf(b []byte) (frame, bool) {
	if len(b) < 7 || b[0] != 0xff || b[1]&0xe0 != 0xe0 {
		return frame{}, false
	}
	if b[1]&0xf6 == 0xf0 {
		return frameOfAAC(b)
	}
	version, layer, bits, rate := b[1]>>3&3, b[1]>>1&3, int(b[2]>>4), int(b[2]>>2&3)
	if version == 1 || layer != 1 || rate > 2 { // layer III alone is an MP3
		return frame{}, false
	}
	later, samples, perSecond := 0, 1_152, sampleRates[rate]
	if version != 3 {
		later, samples, perSecond = 1, 576, perSecond/(4-int(version)) // version 2 is written as 2, 2.5 as 0
	}
	if bits == 0 || bits >= len(bitRates[later]) {
		return frame{}, false
	}
	size := samples*125*bitRates[later][bits]/perSecond + int(b[2]>>1&1)
	return frame{size, float64(samples) / float64(perSecond)}, true
}

func frameOfAAC(b []byte) (frame, bool) {
	rate, size := int(b[2]>>2&15), int(b[3]&3)<<11|int(b[4])<<3|int(b[5])>>5
	if rate >= len(sampleRatesAAC) || size < 7 {
		return frame{}, false
	}
	return frame{size, 1_024 / float64(sampleRatesAAC[rate])}, true
}
