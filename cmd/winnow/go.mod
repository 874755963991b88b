module github.com/winnowgo/winnow/cmd/winnow

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/stretchr/testify v1.12.1
	github.com/winnowgo/winnow v0.0.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect

replace github.com/winnowgo/winnow => ../..
