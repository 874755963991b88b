// Package pairs holds only tests. They move conversations from each adapter to each other one, like an agent that
// changes its model. They are in a separate module because they need the SDKs of all adapters.
package pairs
