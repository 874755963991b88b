// Package prompt makes the system prompt of an agent, keeps it inside a budget without breaking the provider's prompt
// cache, and reports what fills the context window.
//
// [Assemble] makes an [Assembly] from the host's sections, the files of its workspace, its skills and its tools. A
// [Conversation] decides when a changed text enters the system prompt, and tells it in a message until then. A
// [Loader] loads skills and schemas of tools by name, and a [ToolUse] decides which tools are. [Folders] tells the
// instructions of a folder when a tool first touches it. [NewReport] says what the tokens of a request are spent on.
//
// A part is a section, a file or a list in the prompt. The reference is OpenClaw, the agent whose rules and numbers
// Winnow began with. The host is the program that imports Winnow.
package prompt
