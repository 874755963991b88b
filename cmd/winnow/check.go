package main

import (
	"context"
	"fmt"

	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
)

// check prints, for each compaction of a recording, what of the work the recorded request still had, and winnow's.
func (p *program) check(ctx context.Context, args []string) (int, error) {
	basis, rest, err := p.basis(args, 1, 1)
	if err != nil {
		return 0, err
	}
	name, err := p.choose(rest)
	if err != nil {
		return 0, err
	}
	o, err := p.read(ctx, name)
	if err != nil {
		return 0, err
	}
	list, err := inspect.Checks(ctx, inspect.Input{Name: o.name, Session: o.session, Basis: basis})
	if err != nil {
		return 0, err
	}
	if p.json {
		return exitOK, p.print(list)
	}
	for i := range list {
		if err := p.checked(&list[i]); err != nil {
			return 0, err
		}
	}
	if len(list) > 1 {
		sum := inspect.SumOf(list)
		fmt.Fprintf(p.stdout, "In all %d\n", len(list))
		if err := p.table(checkRows(&sum)); err != nil {
			return 0, err
		}
		fmt.Fprintln(p.stdout)
	}
	fmt.Fprintln(p.stdout, "Found by code, as text: files by the end of their path, sentences word for word.\n"+
		"What a summary says in other words is not found.")
	return exitOK, nil
}

func (p *program) checked(c *inspect.Check) error {
	title := fmt.Sprintf("The recording compacted in front of request %d", c.Request)
	switch {
	case !c.Recorded:
		title = fmt.Sprintf("The recording compacted nothing. The last request, %d", c.Request)
	case !c.Readable:
		title += ", and only the provider can read what it sent"
	}
	fmt.Fprintln(p.stdout, title)
	if err := p.table(checkRows(c)); err != nil {
		return err
	}
	for _, k := range c.Kinds {
		const most = 5
		for i, fact := range k.Lacks {
			if i == most {
				fmt.Fprintf(p.stdout, "  … and %s\n", number(len(k.Lacks)-most))
				break
			}
			fmt.Fprintf(p.stdout, "  winnow lacks, of %s: %s\n", k.Name, clip(fact, 60))
		}
	}
	fmt.Fprintln(p.stdout)
	return nil
}

// checkRows are the counts of a check: there, of how many.
func checkRows(c *inspect.Check) [][]string {
	heads := []string{"THERE ARE STILL", "RECORDED", "WINNOW"}
	if !c.Readable {
		heads = []string{heads[0], heads[2]}
	}
	rows := [][]string{heads}
	for _, k := range c.Kinds {
		row := []string{k.Name, fmt.Sprintf("%d of %d", k.Recording, k.Of), fmt.Sprintf("%d of %d", k.Winnow, k.Of)}
		if !c.Readable {
			row = []string{row[0], row[2]}
		}
		rows = append(rows, row)
	}
	if len(c.Kinds) == 0 {
		rows = [][]string{{"nothing to look for"}}
	}
	return rows
}
