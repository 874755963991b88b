// An agent on the SDKs of npm: it sends its whole history each time, with and without streaming. Arguments: the proxy's
// address, the API, the number of turns.
import { createRequire } from 'node:module'
const require = createRequire(process.env.WINNOW_NPM + '/')
const load = async (name) => {
  const m = await import(require.resolve(name))
  return m.default?.default ?? m.default
}
const [address, api, turns] = process.argv.slice(2)
const page = (n) => `line ${n} is well\n`.repeat(200)

async function messages() {
  const Anthropic = await load('@anthropic-ai/sdk')
  const client = new Anthropic({ baseURL: address, apiKey: 'none', maxRetries: 0 })
  const history = []
  const ask = async (content, stream) => {
    history.push({ role: 'user', content })
    const params = { model: 'claude-opus-5', max_tokens: 500, messages: history, tools: [{ name: 'read', input_schema: { type: 'object' } }] }
    const m = stream ? await client.messages.stream(params).finalMessage() : await client.messages.create(params)
    history.push({ role: 'assistant', content: m.content })
    return m
  }
  for (let n = 0; n < turns; n++) {
    const m = await ask(`Read chapter ${n}.`, n % 2 == 0)
    const calls = m.content.filter((b) => b.type == 'tool_use')
    await ask(calls.map((c) => ({ type: 'tool_result', tool_use_id: c.id, content: page(n) })), n % 2 == 0)
  }
}

async function chat() {
  const OpenAI = await load('openai')
  const client = new OpenAI({ baseURL: address + '/v1', apiKey: 'none', maxRetries: 0 })
  const history = []
  const ask = async (stream) => {
    const params = { model: 'gpt-4o', messages: history, tools: [{ type: 'function', function: { name: 'read' } }] }
    const m = stream
      ? (await client.chat.completions.stream(params).finalChatCompletion()).choices[0].message
      : (await client.chat.completions.create(params)).choices[0].message
    history.push(m)
    return m
  }
  for (let n = 0; n < turns; n++) {
    history.push({ role: 'user', content: `Read chapter ${n}.` })
    const m = await ask(n % 2 == 0)
    for (const c of m.tool_calls ?? []) history.push({ role: 'tool', tool_call_id: c.id, content: page(n) })
    await ask(n % 2 == 0)
  }
}

await (api == 'messages' ? messages() : chat())
console.log('done')
