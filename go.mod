module github.com/winnowgo/winnow

go 1.26

require (
	github.com/cenkalti/backoff/v5 v5.0.3
	github.com/google/go-cmp v0.7.0
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect

// No version is published yet. Modules that are built in a workspace with this one require v0.0.0, which
// the go command looks up unless it is replaced.
replace github.com/winnowgo/winnow v0.0.0 => ./
