import { expect, test } from 'bun:test'
import { apiDescription } from './api-description.ts'
import description from './openapi.gen.json' with { type: 'json' }
import { docsPage, homePage } from './site-pages.ts'

const entities: Readonly<Record<string, string>> = { '34': '"', '38': '&', '39': "'", '60': '<', '62': '>' }

/** The commands of a page, as a reader copies them. */
function commandsOf(html: string): string[] {
  return [...html.matchAll(/<pre>([^<]*)<\/pre>/g)].map(([, text = '']) =>
    text.replaceAll(/&#(\d+);/g, (_, code: string) => entities[code] ?? '?'),
  )
}

const place = { origin: 'https://gateway.test:8443', basePath: '/ai' }
const commands = commandsOf(docsPage(description, place))

function commandFor(start: string): string {
  return commands.find((command) => command.startsWith(start)) ?? `nothing begins with ${start}`
}

test('the pages say which address and key their commands need', () => {
  for (const html of [homePage(place), docsPage(description, place)])
    expect(commandsOf(html)[0]).toStartWith(
      'export HEADRACE_URL=https://gateway.test:8443/ai/v1 HEADRACE_API_KEY=',
    )
})

test('settings are asked for with the management key, everything else with the other', () => {
  const patch = commandFor('curl -X PATCH "$HEADRACE_URL/organization/settings"')
  expect(patch).toContain('Bearer $HEADRACE_MANAGEMENT_KEY')
  const managed = commands.filter((command) => command.includes('HEADRACE_MANAGEMENT_KEY'))
  const described = Object.values(apiDescription).filter(({ access }) => access === 'management')
  expect(managed).toHaveLength(described.length)
})

test('a transcription is a form with a file, and speech goes to a file', () => {
  expect(commandFor('curl "$HEADRACE_URL/audio/transcriptions"')).toContain('-F file=@speech.mp3')
  expect(commandFor('curl "$HEADRACE_URL/audio/speech"')).toEndWith('-o speech.mp3')
})

test('a value that the reader fills in is a shell variable, because braces have a meaning for curl', () => {
  expect(commandFor('curl "$HEADRACE_URL/batches/$ID"')).not.toContain('{')
  expect(commandFor('curl "$HEADRACE_URL/generation')).toStartWith('curl "$HEADRACE_URL/generation?id=$ID"')
  for (const command of commands) expect(command.split('\n')[0]).not.toContain('{')
})
