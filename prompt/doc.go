// Package prompt makes the system prompt of an agent, keeps it inside a budget without breaking the provider's prompt
// cache, and reports what fills the context window.
//
// [Assemble] is a pure function from the host's sections, the files of its workspace, its skills and its tools to an
// [Assembly]: the text, its blocks for cache markers, the size of each part, and what was cut and why. Equal input
// gives equal bytes. Text that changes often is never in it: [Assembly.Changes] puts such text into a message. A
// [Conversation] decides when a changed text enters the system prompt. A [Loader] loads skills and schemas of tools by
// name, and a [ToolUse] decides which tools are. [Folders] tells the instructions of a folder when a tool first touches
// it. [NewReport] says what the tokens of a request are spent on.
//
// # Terms
//
// A section is a text of the host. A file is read from the workspace with [ReadFiles] and is cut between its Markdown
// sections. A skill is a text that the model knows only by name and description until it needs it. A part is a section,
// a file or a list in the prompt. A required section is whole in the prompt, or Assemble fails. A volatile section is
// sent in messages, never in the prompt. The reference is OpenClaw, the agent whose rules and numbers Winnow began
// with. The host is the program that imports Winnow.
package prompt
