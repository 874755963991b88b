package adaptertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/winnowtest"
)

// CheckCodec stores the cases, in each form, and the recorded sessions as a session does, reads them back, and exports
// them: the bytes must be the same. It also does so for the end of a history, as after a compaction.
func CheckCodec[T any](t *testing.T, a winnowtest.Adapter[T], codec session.Codec, forms []Form[T], cases []Case) {
	t.Helper()
	for _, c := range cases {
		for _, form := range forms {
			if c.Forms != "" && c.Forms != form.Name {
				continue
			}
			t.Run(c.Name+"/"+form.Name, func(t *testing.T) {
				storedIsSame(t, a, codec, importsOf(t, a, form, c))
			})
			t.Run(c.Name+", in one import/"+form.Name, func(t *testing.T) {
				together := c
				together.Imports = []string{strings.Join(c.Imports, "")}
				storedIsSame(t, a, codec, perAppend(importsOf(t, a, form, together)[0]))
			})
		}
	}
	t.Run("recorded", func(t *testing.T) { checkRecordedCodec(t, a, codec) })
}

func checkRecordedCodec[T any](t *testing.T, a winnowtest.Adapter[T], codec session.Codec) {
	stored, messages := 0, 0
	EachSession(t, func(t *testing.T, history []winnow.Message) {
		n, of := storedIsSame(t, a, codec, perAppend(a.Import(a.Export(history))))
		stored, messages = stored+n, messages+of
	})
	t.Logf("%d of %d messages have a stored source", stored, messages)
}

// perAppend splits a history as a host appends it: each answer with everything up to the next one.
func perAppend(history []winnow.Message) [][]winnow.Message {
	var appends [][]winnow.Message
	begin := 0
	for i := range history {
		isAnswer := history[i].Role == winnow.RoleAssistant
		if i > begin && (isAnswer || history[i-1].Role == winnow.RoleAssistant) {
			appends, begin = append(appends, history[begin:i]), i
		}
	}
	return append(appends, history[begin:])
}

// storedIsSame returns how many messages needed a stored source.
func storedIsSame[T any](t *testing.T, a winnowtest.Adapter[T], codec session.Codec,
	appends [][]winnow.Message) (stored, messages int) {
	t.Helper()
	store := session.NewMemory(&session.Options{Codec: codec})
	s, err := store.Open(t.Context(), "key")
	require.NoError(t, err)
	var history []winnow.Message
	starts := []int{0}
	for _, list := range appends {
		list = appended(t, s, list)
		history, starts = append(history, list...), append(starts, len(history)+len(list))
	}
	running := s.View().History
	require.NoError(t, s.Close())
	view, err := store.Read(t.Context(), "key")
	require.NoError(t, err)
	if len(view.Damage) > 0 {
		t.Fatal(view.Damage)
	}
	for e, err := range store.Entries(t.Context(), "key") {
		if err != nil {
			t.Fatal(err)
		}
		if e.Source != nil {
			stored++
		}
	}
	half := starts[(len(starts)-1)/2]
	for _, from := range []int{0, half} { // the history after a compaction
		want := written(t, a.Export(history[from:]))
		same(t, fmt.Sprint("running, from message ", from), want, written(t, a.Export(running[from:])))
		same(t, fmt.Sprint("opened again, from message ", from), want, written(t, a.Export(view.History[from:])))
	}
	return stored, len(history)
}

// appended appends messages to s and returns them. Those that no conversation can go on with are left out, since a
// session refuses them: a message that says nothing, and a result without its call.
func appended(t *testing.T, s *session.Session, list []winnow.Message) []winnow.Message {
	t.Helper()
	list = slices.Clone(list)
	for {
		err := s.Append(t.Context(), list...)
		var invalid *winnow.InvalidMessageError
		if !errors.As(err, &invalid) {
			require.NoError(t, err)
			return list
		}
		require.Contains(t, []string{"parts", "toolCallId"}, invalid.Field, err)
		list = slices.Delete(list, invalid.Index, invalid.Index+1)
	}
}

func written[T any](t *testing.T, values []T) []string {
	t.Helper()
	out := make([]string, len(values))
	for i := range values {
		out[i] = JSON(t, values[i])
	}
	return out
}

func same(t *testing.T, name string, want, got []string) {
	t.Helper()
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("%s: value %d of %d is\n%s\ninstead of\n%s", name, i, len(want), at(got, i), at(want, i))
		}
	}
}

func at(list []string, i int) string {
	if i >= len(list) {
		return fmt.Sprintf("nothing: there are %d", len(list))
	}
	return head(list[i])
}

// Typo tests that the last of imported, whose role in the SDK's list was "asistant", is refused, and not sent as what
// a person said.
func Typo(t *testing.T, imported []winnow.Message) {
	t.Helper()
	var invalid *winnow.InvalidMessageError
	require.ErrorAs(t, winnow.Validate(imported), &invalid)
	require.Equal(t, [3]any{len(imported) - 1, "role", "asistant"}, [3]any{invalid.Index, invalid.Field, invalid.Got})
}
