package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/upkeep"
)

func (p *program) list(ctx context.Context, args []string) (int, error) {
	var q session.Query
	newest := false
	p.flags.StringVar(&q.Prefix, "prefix", "", "")
	p.flags.BoolVar(&newest, "newest", false, "")
	store, _, err := p.begin(args, 0, 0)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	if newest {
		q.Order = session.Newest
	}
	rows := [][]string{{"KEY", "UPDATED", "TURNS", "MESSAGES", "COMPACTED", "TOKENS IN", "OUT", "SIZE", "TITLE"}}
	n := 0
	for s, err := range store.All(ctx, q) {
		if err != nil {
			return 0, err
		}
		n++
		if p.json {
			if err := p.print(s); err != nil {
				return 0, err
			}
			continue
		}
		rows = append(rows, statusRow(&s))
	}
	if p.json {
		return exitOK, nil
	}
	if n == 0 {
		_, err := fmt.Fprintln(p.stdout, "no sessions")
		return exitOK, err
	}
	return exitOK, p.table(rows)
}

func statusRow(s *session.Status) []string {
	title := ""
	if s.Info.Title != nil {
		title = *s.Info.Title
	}
	return []string{
		inspect.Plain(s.Key), date(s.Updated), number(s.Counts.Turns), number(messages(&s.Counts)),
		number(s.Counts.Compactions),
		number(s.Counts.Usage.Prompt()), number(s.Counts.Usage.Output), size(s.Bytes), clip(title, 40),
	}
}

func messages(c *session.Counts) (n int) {
	for _, of := range c.Messages {
		n += of
	}
	return n
}

func (p *program) show(ctx context.Context, args []string) (int, error) {
	store, rest, err := p.begin(args, 1, 1)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	view, err := store.Read(ctx, rest[0])
	if err != nil {
		return 0, unknown(err, rest[0])
	}
	if p.json {
		return damaged(view.Damage), p.print(shown{
			view.Key, view.Leaf, view.Info, view.Labels, view.Counts, view.IDs, view.History, view.Damage,
		})
	}
	fmt.Fprintf(p.stdout, "%s\n%s\n\n", inspect.Plain(view.Key), summary(view))
	for i := range view.History {
		m := &view.History[i]
		fmt.Fprintf(p.stdout, "%-10s %s\n", view.IDs[i][:min(len(view.IDs[i]), 10)], line(m, view.Labels[view.IDs[i]]))
	}
	for _, d := range view.Damage {
		fmt.Fprintf(p.stdout, "damage: %s\n", inspect.Plain(d.String()))
	}
	return damaged(view.Damage), nil
}

// shown is a session as JSON.
type shown struct {
	Key     string            `json:"key"`
	Leaf    string            `json:"leaf"`
	Info    session.Info      `json:"info,omitzero"`
	Labels  map[string]string `json:"labels,omitempty"`
	Counts  session.Counts    `json:"counts"`
	IDs     []string          `json:"ids"`     // the entries of the messages
	History []winnow.Message  `json:"history"` // what is sent
	Damage  []entry.Damage    `json:"damage,omitempty"`
}

// unknown returns the error for a session that does not exist.
func unknown(err error, key string) error {
	if errors.Is(err, session.ErrNotFound) {
		return problemf("there is no session %q; winnow sessions ls lists them", key)
	}
	return err
}

func damaged(d []entry.Damage) int {
	if len(d) > 0 {
		return exitFound
	}
	return exitOK
}

// summary summarizes a session in a few lines.
func summary(v *session.View) string {
	c := &v.Counts
	var b strings.Builder
	if v.Info.Title != nil && *v.Info.Title != "" {
		fmt.Fprintf(&b, "%s\n", inspect.Plain(*v.Info.Title))
	}
	fmt.Fprintf(&b, "%s, %s on all branches, %s; %s are sent", count(c.Turns, "turn"), count(messages(c), "message"),
		count(c.Compactions, "compaction"), count(len(v.History), "message"))
	for _, model := range slices.Sorted(maps.Keys(c.Models)) {
		of := c.Models[model]
		name := inspect.Plain(model)
		if name == "" {
			name = "unknown model"
		}
		u := of.Sum
		fmt.Fprintf(&b, "\n%s: %s; %s tokens of input, %s from the cache, %s written to it, %s of output", name,
			count(of.Calls, "call"), number(u.Input), number(u.CacheRead), number(u.CacheWrite), number(u.Output))
	}
	return b.String()
}

// line returns a message in one line.
func line(m *winnow.Message, label string) string {
	var parts []string
	for _, x := range m.Parts {
		switch x.Kind {
		case winnow.KindText:
			parts = append(parts, x.Text)
		case winnow.KindToolCall:
			parts = append(parts, x.Name+"("+string(x.Arguments)+")")
		default:
			parts = append(parts, "["+string(x.Kind)+"]")
		}
	}
	who := string(m.Role)
	switch {
	case m.Summary:
		who = "summary"
	case m.Role == winnow.RoleTool && m.ToolName != "":
		who = "result of " + m.ToolName
	}
	if label != "" {
		who += " (" + label + ")"
	}
	const columns = 90
	return clip(who+": "+oneLine(strings.Join(parts, " ")), columns)
}

func (p *program) verify(ctx context.Context, args []string) (int, error) {
	store, all, err := p.begin(args, 0, -1)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	if len(all) == 0 {
		if all, err = store.Keys(ctx); err != nil {
			return 0, err
		}
		slices.Sort(all)
	}
	bar := p.progress("verifying", int64(len(all)))
	defer bar.end()
	code, entries, places := exitOK, 0, 0
	for i, key := range all {
		bar.at(int64(i), p.now())
		r, err := upkeep.Verify(ctx, store, key)
		if err != nil {
			return 0, unknown(err, key)
		}
		entries, places = entries+r.Entries, places+len(r.Damage)
		if len(r.Damage) > 0 {
			code = exitFound
		}
		if err := p.verified(key, r); err != nil {
			return 0, err
		}
	}
	bar.end()
	if !p.json {
		fmt.Fprintf(p.stdout, "%s, %s, %s\n", count(len(all), "session"), count(entries, "line"),
			count(places, "damaged place"))
	}
	return code, nil
}

// verified prints the findings for one session.
func (p *program) verified(key string, r *upkeep.Report) error {
	if p.json {
		return p.print(struct {
			Key     string         `json:"key"`
			Log     string         `json:"log"`
			Bytes   int64          `json:"bytes"`
			Entries int            `json:"entries"`
			Damage  []entry.Damage `json:"damage"`
		}{key, r.Log, r.Bytes, r.Entries, append([]entry.Damage{}, r.Damage...)})
	}
	for _, d := range r.Damage {
		if _, err := fmt.Fprintf(p.stdout, "%s: %s\n", inspect.Plain(key), inspect.Plain(d.String())); err != nil {
			return err
		}
	}
	return nil
}
