module github.com/winnowgo/winnow

go 1.26
