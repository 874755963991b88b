package winnow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Gemini signs text parts, and sends the signature of a stream in one without a text. What is signed goes back as it
// came.
func TestSignedPartsStay(t *testing.T) {
	signed := func(text string) winnow.Part { return winnow.Part{Text: text, Signature: "c2ln"} }
	for _, text := range []string{"", " \n", "\u200b", "The answer."} {
		answer := modelSends(textPart("Well."), signed(text))
		h := list(userSays("And?"), answer, userSays("Go on."), modelSends(signed(text)), userSays("More."))
		repaired, edits := winnow.RepairToolPairing(h)
		assert.Empty(t, edits, "%q", text)
		assert.Equal(t, h, repaired, "%q", text)
		m := newManager(t, 100_000, nil)
		for n := 1; n <= len(h); n += 2 {
			r := prepare(t, m, h[:n])
			require.Equal(t, h[:n], r.Messages, "%q", text)
			require.Empty(t, r.Edits, "%q", text)
		}
	}
}

// A picture that the model made is signed, too: others go first, and where that is not enough a summary makes room.
func TestSignedImagesStay(t *testing.T) {
	h := list(userSays("Draw."))
	for i := range 12 {
		made := winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 100_000, Signature: "c2ln"}
		h = append(h, modelSends(textPart("Drawing "+itoa(i)), made), withImage(userSays("Like this one."), 100_000))
	}
	r := prepare(t, newManager(t, 200_000, &winnow.Options{MaxBytes: 1_500_000, Now: newClock().Now}), h)
	assert.LessOrEqual(t, r.Bytes, 1_500_000)
	_, markers := imagesOf(r.Messages)
	assert.Positive(t, markers)
	for i := range r.Messages {
		if m := &r.Messages[i]; m.Role == winnow.RoleAssistant {
			assert.Equal(t, "c2ln", m.Parts[1].Signature)
		}
	}
}
