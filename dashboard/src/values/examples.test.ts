import { afterAll, expect, test } from 'bun:test'
import { jsonExamples } from './examples.ts'

const programs: Readonly<Record<string, readonly string[]>> = {
  curl: ['bash', '-c'],
  TypeScript: [process.execPath, '--eval'],
  Python: ['python3', '-c'],
}

/** Three programs start beside everything else that the machine does. */
const startMsMax = 60_000

/** Everything that a quotation mark, a shell or a language could take for its own. */
const body = {
  model: 'openai/gpt-4o-mini',
  stream: true,
  temperature: 0.5,
  stop: null,
  response_format: { type: 'json_schema', json_schema: { strict: false, required: [] } },
  messages: [
    { role: 'system', content: "It's $HOME, `date`, $(id), \\n and ${x}; \"quoted\" 'twice'" },
    { role: 'user', content: 'two\nlines\tand “typographic” quotes, 日本語, 🙂, %s %d !!' },
  ],
}

const received: { authorization: string | null; body: unknown }[] = []
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    received.push({ authorization: request.headers.get('authorization'), body: await request.json() })
    return new Response('data: [DONE]\n\n')
  },
})
afterAll(() => server.stop(true))

const examples = jsonExamples(`http://127.0.0.1:${server.port}/v1`, '/chat/completions', body)

for (const { language, text } of examples) {
  const [program = '', ...options] = programs[language] ?? []
  const needed = language === 'curl' ? [program, 'curl'] : [program]
  const missing = needed.find((name) => Bun.which(name) === null)
  if (missing !== undefined) console.warn(`skipped in ${language}: there is no ${missing}`)
  test.skipIf(missing !== undefined)(
    `the code in ${language} sends what the playground sent, whatever its texts have in them`,
    async () => {
      received.length = 0
      const run = Bun.spawn([program, ...options, text], {
        env: { ...process.env, HEADRACE_API_KEY: 'key-of-the-reader' },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [output, errors, code] = await Promise.all([
        new Response(run.stdout).text(),
        new Response(run.stderr).text(),
        run.exited,
      ])
      expect([code, errors.includes('Error') ? errors : '']).toEqual([0, ''])
      expect(output).toContain('[DONE]')
      expect(received).toEqual([{ authorization: 'Bearer key-of-the-reader', body }])
    },
    startMsMax,
  )
}
