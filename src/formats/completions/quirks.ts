import type { AskedInterface, TextInterface, TextPath } from '../text/text-interface.ts'
import type { OwnQuirks } from '../text/codec.ts'
import { completionsCodec, type CompletionsOptions } from './completions-codec.ts'

/** OpenAI's legacy completions, with a provider's differences as data. Calls of other formats never use it. */
export function openAiCompletions(
  { serves, ...options }: CompletionsOptions = {},
  path: TextPath = '/completions',
): TextInterface {
  const quirks: OwnQuirks = {
    format: 'completions',
    addresses: { image: 'any', file: 'any' },
    codec: completionsCodec({ refuses: [], unknownMembers: 'drop', ...options }),
  }
  const isAsked = (asked: AskedInterface) => asked.format === 'completions' && (serves?.(asked) ?? true)
  return { format: 'completions', path, quirks, serves: isAsked }
}
