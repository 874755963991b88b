package identifier

import (
	"strings"
	"sync"
)

// wordSet returns the set of the words that white space separates. It is made when it is first asked for.
func wordSet(words string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for w := range strings.FieldsSeq(words) {
			set[w] = true
		}
		return set
	})
}

// The lists have what is common in sessions of coding agents. A name that is not on them is still found by its slashes,
// its digits or its camel case.
var (
	fileEndings = wordSet(`astro bat bin bmp bz2 c cc cert cfg cjs clj cmd conf cpp cs css csv cts cue dart
		db diff dll doc docx elm env erl ex exe exs fish gif gleam go gql gradle graphql gz h hcl hpp hs html hxx ico
		ini ipynb jar java jpeg jpg js json json5 jsonc jsonl jsx key kt kts less lisp lock log lua m map md mdx mjs ml
		mod mts nix odt out parquet patch pdf pem php pl plist png pnpm po ppt pptx prisma proto ps1 py pyi r rb rs rst
		sass scala scss service sh so sol sql sqlite sum svelte svg swift tar tex tf tfvars tgz tmpl toml ts tsv tsx ttf
		txt vue wasm wav webp xls xlsx xml xz yaml yml zig zip zsh`)
	hostEndings = wordSet(`ai app cloud cn co com de dev edu eu gov info internal io jp local localhost net ` +
		`org ru uk xyz`)
	// at the root of Linux, macOS and containers, and hardly anywhere else
	rootDirectories = wordSet(`Applications Library System Users Volumes etc home media mnt opt private proc root
		run srv sys tmp usr var workspace workspaces`)
	units = wordSet(`ms s sec min h d ns us µs kb Kb KB mb MB gb GB tb TB KiB MiB GiB K k M G B b px em ` +
		`rem pt Hz kHz MHz GHz x USD EUR rpm fps`)
)
