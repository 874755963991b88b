package transcript

import (
	"encoding/json"

	"github.com/winnowgo/winnow/session/entry"
)

// readWinnow reads a log of package session. It does not verify checksums: [upkeep.Verify] does that.
func readWinnow(b *builder, data []byte) {
	b.lines(data, func(raw []byte) {
		e := &entry.Entry{}
		if err := json.Unmarshal(raw, e); err != nil || e.Type == "" {
			b.t.Report.Damaged++
			b.carry("damaged", "", raw)
			return
		}
		parent := e.ParentID
		switch {
		case e.Type == entry.TypeSession && len(b.t.Entries) == 1:
			h := b.t.Entries[0]
			h.Key, h.Time, h.From = e.Key, e.Time, e.From
			b.t.Session.ID = e.Key
			b.alias[e.ID] = rootID
		case e.Type == entry.TypeSession:
			b.unknown(string(e.Type), "", raw)
		case e.Type == entry.TypeState, e.Type == entry.TypeStatus:
			b.standIn(e.ID, parent)
		case e.Type == entry.TypeLeaf:
			b.leaf = b.parent(e.Target)
			e.Target = b.leaf
			b.beside(e)
		case parent == "":
			b.beside(e)
		default:
			b.path(e, b.parent(parent))
		}
	})
}
