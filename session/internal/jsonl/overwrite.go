package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/errs"
)

// Overwritten returns a line as long as l that holds what is left of its entry.
func Overwritten(l *Line, left *entry.Entry) ([]byte, error) {
	x := Encoder{Seal: l.seal}
	sealsIt := l.Sealed != "" && isSealed(left.Type)
	if sealsIt { // with its old key: the room suffices
		left.Seq, left.ID, left.ParentID = l.Seq, l.ID, l.Parent
		if err := x.appendSealed(left, l.Sealed, Original{}); err != nil {
			return nil, err
		}
	} else if err := x.appendBody(left, Original{}); err != nil {
		return nil, err
	}
	body := x.Lines
	if l.body == nil {
		return overwrittenAny(l, left.Type, body)
	}
	// The head keeps its bytes, except for the type. No id in it has a quote.
	head := l.Data[:len(l.Data)-crcTail-len(l.body)]
	head = bytes.TrimSuffix(head, []byte(","))
	member := func(t entry.Type) []byte { return appendString([]byte(`,"type":`), string(t)) }
	text := bytes.Replace(head, member(l.Kind), member(left.Type), 1)
	if l.Sealed != "" && !sealsIt {
		text = bytes.TrimSuffix(text, appendKey(nil, l.Sealed))
	}
	text = append(bytes.Clone(text), body...)
	room := len(l.Data) - crcTail - len(text)
	if room < 0 {
		return nil, fmt.Errorf("%w: entry %s has no room for what is left of it", errs.ErrTooLarge, l.ID)
	}
	text = append(text, bytes.Repeat([]byte(" "), room)...)
	text = appendSum(text, 0)
	return text[:len(text)-1], nil // without the newline
}

// overwrittenAny is overwritten for a line that another program wrote in its own form. It gets no checksum.
func overwrittenAny(l *Line, kind entry.Type, body []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(l.Data, &members); err != nil {
		return nil, err
	}
	var x Encoder
	quoted := func(s string) []byte {
		text, _ := x.Marshal(s) // a string never fails
		return text
	}
	text := strconv.AppendInt([]byte(`{"seq":`), l.Seq, 10)
	text = append(append(text, `,"id":`...), quoted(l.ID)...)
	if l.Parent != "" {
		text = append(append(text, `,"parentId":`...), quoted(l.Parent)...)
	}
	text = append(append(text, `,"type":`...), quoted(string(kind))...)
	if at, ok := members["time"]; ok {
		text = append(append(text, `,"time":`...), at...)
	}
	if l.at >= 0 {
		text = strconv.AppendInt(append(text, `,"at":`...), l.at, 10)
	}
	if l.Batch != [2]int64{} {
		text = strconv.AppendInt(append(text, `,"batch":[`...), l.Batch[0], 10)
		text = append(strconv.AppendInt(append(text, ','), l.Batch[1], 10), ']')
	}
	text = append(append(text, body...), '}')
	room := len(l.Data) - len(text)
	if room < 0 {
		return nil, fmt.Errorf("%w: entry %s has no room for what is left of it", errs.ErrTooLarge, l.ID)
	}
	return append(text, bytes.Repeat([]byte(" "), room)...), nil
}
