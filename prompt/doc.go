// Package prompt makes the system prompt of an agent, keeps it inside a budget without breaking the provider's prompt
// cache, and reports what fills the context window.
//
// [Assemble] is a pure function from the host's sections, the files of its workspace, its skills and its tools to an
// [Assembly]: the text, its blocks for cache markers, what each part takes, and what was cut and why. Equal input gives
// equal bytes. What changes often never stands in it: [Assembly.Changes] tells it in a message, and [Conversation]
// decides when a text that changed is taken over. A [Loader] loads skills and schemas of tools by name. [NewReport]
// says what fills every token of a request.
//
// # Nouns
//
// A section is a text of the host's. A file is read from the workspace with [ReadFiles]; it is cut between its Markdown
// sections. A skill is a text that the model knows by name and description until it needs it. A part is a section, a
// file or a list as it stands in the prompt. A required part is whole or Assemble fails; a volatile one is told in
// messages.
package prompt
