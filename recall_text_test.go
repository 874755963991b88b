package winnow

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What recall quotes says whose it is, and whether the call failed.
func TestOriginOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		m    Message
		tool string
		want string
	}{
		{Message{Role: RoleTool}, "exec", "result of exec"},
		{Message{Role: RoleTool, IsError: true}, "exec", "result of exec, which failed"},
		{Message{Role: RoleTool}, "", "a result"},
		{Message{Role: RoleTool, IsError: true}, "", "a result that failed"},
		{Message{Role: RoleAssistant}, "", "you"},
		{Message{Role: RoleUser}, "", "user"},
		{Message{Role: RoleUser, Injected: true}, "", "the host"},
		{Message{Role: RoleUser, Summary: true}, "", "an earlier summary"},
	} {
		assert.Equal(t, tt.want, originOf(&tt.m, tt.tool))
	}
}
