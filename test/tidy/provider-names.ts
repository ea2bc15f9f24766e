import type { Finding, Source, SyntaxNode } from './sources.ts'
import { isTest, listFiles, literalOf, nameOf, walk } from './sources.ts'

/** Code that handles calls of every provider, and must not know providers or their model names. */
const providerless = [
  'src/catalog/',
  'src/access/',
  'src/routing/',
  'src/billing/',
  'src/execution/',
  'src/batches/',
]

/** The provider that the public contract is named after: members and values of callers contain its name. */
const contractName = 'openrouter'

/** The folder of a provider has its slug as its name. */
const slugs = listFiles('src/providers', 'provider.ts')
  .flatMap((file) => /^src\/providers\/([\w-]+)\/provider\.ts$/.exec(file)?.[1] ?? [])
  .filter((slug) => slug !== contractName)

/** Slugs that are also ordinary words, or parts of words: only a text that equals the slug names the provider. */
const words: ReadonlySet<string> = new Set(['custom', 'fireworks', 'sandbox', 'tei', 'together'])

/** Families of models, and makers without a folder. */
const families =
  /gpt|claude|gemini|gemma|llama|llava|mixtral|pixtral|magistral|voxtral|qwen|qwq|grok|kimi|glm|whisper|kokoro|orpheus|dall-?e|davinci|sonar|nemotron|minimax|flux|playai|cartesia/i

/** Names of providers and models in code for every provider. */
export function checkProviderNames(source: Source): Finding[] {
  const { file } = source
  if (!providerless.some((folder) => file.startsWith(folder))) return []
  if (isTest(file) || file.endsWith('.gen.ts')) return []
  return walk(source.program).flatMap(({ node }) => {
    const named = textsOf(node).find((text) => families.test(text) || hasSlug(text))
    if (named === undefined) return []
    return [
      {
        rule: 'provider-name',
        file,
        line: source.lineAt(node.start),
        problem: `\`${named}\` names a provider or its models`,
        remedy:
          'Say it in the folder of the provider, `src/providers/<slug>/`, as a member of its preset, and read that member here.',
      },
    ]
  })
}

/** The text in a node: a string, a regular expression, a piece of a template, or a name. */
function textsOf(node: SyntaxNode): string[] {
  const regex = node['regex'] as { pattern?: string } | undefined
  const piece = node['value'] as { cooked?: string } | undefined
  const template = node.type === 'TemplateElement' ? piece?.cooked : undefined
  return [literalOf(node), nameOf(node), regex?.pattern, template].filter((text) => typeof text === 'string')
}

/** Whether a text contains a provider's slug, in any spelling: `deepSeekPrice` does. */
function hasSlug(text: string): boolean {
  const small = text.toLowerCase()
  return slugs.some((slug) => (words.has(slug) ? small === slug : small.includes(slug)))
}
