// Package pairs has no code. Its tests move conversations from each adapter to each other one, as an agent does that
// changes its model. They are in a module of their own because they need the SDKs of all adapters.
package pairs
