package recall

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/winnowgo/winnow/internal/jsontext"
)

// WriteArguments writes the arguments of a call of any tool. It writes the strings in them without the escapes of JSON,
// so that files that were written, patches and scripts can be read and searched by lines.
func WriteArguments(b *strings.Builder, raw json.RawMessage) {
	done := 0
	if bytes.IndexByte(raw, '\\') >= 0 && json.Valid(raw) {
		for from, to := range jsontext.Strings(raw) {
			if bytes.IndexByte(raw[from:to], '\\') < 0 {
				continue
			}
			text, ok := jsontext.Decode(raw[from:to])
			if !ok {
				continue
			}
			b.Write(raw[done:from])
			if strings.Contains(text, "\n") {
				b.WriteString("\n" + text + "\n")
			} else {
				b.WriteString(`"` + text + `"`)
			}
			done = to
		}
	}
	b.Write(raw[done:])
}
