package framework

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/winnowgo/winnow"
)

// Options are the options of [New].
type Options struct {
	// Manager returns the window, in tokens, and the options of the manager of a conversation that begins or goes on in
	// this process, as [winnow.New] takes them. (nil: 200 000 tokens and the defaults)
	Manager func(key string) (window int, o *winnow.Options)

	// Key names the conversation of a request. One name must never stand for the conversations of two users. (nil: the
	// name is that of [WithConversation])
	Key func(ctx context.Context) string

	// Store keeps what is remembered of each conversation, so that the next process goes on with the same bytes. It has
	// texts of the conversations. Two wrappers of the same conversations have one each. (nil: only this process
	// remembers)
	Store Store

	Recall bool // the model can ask for what was left out: see [Conversations.Tools]
	Notes  bool // the model can write notes, and end a phase of its work

	Conversations int // how many are kept in memory; the least recently used goes first (1 000)

	// Done is told of each answer, in the goroutine of the request. (nil: nobody is)
	Done func(Exchange)

	Logger *slog.Logger // what cannot be kept or restored, never text of the conversation (nil: none)
}

// Exchange is a request that was answered.
type Exchange struct {
	Key     string          // the name of the conversation
	Request *winnow.Request // what was sent
	Usage   winnow.Usage    // what the provider billed; zero if the framework does not pass it on
}

// ErrNoConversation: a request does not say whose it is.
var ErrNoConversation = errors.New("framework: the context names no conversation: use WithConversation or Options.Key")

type keyOf struct{}

// WithConversation names the conversation of all requests with this context. Use the name by which you store the
// history: that of a chat, a thread or a session.
func WithConversation(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyOf{}, key)
}

// Conversations keeps the managers of an agent's conversations. It is safe for concurrent use.
type Conversations struct {
	o       Options
	threads threads
}

// New returns an empty list of conversations. nil means the defaults.
func New(o *Options) *Conversations {
	c := &Conversations{threads: threads{of: map[string]*thread{}}}
	if o != nil {
		c.o = *o
	}
	if c.o.Key == nil {
		c.o.Key = func(ctx context.Context) string {
			key, _ := ctx.Value(keyOf{}).(string)
			return key
		}
	}
	if c.o.Conversations <= 0 {
		c.o.Conversations = 1_000
	}
	if c.o.Logger == nil {
		c.o.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// manager returns a new manager for a conversation.
func (c *Conversations) manager(key string) (*winnow.Manager, error) {
	window, o := 0, &winnow.Options{}
	if c.o.Manager != nil {
		var host *winnow.Options
		if window, host = c.o.Manager(key); host != nil {
			*o = *host
		}
	}
	if window == 0 && o.Model == "" {
		window = 200_000
	}
	o.Recall = o.Recall || c.o.Recall
	if c.o.Notes {
		tools := winnow.ToolOptions{}
		if o.Tools != nil {
			tools = *o.Tools
		}
		tools.Notes = true
		o.Tools = &tools
	}
	return winnow.New(window, o)
}

// Close ends the work that managers do in the background ([winnow.CompactOptions].Background). The conversations stay
// usable.
func (c *Conversations) Close() error {
	for _, v := range c.threads.all() {
		v.manager.Close()
	}
	return nil
}

// Turn is a request that was sent.
type Turn struct {
	conversations *Conversations
	thread        *thread
	conversation  *conversation
	request       *winnow.Request
}

// Do answers a request of the framework, whose messages are history: it calls the model with what the conversation's
// manager makes of them, and with less as long as the provider says that it is too long. Any other error of call is
// returned as it is. history is not kept longer than until the next request.
//
// The error is [ErrNoConversation], [winnow.ErrSentAsHistory], or that of [winnow.Do].
func Do[T any](ctx context.Context, c *Conversations, history []winnow.Message,
	call func(context.Context, []winnow.Message) (T, error)) (T, *Turn, error) {
	var none T
	key := c.o.Key(ctx)
	if key == "" {
		return none, nil, ErrNoConversation
	}
	history = withErrors(history)
	t, v, err := c.find(ctx, key, history)
	if err != nil {
		return none, nil, fmt.Errorf("framework: %w", err)
	}
	var begun error
	send := func(ctx context.Context, messages []winnow.Message) (T, error) {
		c.save(ctx, t)
		c.threads.sent(v, messages)
		answer, err := call(ctx, messages)
		if of := (*begunError)(nil); errors.As(err, &of) {
			begun, err = of.error, nil
		}
		return answer, err
	}
	answer, r, err := winnow.Do(ctx, v.manager, history, send)
	if err == nil {
		err = begun
	}
	if err != nil {
		return none, nil, err
	}
	return answer, &Turn{conversations: c, thread: t, conversation: v, request: r}, nil
}

// Begun marks the error of a stream of which the framework has seen the beginning: [Do] returns err, and does not ask
// again.
func Begun(err error) error { return &begunError{err} }

type begunError struct{ error }

// Answered is told the whole answer, with its usage as far as that is known. A framework's tools are answered by it.
func (t *Turn) Answered(ctx context.Context, m winnow.Message) {
	c, usage := t.conversations, winnow.Usage{}
	if m.Usage != nil {
		usage = *m.Usage
	}
	if usage.Prompt() > 0 {
		t.conversation.manager.Counted(usage)
	}
	c.threads.answered(t.conversation, m)
	c.save(context.WithoutCancel(ctx), t.thread)
	if c.o.Done != nil {
		c.o.Done(Exchange{Key: t.thread.key, Request: t.request, Usage: usage})
	}
}
